"""Labels in closed form (LAST), against their formulas."""

import itertools

import numpy as np
import pytest

import nimt
from nimt.teachers.closed_labels import project_to_simplex

POINTS = np.random.default_rng(5).uniform(-2, 2, size=(12, 2))
TARGET = np.sin(POINTS[:, 0]) - POINTS[:, 1]
UNEVEN = nimt.rbf(0.9) + nimt.linear(0.5)
K = UNEVEN(POINTS)


def test_greedy_points_are_motzkins_method():
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.01)
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(points="greedy"), POINTS, TARGET, max_iterations=20)
    f = np.zeros(12)
    for t in range(20):
        r = f - TARGET
        i = int(np.argmax(abs(r)))
        assert lesson.indices[t].tolist() == [i]
        assert lesson.labels[t, 0] == pytest.approx(f[i] - r[i] / (2 * 0.01 * K[i, i]))
        f = f - r[i] / K[i, i] * K[:, i]
    np.testing.assert_allclose(lesson.final, f, atol=1e-9)
    assert (lesson.access, lesson.method) == ("white box", "LAST-1 (greedy)")


@pytest.mark.parametrize("points", ["greedy", "random", "planned"])
@pytest.mark.parametrize("q", [1, 2])
def test_a_pack_is_put_right_at_once(points, q):
    target = np.column_stack([TARGET, POINTS[:, 0]])[:, :q]
    given = target[:, 0] if q == 1 else target
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.01, initial=0.4)
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(points=points, k=4), POINTS, given, max_iterations=1)
    pack = lesson.indices[0]
    assert len(pack) == 4
    np.testing.assert_allclose(lesson.final[pack], given[pack], atol=1e-9)
    c = np.linalg.solve(K[np.ix_(pack, pack)], 0.4 - given[pack])
    np.testing.assert_allclose(lesson.labels[0], 0.4 - 4 * c / (2 * 0.01), rtol=1e-8)


def test_the_rate_may_change():
    learner = nimt.KernelLearner(UNEVEN, learning_rate=lambda step: 0.05 / (1 + step))
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(points="random"), POINTS, TARGET, max_iterations=6)
    assert lesson.drew
    f = np.zeros(12)
    for t in range(6):
        i = lesson.indices[t, 0]
        f = f - (f[i] - TARGET[i]) / K[i, i] * K[:, i]
    np.testing.assert_allclose(lesson.final, f, atol=1e-9)


def test_labels_are_kept_in_a_range():
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.01)
    teacher = nimt.SynthesisTeacher(points="greedy", label_range="target")
    lesson = nimt.teach(learner, teacher, POINTS, TARGET, max_iterations=40)
    assert (lesson.labels.min(), lesson.labels.max()) == (TARGET.min(), TARGET.max())


def test_a_step_of_cross_entropy_reaches_the_reference_where_a_label_can():
    reference = 0.05 * np.column_stack([TARGET, -TARGET, 0 * TARGET])
    classes = np.eye(3)[np.argmax(reference, axis=1)]
    learner = nimt.KernelLearner(nimt.rbf(0.9), loss="crossentropy", learning_rate=1.0)
    teacher = nimt.SynthesisTeacher(points="greedy", reference=reference)
    lesson = nimt.teach(learner, teacher, POINTS, classes, max_iterations=1)
    i = lesson.indices[0, 0]
    np.testing.assert_allclose(lesson.labels[0, 0], np.full(3, 1 / 3) + reference[i], rtol=1e-9)
    np.testing.assert_allclose(lesson.final[i], reference[i], atol=1e-12)


CLASSES = np.where(TARGET > 0, 1.0, -1.0)


@pytest.mark.parametrize("label_range", [None, "target", (-3.0, 1.5)])
@pytest.mark.parametrize("k", [1, 3])
def test_logistic_steps_are_those_of_a_plain_loop(k, label_range):
    """The share of +1 is s = (1 + y) / 2; free labels reach f* at the points of the pack."""
    rate, f = 0.4, np.zeros(12)
    learner = nimt.KernelLearner(UNEVEN, loss="logistic", learning_rate=rate)
    teacher = nimt.SynthesisTeacher(points="greedy", reference=TARGET, k=k, label_range=label_range)
    lesson = nimt.teach(learner, teacher, POINTS, CLASSES, max_iterations=25)
    low, high = {None: (-np.inf, np.inf), "target": (-1.0, 1.0)}.get(label_range, label_range)
    for t in range(25):
        r = f - TARGET
        pack = sorted(np.argsort(-abs(r), kind="stable")[:k])
        assert sorted(lesson.indices[t].tolist()) == pack
        c = np.linalg.solve(K[np.ix_(pack, pack)], r[pack])
        shares = 1 / (1 + np.exp(-f[pack])) - k / rate * c
        labels = np.clip(2 * shares - 1, low, high)
        np.testing.assert_allclose(lesson.labels[t], labels, rtol=1e-6, atol=1e-9)
        slopes = 1 / (1 + np.exp(-f[pack])) - (1 + labels) / 2
        f = f - rate / k * K[:, pack] @ slopes
        if label_range is None:
            np.testing.assert_allclose(f[pack], TARGET[pack], atol=1e-9)
    np.testing.assert_allclose(lesson.final, f, atol=1e-6)


def test_only_a_teacher_that_makes_labels_may_show_others_than_classes():
    class Half(nimt.teachers.Teacher):
        def select(self, view):
            return nimt.Selection(np.array([0]), np.array([0.0]))

    learner = nimt.KernelLearner(UNEVEN, loss="logistic", learning_rate=0.4)
    with pytest.raises(nimt.InvalidInput, match="takes the labels -1 and \\+1 only"):
        nimt.teach(learner, Half(), POINTS, CLASSES, max_iterations=1)
    with pytest.raises(nimt.InvalidInput, match="takes the labels -1 and \\+1 only"):
        nimt.teach(learner, nimt.SynthesisTeacher(points="greedy"), POINTS, CLASSES / 2, max_iterations=1)


def test_made_labels_have_the_value_and_slope_of_shares():
    loss, f = nimt.losses.Logistic(), np.linspace(-3, 3, 7)
    for y in (-1.0, -0.4, 0.0, 1.0, 5.0):
        share = (1 + y) / 2
        np.testing.assert_allclose(loss.value(f, np.full(7, y)), np.log1p(np.exp(f)) - share * f, rtol=1e-12)
        np.testing.assert_allclose(loss.slope(f, np.full(7, y)), 1 / (1 + np.exp(-f)) - share, rtol=1e-12, atol=1e-15)


def test_the_nearest_probabilities():
    """Against the nearest of a fine lattice of probabilities."""
    lattice = np.array([p for p in itertools.product(np.linspace(0, 1, 51), repeat=3) if abs(sum(p) - 1) < 1e-9])
    for row in np.random.default_rng(0).normal(size=(20, 3)):
        found = project_to_simplex(row[np.newaxis])[0]
        assert found.sum() == pytest.approx(1)
        assert np.linalg.norm(found - row) <= np.linalg.norm(lattice - row, axis=1).min() + 1e-12


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"points": "best"}, "must be None or one of 'greedy', 'random', 'planned'"),
        ({"kernel": UNEVEN}, "kernel= is used with points= only"),
        ({"points": "greedy", "radius": 2.0}, "radius= is of labels by responses"),
        ({"points": "greedy", "loss": "hinge"}, "for the square, the logistic and the cross-entropy loss, not Hinge"),
        ({"points": "greedy", "learning_rate": abs}, "callable"),
    ],
)
def test_bad_options(options, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.SynthesisTeacher(**options)


def test_a_learner_of_another_loss_is_refused():
    learner = nimt.KernelLearner(UNEVEN, loss="huber", learning_rate=0.01)
    with pytest.raises(nimt.InvalidInput, match="the logistic and the cross-entropy loss"):
        nimt.teach(learner, nimt.SynthesisTeacher(points="greedy"), POINTS, TARGET, max_iterations=1)

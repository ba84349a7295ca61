"""Classification: cross-entropy, accuracy, uncertainty, regions, and classifiers of scikit-learn, by plain loops."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier

import nimt
import oracles
from nimt.classes import answers
from nimt.cli.written_results import print_summary
from nimt.plots.animation import draw_frames
from nimt.replay import record_of
from nimt.replay.lesson_recording import describe_lesson
from nimt.reports.comparison_page import comparison_table
from nimt.reports.lesson_page import write_lesson_report
from nimt.reports.summary import summary_of

LOSS = nimt.losses.CrossEntropy()
BY_LOSS = nimt.GreedyTeacher(score="loss", loss="crossentropy")
rows = st.integers(2, 4).flatmap(lambda q: st.lists(st.floats(-30, 30), min_size=q, max_size=q))


def softmax(row):
    largest = max(row)
    parts = [math.exp(value - largest) for value in row]
    return [part / sum(parts) for part in parts]


def loss_of(row, label):
    largest = max(row)
    log_total = largest + math.log(sum(math.exp(value - largest) for value in row))
    return sum(y * (log_total - value) for value, y in zip(row, label, strict=True))


def blobs(q, n=40, seed=0):
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % q
    centres = rng.uniform(-2, 2, size=(q, 2))
    return centres[classes] + 0.5 * rng.normal(size=(n, 2)), classes


def plain_lesson(points, labels, width, rate, steps, choose):
    """Teach by cross-entropy with loops over numbers; `choose(f)` says which point is shown."""
    kernel = oracles.gauss(width)
    n, q = len(points), len(labels[0])
    f = [[0.0] * q for _ in range(n)]
    shown = []
    for _ in range(steps):
        i = choose(f)
        p = softmax(f[i])
        for j in range(n):
            for c in range(q):
                f[j][c] -= rate * (p[c] - labels[i][c]) * kernel(points[i], points[j])
        shown.append(i)
    return shown, f


# ---------------------------------------------------------------- the loss


@pytest.mark.long
@given(row=rows, at=st.integers(0, 3))
def test_value_and_slope_are_the_formulas(row, at):
    label = [1.0 if c == at % len(row) else 0.0 for c in range(len(row))]
    f, y = np.array([row]), np.array([label])
    assert LOSS.value(f, y).sum() == pytest.approx(loss_of(row, label), rel=1e-12, abs=1e-12)
    expected = [p - t for p, t in zip(softmax(row), label, strict=True)]
    np.testing.assert_allclose(LOSS.slope(f, y)[0], expected, rtol=1e-12, atol=1e-15)


@given(row=rows, other=rows)
def test_the_smoothness_is_one_half(row, other):
    q = min(len(row), len(other))
    f, g = np.array([row[:q]]), np.array([other[:q]])
    y = np.eye(q)[:1]
    gap = np.linalg.norm(LOSS.slope(f, y) - LOSS.slope(g, y))
    assert gap <= 0.5 * np.linalg.norm(f - g) * (1 + 1e-9) + 1e-12


def test_the_smoothness_is_attained():
    step = 1e-5
    at, by = np.zeros((1, 2)), np.array([[step, -step]]) / math.sqrt(2)
    y = np.array([[1.0, 0.0]])
    assert np.linalg.norm(LOSS.slope(at + by, y) - LOSS.slope(at, y)) == pytest.approx(0.5 * step, rel=1e-6)


def test_extreme_logits_neither_warn_nor_overflow():
    f = np.array([[1e4, -1e4], [-800.0, 800.0]])
    y = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert LOSS.value(f, y).sum(axis=1).tolist() == [2e4, 0.0]
    assert np.isfinite(LOSS.slope(f, y)).all()


@pytest.mark.long
@pytest.mark.parametrize("q", [2, 3])
def test_a_greedy_lesson_by_a_plain_loop(q):
    points, classes = blobs(q)
    labels = nimt.classes.one_hot(classes)

    def worst(f):
        losses = [loss_of(row, label) for row, label in zip(f, labels.tolist(), strict=True)]
        return losses.index(max(losses))

    shown, f = plain_lesson(points.tolist(), labels.tolist(), 0.8, 1.5, 60, worst)
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss="crossentropy", learning_rate=1.5)
    lesson = nimt.teach(learner, BY_LOSS, points, labels, max_iterations=60, tol=None, measure="accuracy")
    assert lesson.indices[:, 0].tolist() == shown
    np.testing.assert_allclose(lesson.final, f, rtol=1e-9, atol=1e-12)
    right = sum(row.index(max(row)) == c for row, c in zip(f, classes.tolist(), strict=True))
    assert lesson.discrepancy[-1] == right / len(points)


@pytest.mark.long
@pytest.mark.parametrize("q", [2, 3])
def test_an_uncertain_lesson_by_a_plain_loop(q):
    points, classes = blobs(q, seed=3)
    labels = nimt.classes.one_hot(classes)

    def least_sure(f):
        margins = [sorted(row)[-1] - sorted(row)[-2] for row in f]
        return margins.index(min(margins))

    shown, f = plain_lesson(points.tolist(), labels.tolist(), 0.8, 1.5, 40, least_sure)
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss=nimt.losses.CrossEntropy(), learning_rate=1.5)
    lesson = nimt.teach(learner, nimt.teachers.UncertaintyTeacher(), points, labels, max_iterations=40, tol=None)
    assert lesson.indices[:, 0].tolist() == shown
    np.testing.assert_allclose(lesson.final, f, rtol=1e-9, atol=1e-12)


def test_uncertainty_never_looks_at_the_labels():
    points, classes = blobs(3)
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.2)
    right, wrong = nimt.classes.one_hot(classes), nimt.classes.one_hot((classes + 1) % 3)
    lessons = [
        nimt.teach(
            learner, nimt.teachers.UncertaintyTeacher(k=4), points, y, max_iterations=1, tol=None, engine="reference"
        )
        for y in (right, wrong)
    ]
    np.testing.assert_array_equal(lessons[0].indices, lessons[1].indices)


def test_gradient_and_packs_and_soft_labels(tmp_path):
    points, classes = blobs(3)
    soft = 0.9 * nimt.classes.one_hot(classes) + 0.1 / 3
    teacher = nimt.GreedyTeacher(k=4, score="gradient", loss="crossentropy", kernel=nimt.rbf(0.8))
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss="crossentropy", learning_rate="auto")
    lesson = nimt.teach(learner, teacher, points, soft, max_iterations=20, tol=None, checkpoint=tmp_path / "checkpoint")
    more = nimt.resume(tmp_path / "checkpoint", max_iterations=40)
    whole = nimt.teach(learner, teacher, points, soft, max_iterations=40, tol=None)
    np.testing.assert_array_equal(more.final, whole.final)
    whole.save(tmp_path / "lesson.npz")
    kept = nimt.Lesson.load(tmp_path / "lesson.npz")
    np.testing.assert_array_equal(kept.learner.predict(points), whole.learner.predict(points))
    assert len(lesson) == 20 and kept.learner.loss == "crossentropy"


# ---------------------------------------------------------------- classes as columns


def test_one_hot_by_a_plain_loop():
    labels = ["b", "a", "c", "a"]
    expected = [[1.0 if label == name else 0.0 for name in "abc"] for label in labels]
    assert nimt.classes.one_hot(labels).tolist() == expected
    assert nimt.classes.one_hot([2, 5], classes=[5, 2, 9]).tolist() == [[0, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("labels", "classes", "said"),
    [
        ([3, 3, 3], None, r"one class only, \[3\]"),
        ([0.0, np.nan], None, "NaN at index 1"),
        ([[0, 1]], None, "one class per point"),
        ([], None, "one class per point"),
        ([0, 1, 7], [0, 1], "the label 7 at index 2"),
        ([0, 1], [0, 0], "different classes"),
    ],
)
def test_labels_that_are_no_classes(labels, classes, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.classes.one_hot(labels, classes)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ([[0.5, 0.6], [1.0, 0.0]], r"got \[0.5, 0.6\] at index 0"),
        ([[1.0, 0.0], [1.5, -0.5]], "at index 1"),
        ([0.0, 1.0], r"got shape \(2,\)"),
        ([[1.0], [1.0]], r"got shape \(2,\)"),
        ([[np.nan, 1.0], [1.0, 0.0]], "every value must be finite"),
    ],
)
def test_labels_outside_the_domain_of_the_loss(target, said):
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="crossentropy")
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.teach(learner, BY_LOSS, [0.0, 1.0], target, max_iterations=1, tol=None)


def test_labels_shown_by_hand_are_checked_too():
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="crossentropy")
    with pytest.raises(nimt.InvalidInput, match="probabilities"):
        learner.partial_fit([[0.0]], [[0.3, 0.3]])


def test_outputs_that_differ_between_target_and_start():
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="crossentropy", initial=np.zeros((4, 2)))
    with pytest.raises(nimt.InvalidInput, match="initial has 2 outputs where 3 are needed"):
        nimt.teach(learner, BY_LOSS, np.arange(4.0), nimt.classes.one_hot([0, 1, 2, 0]), max_iterations=1, tol=None)


# ---------------------------------------------------------------- accuracy


def test_answers_by_plain_loops():
    rng = np.random.default_rng(0)
    target = np.array([-1.0, 1.0, 3.0, 1.0])
    values = rng.normal(scale=2, size=200)
    for value, place in zip(values, answers(values, target), strict=True):
        distances = [abs(value - c) for c in (-1.0, 1.0, 3.0)]
        assert place == distances.index(min(distances))
    logits = rng.normal(size=(50, 4))
    for row, place in zip(logits.tolist(), answers(logits, np.eye(4)), strict=True):
        assert place == row.index(max(row))


def test_signs_are_the_answers_for_two_labels():
    x = np.linspace(-1, 1, 20)
    learner = nimt.KernelLearner(nimt.rbf(0.3), loss="hinge", learning_rate=0.1, initial=0.2)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), x, np.sign(x), max_iterations=300, measure="accuracy", tol=0.95)
    assert lesson.discrepancy[0] == 0.5
    last = lesson.final
    assert lesson.discrepancy[-1] == sum((f > 0) == (t > 0) for f, t in zip(last, x, strict=True)) / 20 >= 0.95


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ([0.5, 1.0], "the target is 0.5 at index 0"),
        ([2.0, 2.0], "at least two classes"),
        ([[0.2, 0.2]] * 2, "accuracy"),
    ],
)
def test_an_accuracy_needs_classes(target, said):
    with pytest.raises(nimt.InvalidInput, match=said):
        nimt.teach(
            nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 1.0], target, max_iterations=1, tol=None,
            measure="accuracy",
        )  # fmt: skip


@pytest.mark.long
def test_an_accuracy_is_called_by_its_name_and_written_in_per_cent(tmp_path, capsys):
    points, classes = blobs(3)
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss="crossentropy", learning_rate="auto")
    options = {"measure": "accuracy", "max_iterations": 60, "tol": None}
    lesson = nimt.teach(learner, BY_LOSS, points, nimt.classes.one_hot(classes), patience=3, **options)
    assert lesson.outcome is nimt.lesson.Outcome.STALLED and "discrepancy" not in str(lesson.outcome)
    assert "; accuracy 0." in repr(lesson) and "discrepancy" not in repr(lesson)
    comparison = nimt.compare(
        learner, [BY_LOSS, nimt.teachers.UncertaintyTeacher()], points, nimt.classes.one_hot(classes), **options
    )
    assert "accuracy" in str(comparison) and "discrepancy" not in str(comparison)
    assert "accuracy at end" in comparison_table(comparison)[0]
    assert summary_of(lesson)["measure_word"] == "accuracy"
    write_lesson_report(lesson, tmp_path)
    page = (tmp_path / "report.html").read_text()
    first, last = f"{lesson.discrepancy[0]:.1%}", f"{lesson.discrepancy[-1]:.1%}"
    assert f"<b>{last}</b><span>accuracy at the end</span>" in page and f"<b>{first}</b><span>accuracy at the" in page
    assert f"accuracy = {first}" in [ax.get_title(loc="right") for ax in nimt.plots.panels(lesson).axes]
    assert "%" in comparison_table(comparison)[1][0][3] and describe_lesson(lesson, "")["in_per_cent"] is True
    print_summary(summary_of(lesson))
    told = capsys.readouterr().out
    assert first in told and last in told
    assert "accuracy at the end" in page and "The discrepancy" not in page and "M at the" not in page
    assert nimt.plots.curve(lesson).axes[0].get_yscale() == "linear"


# ---------------------------------------------------------------- classifiers of scikit-learn


@pytest.mark.long
@pytest.mark.parametrize("model", [SGDClassifier(loss="log_loss", random_state=0), GaussianNB(),
                                   MLPClassifier((8,), random_state=0)])  # fmt: skip
def test_a_classifier_is_seen_by_its_log_probabilities(model):
    points, classes = blobs(3)
    lesson = nimt.teach(model, nimt.RandomTeacher(k=8), points, nimt.classes.one_hot(classes),
                        max_iterations=5, tol=None, measure="accuracy")  # fmt: skip
    assert not lesson.initial.any()  # not fitted: every class is as likely
    np.testing.assert_allclose(np.exp(lesson.final), lesson.learner.predict_proba(points), atol=1e-12)
    assert set(lesson.learner.predict(points)) <= {0, 1, 2}
    assert lesson.discrepancy[-1] == np.mean(lesson.learner.predict(points) == classes)


@pytest.mark.parametrize("q", [2, 3])
def test_a_classifier_without_probabilities_is_seen_by_its_decisions(q):
    points, classes = blobs(q)
    model = SGDClassifier(loss="hinge", random_state=0).partial_fit(points, classes + 5, classes=np.arange(q) + 5)
    lesson = nimt.teach(model, nimt.teachers.UncertaintyTeacher(k=4), points, nimt.classes.one_hot(classes),
                        max_iterations=5, tol=None, measure="accuracy")  # fmt: skip
    decided = lesson.learner.decision_function(points)
    if q == 2:
        np.testing.assert_allclose(lesson.final[:, 1] - lesson.final[:, 0], decided, atol=1e-12)
    else:
        np.testing.assert_allclose(lesson.final, decided)
    assert set(lesson.learner.classes_) == set(range(5, 5 + q))
    assert lesson.discrepancy[-1] == np.mean(lesson.learner.predict(points) == classes + 5)


def test_a_classifier_with_other_classes_is_refused():
    points, classes = blobs(3)
    model = GaussianNB().fit(points, classes % 2)
    with pytest.raises(nimt.InvalidInput, match="knows 2 classes and the target has 3 columns"):
        nimt.teach(model, nimt.RandomTeacher(), points, nimt.classes.one_hot(classes), max_iterations=1, tol=None)


# ---------------------------------------------------------------- a teacher that is misled


def wrong_at(classes, places, q=3):
    given = classes.copy()
    given[places] = (given[places] + 1) % q
    return given


@pytest.mark.parametrize("form", ["numbers", "one-hot", "model"])
def test_a_greedy_teacher_warns_of_labels_that_disagree_with_its_reference(form, tmp_path):
    points, classes = blobs(3)
    reference = {"numbers": classes, "one-hot": nimt.classes.one_hot(classes), "model": KnowsAll(points, classes)}[form]
    target = nimt.classes.one_hot(wrong_at(classes, [3, 8]))
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss="crossentropy", learning_rate="auto")
    teacher = nimt.GreedyTeacher(score="loss", loss="crossentropy", reference=reference)
    options = {"max_iterations": 3, "tol": None, "checkpoint": tmp_path / "checkpoint"}
    with pytest.warns(nimt.errors.TeacherWarning, match="at 2 of 40 points the label disagrees with the reference"):
        nimt.teach(learner, teacher, points, target, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nimt.resume(tmp_path / "checkpoint", max_iterations=5)  # the reference is stored as values
        nimt.teach(learner, teacher, points, nimt.classes.one_hot(classes), max_iterations=1, tol=None)
        allowed = np.delete(np.arange(40), [3, 8])  # what it may not show cannot mislead it
        limited = nimt.GreedyTeacher(score="loss", loss="crossentropy", reference=reference, pool=allowed)
        nimt.teach(learner, limited, points, target, max_iterations=1, tol=None)


class KnowsAll:
    """A classifier that answers by class names of its own."""

    classes_ = np.array([10, 20, 30])

    def __init__(self, points, classes):
        self.answers = {tuple(point): self.classes_[place] for point, place in zip(points, classes, strict=True)}

    def predict(self, X):
        return np.array([self.answers[tuple(point)] for point in X])


def test_references_that_cannot_be_compared():
    points, classes = blobs(3)
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.1)
    with pytest.raises(nimt.InvalidInput, match=r"a function of x, a fitted estimator .*, got 0\.5"):
        nimt.GreedyTeacher(reference=0.5)
    halves = np.full(40, 0.5)
    with pytest.raises(nimt.InvalidInput, match="compared with labels that are classes"):
        nimt.teach(learner, nimt.GreedyTeacher(reference=halves), points, points[:, 0], max_iterations=1, tol=None)
    for reference in (np.full(40, 7), np.zeros((40, 2))):
        with pytest.raises(nimt.InvalidInput, match="give the reference as classes"):
            nimt.teach(
                learner,
                nimt.GreedyTeacher(reference=reference),
                points,
                nimt.classes.one_hot(classes),
                max_iterations=1,
                tol=None,
            )
    signs = np.sign(points[:, 0])
    with pytest.warns(nimt.errors.TeacherWarning, match="at 40 of 40"):
        nimt.teach(learner, nimt.GreedyTeacher(reference=-signs), points, signs, max_iterations=1, tol=None)


@pytest.mark.parametrize("loss", ["crossentropy", "logistic"])
def test_a_greedy_teacher_by_residual_is_told_that_logits_are_no_labels(loss):
    points, classes = blobs(3)
    labels = nimt.classes.one_hot(classes) if loss == "crossentropy" else np.where(classes == 0, 1.0, -1.0)
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss=loss, learning_rate="auto")
    with pytest.warns(nimt.errors.TeacherWarning, match=f"score='loss', loss='{loss}'"):
        nimt.teach(learner, nimt.GreedyTeacher(), points, labels, max_iterations=1, tol=None)


# ---------------------------------------------------------------- regions


@pytest.mark.long
@pytest.mark.parametrize("q", [2, 3])
def test_regions_are_what_the_learner_names(q, tmp_path):
    points, classes = blobs(q)
    learner = nimt.KernelLearner(nimt.rbf(0.8), loss="crossentropy", learning_rate="auto")
    rules = {"max_iterations": 40, "tol": None, "snapshots": [20], "engine": "reference"}
    lesson = nimt.teach(learner, BY_LOSS, points, nimt.classes.one_hot(classes), **rules)
    table = nimt.plots.region_table(lesson, cells=12)
    for row in range(12):
        for column in range(12):
            said = lesson.learner.predict([[table.x[column], table.y[row]]])[0].tolist()
            assert table.named[row, column] == said.index(max(said))
    assert table.count == q and table.shown.tolist() == sorted(set(lesson.indices.ravel().tolist()))
    nimt.plots.regions(lesson, cells=30).savefig(tmp_path / "regions.png")
    assert record_of(lesson).header["view"] == "classes"
    assert len(list(draw_frames(lesson))) == 3


@pytest.mark.long
def test_regions_of_signs_and_of_a_classifier(tmp_path):
    points, classes = blobs(2)
    signs = nimt.teach(nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.2), nimt.GreedyTeacher(), points,
                       2.0 * classes - 1, max_iterations=40, tol=None)  # fmt: skip
    table = nimt.plots.region_table(signs, cells=10)
    mesh = np.stack([part.ravel() for part in np.meshgrid(table.x, table.y)], axis=1)
    np.testing.assert_array_equal(table.named.ravel(), (signs.learner.predict(mesh) > 0).astype(int))
    model = nimt.teach(
        GaussianNB(), nimt.RandomTeacher(k=10), points, nimt.classes.one_hot(classes), max_iterations=3, tol=None
    )
    table = nimt.plots.region_table(model, cells=10)
    mesh = np.stack([part.ravel() for part in np.meshgrid(table.x, table.y)], axis=1)
    np.testing.assert_array_equal(table.named.ravel(), model.learner.predict(mesh))


def test_regions_that_cannot_be_drawn():
    learner = nimt.KernelLearner(nimt.rbf(0.8), learning_rate=0.2)
    line = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 1.0], [0.0, 1.0], max_iterations=1, tol=None)
    with pytest.raises(nimt.InvalidInput, match="drawn on a plane, and the points have 1"):
        nimt.plots.regions(line)
    points, _ = blobs(2)
    values = nimt.teach(learner, nimt.GreedyTeacher(), points, points[:, 0], max_iterations=1, tol=None)
    with pytest.raises(nimt.InvalidInput, match="needs classes"):
        nimt.plots.regions(values)


def overlapping_classes(n=400, noise=0.2):
    """Two half circles that reach into each other, with noise, so that some points lie among the other class."""
    rng = np.random.default_rng(0)
    angles, second = np.pi * rng.uniform(size=n), np.arange(n) % 2 == 1
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    points[second] = np.array([1.0, 0.5]) - points[second]
    return points + noise * rng.normal(size=points.shape), np.where(second, 1.0, -1.0)


@pytest.mark.parametrize("measure", ["accuracy", "rms"])
@pytest.mark.parametrize("held", [False, True])
def test_a_greedy_lesson_that_learns_no_classes_warns_with_a_way_out(measure, held):
    points, labels = overlapping_classes()
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    options = {"measure": measure, "max_iterations": 600, "tol": None}
    if held:
        options["holdout"] = (points[:100], labels[:100])
        points, labels = points[100:], labels[100:]
    where = "the rows held out" if held else "the rows of the pool"
    with pytest.warns(
        nimt.errors.TeacherWarning, match=rf"right on \S+ of {where}.* nimt.teachers.UncertaintyTeacher\(\)"
    ) as found:
        lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, labels, **options)
    assert found[0].filename == __file__
    assert np.mean(np.sign(lesson.final) == labels) < 0.65
    for way_out in (
        nimt.teachers.UncertaintyTeacher(),
        nimt.RandomTeacher(),
    ):  # no warning, which would be an error here
        other = nimt.teach(learner, way_out, points, labels, **options)
        assert np.mean(np.sign(other.final) == labels) > 0.9


def test_a_notebook_calls_an_accuracy_by_its_name():
    points, labels = overlapping_classes(60, noise=0.0)
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, labels, measure="accuracy", max_iterations=60, tol=None)
    comparison = nimt.compare(learner, {"greedy": nimt.GreedyTeacher()}, points, labels, measure="accuracy",
                              max_iterations=20, tol=None)  # fmt: skip
    for shown in (repr(lesson), lesson._repr_html_(), repr(comparison), comparison._repr_html_()):
        assert "discrepancy" not in shown
    assert "accuracy" in repr(lesson)

"""Teachers that weigh examples, against their formulas."""

import numpy as np
import pytest

import nimt
from nimt.teachers import View
from nimt.teachers.weighing import ImportanceTeacher, RescalingTeacher

POINTS = np.random.default_rng(5).uniform(-2, 2, size=(12, 2))
TARGET = np.sin(POINTS[:, 0]) - POINTS[:, 1]
UNEVEN = nimt.rbf(0.9) + nimt.linear(0.5)  # K(x, x) is not constant


def test_a_free_weight_puts_the_example_right():
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.02)
    lesson = nimt.teach(learner, RescalingTeacher(), POINTS, TARGET, max_iterations=15)
    K, f = UNEVEN(POINTS), np.zeros(12)
    for t in range(15):
        r = f - TARGET
        i = max(range(12), key=lambda i: (abs(r[i]) / np.sqrt(K[i, i]), -i))
        assert lesson.indices[t].tolist() == [i]
        assert lesson.weights[t, 0] == pytest.approx(1 / (2 * 0.02 * K[i, i]))
        f = f - r[i] / K[i, i] * K[:, i]
    np.testing.assert_allclose(lesson.final, f, atol=1e-10)


def test_a_limited_weight_gains_most_of_all_steps_that_it_allows():
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.02, loss="huber")
    lesson = nimt.teach(learner, RescalingTeacher(largest_weight=3.0), POINTS, TARGET, max_iterations=15)
    K, f = UNEVEN(POINTS), np.zeros(12)
    for t in range(15):
        g, r = 2 * np.clip(f - TARGET, -1, 1), f - TARGET
        tried = [
            (max(2 * 0.02 * w * g[i] * r[i] - (0.02 * w * g[i]) ** 2 * K[i, i] for w in np.linspace(0, 3, 301)), -i)
            for i in range(12)
        ]
        i = -max(tried)[1]
        assert lesson.indices[t].tolist() == [i]
        f = f - 0.02 * lesson.weights[t, 0] * g[i] * K[:, i]
    assert lesson.weights.max() == 3.0
    np.testing.assert_allclose(lesson.final, f, atol=1e-10)


def test_a_learner_with_sample_weight_gets_the_weights_and_another_is_refused():
    class Counting:
        def __init__(self):
            self.total = 0.0

        def predict(self, X):
            return np.full(len(X), self.total)

        def partial_fit(self, X, y, sample_weight=None):
            self.total += float(np.sum(sample_weight))

    class Without(Counting):
        def partial_fit(self, X, y):
            self.total += 1.0

    lesson = nimt.teach(Counting(), ImportanceTeacher(k=4), POINTS, TARGET, max_iterations=5, tol=None)
    np.testing.assert_allclose(lesson.final, np.sum(lesson.weights), rtol=1e-12)
    with pytest.raises(nimt.InvalidInput, match="weights, which Without cannot take"):
        nimt.teach(Without(), ImportanceTeacher(k=4), POINTS, TARGET, max_iterations=5, tol=None)


@pytest.mark.parametrize("q", [1, 2])
def test_the_weights_of_a_pack_bring_f_nearest_together(q):
    target = np.column_stack([TARGET, np.cos(POINTS[:, 1])])[:, :q]
    given = target[:, 0] if q == 1 else target
    learner = nimt.KernelLearner(UNEVEN, learning_rate=0.02, initial=0.3)
    lesson = nimt.teach(learner, RescalingTeacher(k=3), POINTS, given, max_iterations=1)
    K, r = UNEVEN(POINTS), 0.3 - target
    pack = lesson.indices[0]

    def distance(weights):  # |f - f*|^2 in H, but for a constant: r' K^-1 r over the change alone
        c = 0.02 / 3 * weights[:, None] * 2 * r[pack]
        return np.einsum("io,ij,jo->", c, K[np.ix_(pack, pack)], c) - 2 * np.sum(c * r[pack])

    best = distance(lesson.weights[0])
    rng = np.random.default_rng(0)
    assert all(distance(lesson.weights[0] * (1 + 0.05 * rng.normal(size=3))) >= best for _ in range(200))


def test_importance_sampling_is_not_biased():
    """The mean over all possible draws of the weighted step is the step of the whole pool, exactly."""
    predictions = np.random.default_rng(1).normal(size=12)
    teacher = ImportanceTeacher()
    shares = teacher.shares(np.abs(predictions - TARGET))
    assert shares.sum() == pytest.approx(1)
    assert len(np.unique(shares)) == 12
    K, g = UNEVEN(POINTS), 2 * (predictions - TARGET)
    whole = K @ g / 12
    mean = sum(shares[i] * (1 / (12 * shares[i])) * g[i] * K[:, i] for i in range(12))
    np.testing.assert_allclose(mean, whole, rtol=1e-12)
    view = View(0, nimt.Points(POINTS), predictions, TARGET, np.random.default_rng(2), None, np.arange(12))
    drawn = [teacher.select(view) for _ in range(40_000)]
    counts = np.bincount([one.indices[0] for one in drawn], minlength=12) / len(drawn)
    np.testing.assert_allclose(counts, shares, atol=5 * np.sqrt(shares.max() / len(drawn)))  # five deviations
    for one in drawn[:50]:
        assert one.weights[0] == pytest.approx(1 / (12 * shares[one.indices[0]]))


def test_weights_are_bounded_by_the_floor():
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.1)
    lesson = nimt.teach(learner, ImportanceTeacher(k=4, floor=0.2), POINTS, TARGET, max_iterations=60)
    assert 1 < lesson.weights.max() <= 5


def test_where_nothing_is_wrong_all_points_are_equal():
    assert ImportanceTeacher().shares(np.zeros(4)).tolist() == [0.25] * 4
    assert ImportanceTeacher().shares(np.array([np.nan, 1.0])).tolist() == [0.5] * 2


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ImportanceTeacher(floor=0), "floor must be a number above 0"),
        (lambda: RescalingTeacher(largest_weight=-1), "largest_weight"),
        (lambda: RescalingTeacher(learning_rate=abs), "callable"),
    ],
)
def test_bad_options(make, sentence):
    with pytest.raises(nimt.InvalidInput, match=sentence):
        make()

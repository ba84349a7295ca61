"""Anything with predict and partial_fit can be taught."""

import numpy as np
import pytest
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.neural_network import MLPRegressor

import nimt
from nimt.learners.expansion import add_center, merge_centers
from nimt.learners.kernel_pupils import KernelPupil
from problems import scattered, small_lesson

ESTIMATORS = {
    "SGDRegressor": lambda: SGDRegressor(random_state=0, eta0=0.05, learning_rate="constant"),
    "MLPRegressor": lambda: MLPRegressor(hidden_layer_sizes=(20,), random_state=0, learning_rate_init=0.01),
}
each = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)


def wave(x):
    return 2 + x[:, 0] - 0.5 * x[:, 1]


@pytest.mark.long
@each
@pytest.mark.parametrize("teacher", [nimt.GreedyTeacher(), nimt.RandomTeacher(k=0.5)], ids=["greedy", "random"])
def test_estimators_of_scikit_learn_get_better(make, teacher):
    points, _, _ = scattered(40)
    lesson = nimt.teach(make(), teacher, points, wave, max_iterations=300, tol=None)
    assert lesson.discrepancy[-1] < 0.5 * lesson.discrepancy[0]
    np.testing.assert_array_equal(lesson.final, lesson.learner.predict(points))


@pytest.mark.long
@each
def test_an_unfitted_estimator_predicts_zero_and_stays_unfitted(make):
    points, _, _ = scattered()
    mine = make()
    before = dict(vars(mine))
    lesson = nimt.teach(mine, nimt.GreedyTeacher(), points, wave, max_iterations=3, tol=None)
    np.testing.assert_array_equal(lesson.initial, np.zeros(12))
    assert lesson.discrepancy[0] == pytest.approx(np.linalg.norm(wave(points)) / 12, rel=1e-14)
    assert vars(mine) == before


def test_a_fitted_estimator_starts_from_what_it_knows():
    points, target, _ = scattered()
    mine = SGDRegressor(random_state=0).fit(points, target)
    weights = mine.coef_.copy()
    lesson = nimt.teach(mine, nimt.GreedyTeacher(), points, wave, max_iterations=3, tol=None)
    np.testing.assert_array_equal(lesson.initial, mine.predict(points))
    np.testing.assert_array_equal(mine.coef_, weights)
    assert (lesson.learner.coef_ != weights).any()


@pytest.mark.long
@pytest.mark.parametrize(
    "classifier", [SGDClassifier(random_state=0), Perceptron(random_state=0)], ids=["SGDClassifier", "Perceptron"]
)
def test_a_classifier_is_told_all_classes_at_first(classifier):
    points, _, _ = scattered(30)
    classes = np.where(points[:, 0] > 0.3, 1.0, np.where(points[:, 1] > 0, 2.0, 3.0))
    teacher = nimt.RandomTeacher(k=3, labels=nimt.teachers.AlternativeLabels(np.full(30, 9.0), probability=0.1))
    lesson = nimt.teach(classifier, teacher, points, classes, max_iterations=60, tol=None)
    assert set(lesson.learner.classes_) == {1.0, 2.0, 3.0, 9.0}


class Averaging:
    """The plainest learner there is: it says the mean of what it heard."""

    def __init__(self):
        self.heard = []

    def predict(self, X):
        return np.full((len(X), 1), np.mean(self.heard) if self.heard else 0.0)

    def partial_fit(self, X, y):
        self.heard.extend(y)


def test_a_learner_need_not_be_an_estimator():
    lesson = small_lesson(nimt.RandomTeacher(), Averaging())
    assert lesson.learner.heard == list(lesson.labels[:, 0])
    np.testing.assert_allclose(lesson.final, np.mean(lesson.labels))


class Stubborn(nimt.KernelLearner):
    """A learner of ours that hears half of what is said."""

    def partial_fit(self, X, y):
        return super().partial_fit(X, 0.5 * np.asarray(y))


class Cautious(nimt.LinearLearner):
    """A learner of ours that says half of what it knows."""

    def predict(self, X):
        return 0.5 * super().predict(X)


@pytest.mark.parametrize(
    "learner", [Stubborn(nimt.rbf(0.7), learning_rate=0.2), Cautious([0.1, 0.2, 0.3])], ids=["Stubborn", "Cautious"]
)
def test_a_subclass_is_taught_by_its_own_methods(learner):
    points, target, _ = scattered()
    lesson = small_lesson(learner=learner, max_iterations=1)
    i = np.argmax(np.abs(learner.predict(points) - target))
    assert lesson.indices[0, 0] == i
    learner.partial_fit(points[[i]], target[[i]])
    np.testing.assert_allclose(lesson.final, learner.predict(points), rtol=1e-13)


class Pruned(nimt.KernelLearner):
    """A subclass that changes all it has: what it learned fades, its latest center moves, and its kernel widens."""

    def partial_fit(self, X, y, sample_weight=None):
        if len(getattr(self, "coefficients_", ())):
            self.coefficients_ *= 0.999
        if self.steps_ == 4:
            self.centers_[-1] += 0.25
        if self.steps_ == 7:
            self.kernel = nimt.rbf(1.1)
        if self.steps_ == 9:
            self.centers_, self.coefficients_ = self.centers_[1:], self.coefficients_[1:]
        return super().partial_fit(X, y, sample_weight)


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_kept_columns_of_a_subclass_follow_whatever_it_changes(outputs):
    points, _, _ = scattered()
    target = np.random.default_rng(1).normal(size=(12, *outputs))
    learner = Pruned(nimt.rbf(0.7), learning_rate=0.3)
    session = nimt.steps(learner, nimt.GreedyTeacher(k=2), points, target, max_iterations=14, tol=None)
    for step in range(14):
        session.advance(1)
        now = session.engine.pupil
        np.testing.assert_array_equal(now.values, now.to_learner().predict(points), err_msg=f"step {step}")
    assert not learner.has_centers()  # the lesson left it as it was


@pytest.mark.parametrize("outputs", [(), (3,)])
def test_a_center_is_added_as_it_would_be_merged(outputs):
    rng = np.random.default_rng(0)
    centers, known = np.zeros((0, 2)), np.zeros((0, *outputs))
    for _ in range(40):
        center, coefficient = rng.integers(-1, 2, (1, 2)) * rng.choice([-1.0, 1.0]), rng.normal(size=(1, *outputs))
        merged = merge_centers(np.concatenate([centers, center]), np.concatenate([known, coefficient]))
        before = known.copy()
        added = add_center(centers, known, center, coefficient)
        for one, other in zip(added, merged, strict=True):
            np.testing.assert_array_equal(one, other)
            assert not np.signbit(one[one == 0]).any()
        np.testing.assert_array_equal(known, before)
        centers, known = added


class Wide(Averaging):
    def predict(self, X):
        return np.zeros((len(X), 2))


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [
        (Wide(), r"Wide.predict returned shape \(12, 2\) for 12 points: it must return \(12,\) or \(12, 1\)"),
        (object(), r"needs predict\(X\) and partial_fit\(X, y\)"),
        (SGDRegressor, "as methods of an object"),
        (None, "got None"),
    ],
)
def test_what_cannot_be_taught_is_told_why(learner, sentence):
    points, target, _ = scattered()
    with pytest.raises(nimt.InvalidInput, match=sentence):
        nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=1, tol=None)


class Closed:
    """A learner without state() and parameters."""

    def predict(self, X):
        return np.zeros(len(X))

    def partial_fit(self, X, y):
        pass


def test_what_needs_an_open_learner_is_refused_for_a_closed_one(tmp_path):
    with pytest.raises(nimt.InvalidInput, match=r"stop_when_stationary needs the learner's loss.*use patience"):
        small_lesson(learner=SGDRegressor(), stop_when_stationary=0.1)
    with pytest.raises(nimt.InvalidInput, match="measure='rkhs' needs a learner that lives in a kernel's space"):
        small_lesson(learner=SGDRegressor(), measure="rkhs")
    with pytest.raises(
        nimt.errors.CannotStore, match=r"Closed cannot be written .* without pickle.*leave checkpoint= out"
    ):
        small_lesson(learner=Closed(), checkpoint=tmp_path / "checkpoint")


def test_a_pupil_with_a_learn_of_its_own_is_asked_to_learn():
    """The loop hands over the slopes that it knows only to a pupil that learns by them."""
    asked = []

    class Counting(KernelPupil):
        def learn(self, indices, labels):
            asked.append(indices.tolist())
            super().learn(indices, labels)

    class Counted(nimt.KernelLearner):
        def make_pupil(self, pool, outputs=()):
            return Counting(self, pool, outputs)

    points, target, _ = scattered(12)
    learners = (kind(nimt.rbf(0.5), learning_rate=0.1) for kind in (Counted, nimt.KernelLearner))
    counted, plain = (
        nimt.teach(learner, nimt.GreedyTeacher(k=2), points, target, max_iterations=8, tol=None, engine="reference")
        for learner in learners
    )
    assert asked == counted.indices.tolist()
    np.testing.assert_array_equal(counted.final, plain.final)


@pytest.mark.parametrize("k", [1, 3])
def test_a_loss_of_ones_own_is_asked_for_its_slope_once_per_step(k):
    asked = []

    class Counting:
        smoothness = 2.0

        def value(self, f, y):
            return (f - y) ** 2

        def slope(self, f, y):
            asked.append(f)
            return 2 * (f - y)

    points, target, _ = scattered(12)
    lessons = {}
    for loss in ("square", Counting()):
        learner = nimt.KernelLearner(nimt.rbf(0.5), loss=loss, learning_rate=0.1)
        asked.clear()
        lessons[loss] = nimt.teach(
            learner, nimt.GreedyTeacher(k=k), points, target, max_iterations=8, tol=None, engine="reference"
        )
    assert [len(f) for f in asked[-8:]] == [k] * 8 and len(asked) < 2 * 8
    square, own = lessons.values()
    np.testing.assert_array_equal(own.final, square.final)


class Unknowing:
    """A learner that does not know what to predict until it was shown something, or after so many packs."""

    def __init__(self, knows=lambda packs: packs > 0):
        self.knows, self.packs = knows, 0

    def partial_fit(self, X, y):
        self.packs += 1
        return self

    def predict(self, X):
        return np.full(len(X), 0.5 if self.knows(self.packs) else np.nan)


def test_a_learner_that_predicts_nan_from_the_start_is_named():
    with pytest.raises(nimt.InvalidInput, match="Unknowing predicts nan at 5 of 5 values before the first example"):
        nimt.teach(Unknowing(), nimt.RandomTeacher(), np.arange(5.0), np.sin, max_iterations=3, tol=None)


def test_a_learner_that_predicts_nan_later_ends_the_lesson():
    lesson = nimt.teach(
        Unknowing(lambda packs: packs < 2), nimt.RandomTeacher(), np.arange(5.0), np.sin, max_iterations=9, tol=None
    )
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    assert len(lesson) == 2

"""The teacher that makes labels: its steps, its estimate of a learner it cannot open, and when it gives up."""

import numpy as np
import pytest
from sklearn.linear_model import SGDRegressor

import nimt
from nimt import datasets
from oracles import KernelOracle, furthest, gauss, slope_square
from problems import BOUNDARY, MIXTURE, assert_same_lesson, scattered, small_lesson

pytestmark = pytest.mark.long

LINE = nimt.Grid(np.arange(-5, 5, 0.5))


def one_more(x):
    return x[:, 0] + 1


def steps_of(learner, *, X=MIXTURE.pool, y=MIXTURE.target, tol=1e-4, budget=6000, **options):
    """Return the steps GFT-1 and synthesis need; None where the budget ran out."""
    teachers = nimt.GreedyTeacher(), nimt.SynthesisTeacher(**options)
    return [nimt.teach(learner, teacher, X, y, tol=tol, max_iterations=budget).itd for teacher in teachers]


def synthesis_in_plain_loops(learner, target, steps):
    """The rule for a learner with one response everywhere: the one last seen, and one label at half the distance."""
    indices, labels, shown_at, response, told = [], [], {}, None, False
    radius = max(abs(f - y) for f, y in zip(learner.values(), target, strict=True))
    for _ in range(steps):
        f = learner.values()
        i = furthest(f, target, range(len(f)), 1)[0]
        gap = target[i] - f[i]
        distance = abs(gap) if response is None else min(radius, abs(gap) / response)
        before = shown_at.get(i)
        if before is not None and not told and distance < 1.5 * before and before < 1.5 * distance:
            distance = before / 2
        distance = min(distance, radius)
        if before is not None and max(before, distance) >= 1.5 * min(before, distance):
            told = True
        label = f[i] + (distance if gap > 0 else -distance)
        learner.learn([i], [label])
        response = (learner.values()[i] - f[i]) / (label - f[i])
        shown_at[i] = distance
        indices.append([i])
        labels.append([label])
    return indices, labels


def test_the_steps_are_those_of_plain_loops():
    points, target, initial = scattered()
    oracle = KernelOracle(points.tolist(), initial.tolist(), gauss(0.7), slope_square, lambda step: 0.05)
    indices, labels = synthesis_in_plain_loops(oracle, target.tolist(), 60)
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.05, initial=initial)
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(), points, target, max_iterations=60, tol=None)
    np.testing.assert_array_equal(lesson.indices, indices)
    np.testing.assert_allclose(lesson.labels, labels, rtol=1e-9)


def test_ten_times_fewer_examples_on_the_mixture():
    greedy, synthesis = steps_of(MIXTURE.learner())
    assert greedy == 3056
    assert synthesis <= 305


@pytest.mark.slow
def test_nine_times_fewer_examples_on_the_digit():
    target, start = datasets.mean_zero().values, datasets.first_eight().values
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=start)
    greedy, synthesis = steps_of(learner, X=nimt.Grid.like(target), y=target, tol=2.36e-4, budget=60_000)
    assert greedy == 59_953
    assert synthesis <= 6812


def test_the_first_label_is_true_and_the_first_correction_is_the_radius():
    lesson = MIXTURE.teach(nimt.SynthesisTeacher(), max_iterations=200, tol=None, snapshots=range(201))
    assert lesson.labels[0, 0] == lesson.target[lesson.indices[0, 0]]
    predictions = np.array([lesson.snapshots[t][lesson.indices[t, 0]] for t in range(200)])
    radius = np.max(np.abs(lesson.initial - lesson.target))
    assert np.max(np.abs(lesson.labels[:, 0] - predictions)) <= radius * (1 + 1e-12)


def test_the_learner_lands_on_the_target_once_the_radius_allows():
    lesson = MIXTURE.teach(nimt.SynthesisTeacher(radius=40.0), max_iterations=60, tol=None, snapshots=range(61))
    shown = lesson.indices[10:, 0]
    landed = [lesson.snapshots[t + 1][i] for t, i in enumerate(shown, start=10)]
    np.testing.assert_allclose(landed, lesson.target[shown], atol=1e-12)


def test_a_radius_is_kept_by_the_true_label_too():
    lesson = MIXTURE.teach(nimt.SynthesisTeacher(radius=0.1), max_iterations=1, tol=None)
    start = lesson.initial[lesson.indices[0, 0]]
    assert lesson.labels[0, 0] == pytest.approx(start - 0.1)


@pytest.mark.parametrize(
    "rate",
    [
        lambda t: 0.01 / np.sqrt(1 + t / 100),
        lambda t: 0.05 / (1 + t / 50),
        lambda t: 0.02 if t < 100 else 0.005,
        lambda t: 0.005 if t < 100 else 0.02,
    ],
    ids=["root", "inverse", "falls", "rises"],
)
def test_a_changing_rate_is_followed(rate):
    greedy, synthesis = steps_of(MIXTURE.learner(learning_rate=rate))
    assert synthesis is not None
    assert greedy is None or 7 * synthesis < greedy


def test_points_with_responses_of_their_own():
    greedy, synthesis = steps_of(nimt.LinearLearner([-0.5, 0.5], learning_rate=0.001), X=LINE, y=one_more)
    assert 20 * synthesis < greedy
    greedy, synthesis = steps_of(nimt.KernelLearner(nimt.linear(), learning_rate=0.001), X=LINE, y=one_more)
    assert 20 * synthesis < greedy


class EachAtItsOwnRate:
    """Three numbers at the points 0, 1, 2; each goes its own share of the way to a label."""

    def __init__(self):
        self.values, self.rates = np.zeros(3), np.array([0.02, 0.2, 0.05])

    def predict(self, X):
        return self.values[np.ravel(X).astype(int)]

    def partial_fit(self, X, y):
        rows = np.ravel(X).astype(int)
        self.values[rows] += self.rates[rows] * (np.ravel(y) - self.values[rows])


def test_an_unseen_point_gets_the_true_label_where_responses_differ():
    target = np.array([3.0, 2.9, 2.7])
    teacher, options = nimt.SynthesisTeacher(radius=50.0), {"max_iterations": 12, "tol": 1e-9}
    lesson = nimt.teach(EachAtItsOwnRate(), teacher, [0.0, 1.0, 2.0], target, **options)
    shown, labels = lesson.indices[:, 0].tolist(), lesson.labels[:, 0]
    assert labels[0] == target[0]  # nothing was seen yet
    assert labels[shown.index(1)] > 2 * target[1]  # one response was seen: it is taken for all
    assert labels[shown.index(2)] == target[2]  # two were seen, and they differ
    assert lesson.itd is not None  # then each by its own: a few steps and it is done


def test_a_scikit_learn_regressor():
    greedy, synthesis = steps_of(SGDRegressor(), X=LINE, y=one_more, budget=1500)
    assert greedy is None
    assert synthesis < 150


def test_huber_inside_and_outside_its_square_part():
    assert steps_of(MIXTURE.learner(loss=nimt.losses.Huber(0.5)))[1] <= 305
    with pytest.warns(nimt.errors.ResponseWarning, match="moved the learner no further"):
        greedy, synthesis = steps_of(MIXTURE.learner(loss=nimt.losses.Huber(0.1)))
    assert 2 * synthesis < greedy


def test_it_says_so_where_movement_does_not_grow_and_keeps_to_true_labels():
    learner = MIXTURE.learner(loss="absolute", learning_rate=0.001)
    with pytest.warns(nimt.errors.ResponseWarning, match=r"0\.399 away moved the learner no further than one 0\.199"):
        lesson = nimt.teach(
            learner, nimt.SynthesisTeacher(), MIXTURE.pool, MIXTURE.target, max_iterations=1000, tol=None
        )
    away = np.abs(lesson.labels[:, 0] - lesson.target[lesson.indices[:, 0]])
    assert np.count_nonzero(away > 0) <= 2
    assert not away[3:].any()


def test_hinge_with_labels_that_switch_off():
    teacher, options = nimt.SynthesisTeacher(), {"tol": 1e-3, "max_iterations": 4188}
    with pytest.warns(nimt.errors.ResponseWarning):
        assert BOUNDARY.teach(teacher, **options).itd < 4188


def test_no_warning_for_packs_which_move_each_other():
    for k in (2, 5, 28):
        lesson = MIXTURE.teach(nimt.SynthesisTeacher(k=k), tol=1e-4, max_iterations=400, engine="reference")
        assert lesson.itd <= 305


class SeenThroughNoise:
    """A learner whose predictions are seen with an error."""

    def __init__(self, learner, deviation):
        self.learner, self.deviation, self.rng = learner, deviation, np.random.default_rng(1)

    def predict(self, X):
        return self.learner.predict(X) + self.rng.normal(0, self.deviation, len(X))

    def partial_fit(self, X, y):
        self.learner.partial_fit(X, y)


@pytest.mark.parametrize("deviation", [1e-4, 1e-3, 3e-3])
def test_observation_noise(deviation):
    learner = SeenThroughNoise(MIXTURE.learner(), deviation)
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(), MIXTURE.pool, MIXTURE.target, max_iterations=300, tol=None)
    left = lesson.learner.learner.predict(MIXTURE.pool) - lesson.target
    assert np.linalg.norm(left) / len(left) < 1e-4  # GFT-1 needs 3056 steps for this, noise or none


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("k", [1, 3])
def test_a_checkpoint_holds_what_it_knows(k, tmp_path):
    options = {"teacher": nimt.SynthesisTeacher(k=k), "learner": nimt.LinearLearner([0.1, 0.2, 0.3])}
    whole = small_lesson(**options)
    for at in (1, 2, 9):
        small_lesson(**options, callback=lambda p, at=at: p.step >= at, checkpoint=tmp_path / f"{at}")
        assert_same_lesson(nimt.resume(tmp_path / f"{at}"), whole)


def test_a_limited_pool_is_all_it_shows():
    lesson = small_lesson(nimt.SynthesisTeacher(pool=[1, 4, 5]))
    assert set(lesson.indices.ravel()) <= {1, 4, 5}


def test_a_lesson_already_learned():
    points, target, _ = scattered()
    lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0), initial=target), nimt.SynthesisTeacher(), points, target,
                        max_iterations=5, tol=None)  # fmt: skip
    np.testing.assert_array_equal(lesson.final, target)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.0}, "radius must be a positive number"),
        ({"radius": np.inf}, "radius must be a positive number"),
        ({"k": 0}, "k must be a count"),
        ({"labels": nimt.teachers.AlternativeLabels(np.sin)}, "makes the labels itself"),
    ],
)
def test_what_it_refuses(options, message):
    with pytest.raises(nimt.InvalidInput, match=message):
        nimt.SynthesisTeacher(**options)


@pytest.mark.parametrize("go", [nimt.teach, nimt.plan])
def test_a_loss_of_few_labels_is_refused_before_the_lesson(go):
    learner = nimt.KernelLearner(nimt.rbf(1.0), loss="logistic")
    with pytest.raises(nimt.InvalidInput, match=r"labels of any value, and the loss Logistic\(\) takes only"):
        go(learner, nimt.SynthesisTeacher(), [0.0, 3.0], [1.0, -1.0], max_iterations=50)

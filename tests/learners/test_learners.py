"""The learners of our own."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.gaussian_process.kernels import Matern

import nimt
from nimt.operators.dense import GRAM_LIMIT, DenseOperator
from nimt.pools.pool import Points
from problems import scattered, small_lesson


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["square", "hinge", "logistic", "huber", "absolute"])
def test_a_linear_kernel_is_a_linear_learner_at_every_step(intercept, loss):
    points, target, _ = scattered(dimension=3)
    if loss == "logistic":
        target = np.sign(target)
    weights = np.array([0.4, -0.3, 0.2, 0.7])[: 4 if intercept else 3]

    def start(x):
        return x @ weights[:3] + (weights[3] if intercept else 0.0)

    straight = nimt.LinearLearner(weights, loss=loss, learning_rate=0.05, intercept=intercept)
    kernel = nimt.linear(1.0 if intercept else 0.0)
    curved = nimt.KernelLearner(kernel, loss=loss, learning_rate=0.05, initial=start)
    options = {"max_iterations": 40, "tol": None, "snapshots": range(41)}
    one = nimt.teach(straight, nimt.RandomTeacher(k=2), points, target, **options)
    other = nimt.teach(curved, nimt.RandomTeacher(k=2), points, target, **options)
    np.testing.assert_array_equal(one.indices, other.indices)
    for step in range(41):
        np.testing.assert_allclose(one.snapshots[step], other.snapshots[step], rtol=1e-12, atol=1e-12)
    new = np.linspace(-2, 2, 15).reshape(5, 3)
    np.testing.assert_allclose(one.learner.predict(new), other.learner.predict(new), rtol=1e-12, atol=1e-12)


LEARNERS = {
    "kernel": lambda: nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2),
    "kernel with values": lambda: nimt.KernelLearner(nimt.rbf(0.7), initial=scattered()[2]),
    "linear": lambda: nimt.LinearLearner(np.array([0.1, 0.2, 0.3])),
}
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS)


@each_learner
def test_the_callers_learner_is_untouched(make):
    learner = make()
    before = set(vars(learner))
    lesson = small_lesson(learner=learner)
    assert set(vars(learner)) == before
    assert learner.steps_ == 0
    assert lesson.learner is not learner
    assert lesson.learner.steps_ == 25


@each_learner
def test_a_taught_learner_can_be_taught_on(make):
    whole = small_lesson(learner=make(), max_iterations=20)
    first = small_lesson(learner=make(), max_iterations=12)
    second = small_lesson(learner=first.learner, max_iterations=8)
    np.testing.assert_array_equal(np.vstack([first.indices, second.indices]), whole.indices)
    np.testing.assert_allclose(second.final, whole.final, rtol=1e-12, atol=1e-13)
    assert second.learner.steps_ == 20
    np.testing.assert_allclose(second.learner.predict(scattered()[0]), whole.final, rtol=1e-12, atol=1e-13)


@each_learner
def test_a_learner_is_an_estimator_of_scikit_learn(make):
    learner = make()
    copy = clone(learner)
    assert type(copy) is type(learner)
    assert copy.get_params(deep=False).keys() == learner.get_params(deep=False).keys()


def test_one_row_per_distinct_point_shown():
    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.1)
    learner.partial_fit([[0.0], [1.0], [0.0]], [1.0, 2.0, 3.0])
    learner.partial_fit([[-0.0], [2.0]], [1.0, 2.0])
    np.testing.assert_array_equal(learner.centers_, [[0.0], [1.0], [2.0]])
    by_hand = 0.1 * 2 / 3 * (1 + 3), 0.1 * 2 / 3 * 2
    assert learner.coefficients_.shape == (3,)
    assert learner.coefficients_[1] == pytest.approx(by_hand[1], rel=1e-14)
    assert learner.steps_ == 2


def test_a_pool_with_the_same_point_twice_gives_one_row():
    points = np.array([0.0, 1.0, 0.0, 1.0, 3.0])
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.1),
        nimt.RandomTeacher(k=1.0),
        points,
        [1.0, 2.0, 1.0, 2.0, 3.0],
        max_iterations=10,
        tol=None,
    )
    assert len(lesson.learner.centers_) == 3
    np.testing.assert_allclose(lesson.learner.predict(points), lesson.final, rtol=1e-13)


@pytest.mark.parametrize("kind", ["number", "callable", "column"])
def test_a_function_for_a_start_is_known_everywhere(kind):
    initial = {"number": 0.5, "callable": lambda x: x.sum(axis=1), "column": lambda x: x[:, :1]}[kind]
    learner = nimt.KernelLearner(nimt.rbf(0.7), initial=initial)
    new = np.array([[3.0, 4.0]])
    start = {"number": 0.5, "callable": 7.0, "column": 3.0}[kind]
    assert learner.predict(new) == start
    lesson = small_lesson(learner=learner, max_iterations=4)
    taught = lesson.learner
    expected = start + taught.kernel(new, taught.centers_) @ taught.coefficients_
    np.testing.assert_allclose(taught.predict(new), expected, rtol=1e-14)


def test_values_for_a_start_are_known_on_the_pool_only():
    points, _, initial = scattered()
    learner = nimt.KernelLearner(nimt.rbf(0.7), initial=initial)
    with pytest.raises(nimt.InvalidInput, match="values need a pool"):
        learner.predict(points)
    lesson = small_lesson(learner=learner)
    np.testing.assert_allclose(lesson.learner.predict(points[[5, 3]]), lesson.final[[5, 3]], rtol=1e-13)
    np.testing.assert_allclose(lesson.learner.predict(lesson.pool), lesson.final, rtol=1e-13)
    for elsewhere in ([[9.0, 9.0]], [[1.0]], np.vstack([points[:1], [[0.25, 0.5]]])):
        with pytest.raises(nimt.InvalidInput, match="values on a pool of 12 points, so this learner is unknown at"):
            lesson.learner.predict(elsewhere)


def test_values_for_a_start_stay_with_their_pool():
    points, target, initial = scattered()
    taught = small_lesson(learner=nimt.KernelLearner(nimt.rbf(0.7), initial=initial)).learner
    with pytest.raises(nimt.InvalidInput, match="values on another pool"):
        nimt.teach(taught, nimt.GreedyTeacher(), points + 1.0, target, max_iterations=1, tol=None)


def test_values_on_a_pool_with_a_point_twice_stay_apart():
    points, initial = np.array([0.0, 1.0, 0.0]), np.array([1.0, 2.0, 3.0])
    learner = nimt.KernelLearner(nimt.rbf(0.7), initial=initial)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, np.zeros(3), max_iterations=0, tol=None)
    np.testing.assert_array_equal(lesson.learner.predict(points), initial)


def test_a_schedule_is_asked_once_a_step_and_goes_on_where_it_stopped():
    asked = []

    def rate(step):
        asked.append(step)
        return 0.2 / (1 + step)

    learner = nimt.KernelLearner(nimt.rbf(0.7), learning_rate=rate)
    first = small_lesson(learner=learner, max_iterations=3)
    small_lesson(learner=first.learner, max_iterations=2)
    assert sorted(set(asked)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("learner", "rate"),
    [
        (nimt.KernelLearner(nimt.rbf(0.7), learning_rate="auto"), 0.5),
        (nimt.KernelLearner(4.0 * nimt.rbf(0.7), learning_rate="auto"), 0.125),
        (nimt.KernelLearner(nimt.rbf(0.7), loss="huber", learning_rate="auto"), 0.5),
        (nimt.KernelLearner(nimt.rbf(0.7), loss="logistic", learning_rate="auto"), 4.0),
        (nimt.KernelLearner(nimt.linear(1.0), learning_rate="auto"), 1 / (2 * 26)),
        (nimt.LinearLearner([0.0, 0.0, 0.0], learning_rate="auto"), 1 / (2 * 26)),
        (nimt.LinearLearner([0.0, 0.0], learning_rate="auto", intercept=False), 1 / (2 * 25)),
    ],
)
def test_auto_is_one_over_the_smoothness_times_the_largest_diagonal(learner, rate):
    points = np.array([[3.0, 4.0], [1.0, 0.0]])
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, [1.0, -1.0], max_iterations=1, tol=None)
    assert lesson.learner.learning_rate_ == pytest.approx(rate, rel=1e-14)
    by_number = clone(learner).set_params(learning_rate=rate)
    again = nimt.teach(by_number, nimt.GreedyTeacher(), points, [1.0, -1.0], max_iterations=1, tol=None)
    np.testing.assert_allclose(lesson.final, again.final, rtol=1e-13)


def test_at_the_auto_rate_a_square_step_lands_on_the_target():
    lesson = small_lesson(learner=nimt.KernelLearner(nimt.rbf(0.7), learning_rate="auto"), max_iterations=1)
    assert lesson.final[lesson.indices[0, 0]] == pytest.approx(lesson.labels[0, 0], rel=1e-14)


def double_sum(one, other, kernel):
    return sum(
        a * b * kernel(x[np.newaxis], z[np.newaxis])[0, 0]
        for x, a in zip(one.centers_, one.coefficients_, strict=True)
        for z, b in zip(other.centers_, other.coefficients_, strict=True)
    )


@pytest.mark.parametrize("kernel", [nimt.rbf(0.7), nimt.linear(), nimt.Wendland(1.0, dimension=2)])
def test_norms_and_inner_products_are_exact(kernel):
    one = small_lesson(learner=nimt.KernelLearner(kernel, learning_rate=0.1)).learner
    other = small_lesson(nimt.RandomTeacher(k=3), nimt.KernelLearner(kernel, learning_rate=0.05, initial=2.0)).learner
    assert one.inner(other) == pytest.approx(double_sum(one, other, kernel), rel=1e-11)
    assert one.inner(other) == pytest.approx(other.inner(one), rel=1e-11)
    assert one.rkhs_norm() ** 2 == pytest.approx(double_sum(one, one, kernel), rel=1e-11)


def test_an_untaught_learner_has_no_norm_and_other_kernels_no_product():
    learner = nimt.KernelLearner(nimt.rbf(0.7), initial=3.0)
    assert learner.rkhs_norm() == 0.0
    assert learner.inner(learner) == 0.0
    with pytest.raises(nimt.InvalidInput, match="different spaces"):
        learner.inner(nimt.KernelLearner(nimt.rbf(0.8)))


def test_large_predictions_are_made_in_blocks(monkeypatch):
    points, _, _ = scattered()
    learner = small_lesson().learner
    whole = learner.predict(points)
    monkeypatch.setattr("nimt.learners.expansion.EVALUATE_BLOCK", 8 * 30)
    np.testing.assert_allclose(learner.predict(Points(points)), whole, rtol=1e-14)


def test_a_learner_shown_another_dimension_says_so():
    learner = nimt.KernelLearner(nimt.rbf(0.7)).partial_fit([[0.0]], [1.0])
    with pytest.raises(nimt.InvalidInput, match="taught in 1 dimensions and is now shown points of 2"):
        learner.partial_fit([[0.0, 1.0]], [1.0])
    with pytest.raises(nimt.InvalidInput, match="taught in 1 dimensions and is now shown points of 2"):
        learner.predict([[0.0, 1.0]])


# ---------------------------------------------------------------- scikit-learn's view of a learner


def test_scikit_learn_takes_a_learner_for_an_estimator():
    kernel = nimt.rbf(0.5)
    for learner in (nimt.KernelLearner(kernel), nimt.LinearLearner([1.0]), nimt.learners.OrthogonalLearner(kernel)):
        assert not is_classifier(learner) and not is_regressor(learner)
        assert clone(learner).get_params() == learner.get_params()


def test_a_kernel_of_scikit_learn_becomes_ours_and_survives_cloning():
    learner = nimt.KernelLearner(2.0 * Matern(0.7), learning_rate=0.1, initial=np.arange(9.0))
    copy = clone(learner)
    assert copy.kernel == learner.kernel == 2.0 * nimt.kernels.Matern(0.7)
    np.testing.assert_array_equal(copy.initial, learner.initial)
    changed = copy.set_params(kernel=Matern(0.9), initial=0.0).partial_fit([[0.0]], [1.0])
    assert changed.kernel == nimt.kernels.Matern(0.9)


def test_parameters_of_the_kernel_are_parameters_of_the_learner():
    learner = nimt.KernelLearner(2.0 * nimt.rbf(0.5))
    assert learner.get_params()["kernel__right__width"] == 0.5
    assert learner.set_params(kernel__right__width=0.7, learning_rate=0.2).kernel == 2.0 * nimt.rbf(0.7)
    assert learner.learning_rate == 0.2
    with pytest.raises(nimt.InvalidInput, match="KernelLearner has no parameter 'rate'; it has kernel, loss"):
        learner.set_params(rate=0.2)


def test_a_learner_shows_what_was_changed_in_few_words():
    assert repr(nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)) == (
        "KernelLearner(kernel=rbf(width=0.5), learning_rate=0.1)"
    )
    assert len(repr(nimt.KernelLearner(nimt.rbf(0.5), initial=np.zeros(10_000)))) < 120


@pytest.mark.parametrize("way", ["gram", "window", "columns"])
def test_one_example_moves_every_value_by_the_definition(way):
    """f <- f - eta L'(x) K(x, .), whether K is kept, is a window on a grid, or is computed column by column."""
    pool = Points(np.linspace(0, 3, 12)) if way == "columns" else nimt.Grid(np.linspace(0, 3, 120))
    kernel = nimt.rbf(0.05 if way == "window" else 0.4)
    pupil = nimt.KernelLearner(kernel, learning_rate=lambda step: 0.5 / (1 + step), initial=0.25).make_pupil(pool)
    pupil.operator = DenseOperator(kernel, pool, gram_limit=GRAM_LIMIT if way == "gram" else 0)
    assert (pupil.operator.keeps_gram, pupil.operator.window is not None) == (way == "gram", way != "columns")
    f, c, points = [0.25] * len(pool), [0.0] * len(pool), pool.points[:, 0].tolist()
    shown = [(3, -1.5), (len(pool) - 1, 0.75), (3, 2.0)]  # one of them again
    for step, (index, slope) in enumerate(shown):
        pupil.move_one(index, slope)
        move = -0.5 / (1 + step) * slope
        c[index] += move
        for s, x in enumerate(points):
            f[s] += move * np.exp(-(((x - points[index]) / kernel.width) ** 2))
        assert pupil.added.tolist() == [move] and pupil.steps == step + 1
    np.testing.assert_allclose(pupil.values, f, rtol=0, atol=1e-12)
    np.testing.assert_allclose(pupil.coefficients, c, rtol=1e-15)
    assert np.flatnonzero(pupil.shown).tolist() == [3, len(pool) - 1]
    by_arrays = np.full(len(pool), 0.25)
    for step, (index, slope) in enumerate(shown):
        pupil.operator.add(by_arrays, np.array([index]), np.array([-0.5 / (1 + step) * slope]))
    np.testing.assert_array_equal(pupil.values, by_arrays)

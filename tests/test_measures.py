"""The discrepancies: paper, rms, rkhs, parameters."""

import numpy as np
import pytest

import nimt
from nimt.measures import PaperDiscrepancy
from problems import MIXTURE, scattered, small_lesson

STEPS = range(26)


def taught(kernel=None, seed=1, **options):
    """Return a learner that knows something already."""
    points, _, _ = scattered()
    learner = nimt.KernelLearner(kernel or nimt.rbf(0.4), learning_rate=0.1, **options)
    return nimt.teach(
        learner, nimt.RandomTeacher(k=2), points[:7] * 0.5, np.arange(7.0), max_iterations=9, tol=None, seed=seed
    ).learner


def test_paper_and_rms_are_the_formulas():
    _, target, _ = scattered()
    paper = small_lesson(measure="paper", snapshots=STEPS)
    rms = small_lesson(measure="rms", snapshots=STEPS)
    for t in STEPS:
        squares = sum((a - b) ** 2 for a, b in zip(paper.snapshots[t], target, strict=True))
        assert paper.discrepancy[t] == pytest.approx(squares**0.5 / 12, rel=1e-13)
        assert rms.discrepancy[t] == pytest.approx((squares / 12) ** 0.5, rel=1e-13)


def distance_in_h(one, other):
    return max(0.0, one.inner(one) - 2 * one.inner(other) + other.inner(other)) ** 0.5


@pytest.mark.parametrize("initial", [0.0, 0.7, lambda x: x[:, 0]], ids=["zero", "number", "callable"])
@pytest.mark.parametrize("start", ["fresh", "taught"])
def test_between_two_expansions_the_norm_in_h_is_exact(start, initial):
    points, _, _ = scattered()
    goal = taught(seed=1, initial=initial)
    learner = taught(seed=2, initial=initial)
    if start == "fresh":
        learner = nimt.KernelLearner(nimt.rbf(0.4), initial=initial)
    learner.set_params(learning_rate=0.3)
    walk = nimt.steps(learner, nimt.GreedyTeacher(k=2), points, goal, max_iterations=20, tol=None, measure="rkhs")
    assert walk.lesson.discrepancy[0] == pytest.approx(distance_in_h(learner, goal), rel=1e-9)
    for _, _, discrepancy in walk:
        assert discrepancy == pytest.approx(distance_in_h(walk.lesson.learner, goal), rel=1e-9)


def test_the_exact_norm_needs_no_invertible_gram_matrix():
    goal = nimt.KernelLearner(nimt.rbf(2.0), learning_rate=0.3).partial_fit([[0.0], [1.0]], [1.0, 2.0])
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(2.0)),
        nimt.GreedyTeacher(),
        MIXTURE.pool,
        goal,
        max_iterations=1,
        tol=None,
        measure="rkhs",
    )
    assert lesson.discrepancy[0] == pytest.approx(goal.rkhs_norm(), rel=1e-12)


@pytest.mark.parametrize("initial", [0.0, "values", lambda x: x[:, 0]], ids=["zero", "values", "callable"])
def test_otherwise_it_is_the_norm_of_the_interpolant(initial):
    points, target, values = scattered()
    kernel = nimt.rbf(0.3)
    learner = nimt.KernelLearner(kernel, learning_rate=0.2, initial=values if initial == "values" else initial)
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), points, target, max_iterations=25, tol=None, measure="rkhs", snapshots=STEPS
    )
    gram = kernel(points)
    for t in STEPS:
        gap = lesson.snapshots[t] - target
        assert lesson.discrepancy[t] == pytest.approx((gap @ np.linalg.solve(gram, gap)) ** 0.5, rel=1e-8)
    assert (np.diff(lesson.discrepancy) < 0).all()


def test_a_target_that_starts_elsewhere_is_measured_by_its_interpolant():
    points, _, _ = scattered()
    goal = nimt.KernelLearner(nimt.rbf(0.3), initial=1.0).partial_fit(points[:1], [2.0])
    learner = nimt.KernelLearner(nimt.rbf(0.3))
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, goal, max_iterations=0, tol=None, measure="rkhs")
    gap = goal.predict(points)
    expected = (gap @ np.linalg.solve(nimt.rbf(0.3)(points), gap)) ** 0.5
    assert lesson.discrepancy[0] == pytest.approx(expected, rel=1e-9)


def test_an_ill_conditioned_gram_matrix_is_refused():
    with pytest.raises(
        nimt.errors.IllConditioned, match=r"280 points has a condition number.*measure in 'paper' or 'rms'"
    ):
        MIXTURE.teach(max_iterations=1, tol=None, measure="rkhs")
    twice = np.array([0.0, 0.0, 1.0])
    with pytest.raises(nimt.errors.IllConditioned, match="would mean nothing"):
        nimt.teach(
            nimt.KernelLearner(nimt.rbf(1.0)),
            nimt.GreedyTeacher(),
            twice,
            twice,
            max_iterations=1,
            tol=None,
            measure="rkhs",
        )


@pytest.mark.parametrize("intercept", [True, False])
def test_parameters_are_compared_as_vectors(intercept):
    points, _, _ = scattered()
    start, goal = ([0.0, 0.0, 0.0], [1.0, -2.0, 2.0]) if intercept else ([0.0, 0.0], [3.0, 4.0])
    learner = nimt.LinearLearner(start, learning_rate=0.1, intercept=intercept)
    target = nimt.LinearLearner(goal, intercept=intercept)
    walk = nimt.steps(learner, nimt.GreedyTeacher(), points, target, max_iterations=30, tol=None, measure="parameters")
    assert walk.lesson.discrepancy[0] == pytest.approx(3.0 if intercept else 5.0, rel=1e-15)
    for _, _, discrepancy in walk:
        assert discrepancy == pytest.approx(np.linalg.norm(walk.lesson.learner.weights_ - goal), rel=1e-14)


@pytest.mark.parametrize(
    ("learner", "target"),
    [
        (nimt.KernelLearner(nimt.rbf(1.0)), nimt.LinearLearner([1.0, 2.0, 3.0])),
        (nimt.LinearLearner([1.0, 2.0, 3.0]), 1.0),
    ],
)
def test_parameters_need_two_linear_learners(learner, target):
    points, _, _ = scattered()
    with pytest.raises(nimt.InvalidInput, match="both the learner and y must be a LinearLearner"):
        nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=1, tol=None, measure="parameters")


def test_parameters_must_be_as_many():
    points, _, _ = scattered()
    with pytest.raises(nimt.InvalidInput, match="the target has 2 weights, the learner 3"):
        nimt.teach(
            nimt.LinearLearner([1.0, 2.0, 3.0]),
            nimt.GreedyTeacher(),
            points,
            nimt.LinearLearner([1.0, 2.0], intercept=False),
            max_iterations=1,
            tol=None,
            measure="parameters",
        )


def test_a_subclass_that_measures_otherwise_is_asked():
    class Doubled(PaperDiscrepancy):
        name = "doubled"

        def of(self, pupil, target):
            return 2 * super().of(pupil, target)

    doubled, paper = small_lesson(measure=Doubled()), small_lesson(measure="paper", engine="reference")
    np.testing.assert_array_equal(doubled.discrepancy, 2 * paper.discrepancy)


@pytest.mark.parametrize(
    ("grid", "kernel"),
    [
        (nimt.Grid(np.arange(7.0), 0.9 * np.arange(5.0)), 2.0 * nimt.rbf(1.1)),
        (nimt.Grid(np.arange(4.0), np.arange(3.0), np.arange(5.0)), nimt.rbf(0.8)),
        (nimt.Grid(np.arange(7.0), np.arange(5.0)), nimt.kernels.Matern(1.0, 1.5)),  # no product over the axes
    ],
)
@pytest.mark.parametrize("outputs", [(), (2,)])
def test_the_norm_on_a_grid_is_that_of_a_solve_with_the_whole_gram_matrix(grid, kernel, outputs):
    y = np.random.default_rng(4).normal(size=(len(grid), *outputs))
    learner = nimt.KernelLearner(kernel, learning_rate=0.1)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), grid, y, measure="rkhs", tol=None, max_iterations=20)
    gram = kernel(grid.points, grid.points)
    for values, measured in ((lesson.initial, lesson.discrepancy[0]), (lesson.final, lesson.discrepancy[-1])):
        errors = (values - y).reshape(len(grid), -1)
        square = sum(float(column @ np.linalg.solve(gram, column)) for column in errors.T)
        assert measured == pytest.approx(square**0.5, rel=1e-9)


def test_the_norm_on_a_grid_of_many_points_needs_no_matrix_of_all():
    grid = nimt.Grid(np.arange(200.0), np.arange(150.0))
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.1)
    target = nimt.Expansion(nimt.rbf(1.0), grid.points[[20_000, 5]], np.array([2.0, -1.0]))
    rules = {"measure": "rkhs", "tol": None, "max_iterations": 0}
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), grid, target.predict(grid.points), **rules)
    assert lesson.discrepancy[0] == pytest.approx(target.norm(), rel=1e-9)

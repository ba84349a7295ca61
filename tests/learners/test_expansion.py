"""Functions in a kernel's space as objects: arithmetic, norms, and lessons measured in that space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nimt
from nimt.errors import IllConditioned, OutsideOfSpaceWarning
from nimt.kernels import Matern, linear, rbf
from nimt.theory import rkhs_distance

KERNEL = rbf(width=0.7)


def draw(seed, count=6, outputs=(), dimension=2, kernel=KERNEL):
    rng = np.random.default_rng(seed)
    return nimt.Expansion(kernel, rng.uniform(-1, 1, (count, dimension)), rng.normal(size=(count, *outputs)))


def double_loop(f, g):
    total = 0.0
    for z, c in zip(f.centers, f.coefficients, strict=True):
        for w, d in zip(g.centers, g.coefficients, strict=True):
            total += float(np.sum(c * d)) * float(f.kernel(z[None], w[None])[0, 0])
    return total


@pytest.mark.parametrize("outputs", [(), (3,)])
def test_inner_products_and_values_are_those_of_a_double_loop(outputs):
    f, g = draw(1, 5, outputs), draw(2, 7, outputs)
    assert f.inner(g) == pytest.approx(double_loop(f, g), rel=1e-12)
    assert f.norm() ** 2 == pytest.approx(double_loop(f, f), rel=1e-12)
    x = np.array([[0.3, -0.2], [0.0, 1.0]])
    expected = [
        sum(c * KERNEL(z[None], p[None])[0, 0] for z, c in zip(f.centers, f.coefficients, strict=True)) for p in x
    ]
    np.testing.assert_allclose(f(x), expected, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(a=st.floats(-5, 5), b=st.floats(-5, 5), seed=st.integers(0, 99))
def test_arithmetic_is_that_of_the_values(a, b, seed):
    f, g = draw(seed), draw(seed + 100)
    x = np.random.default_rng(seed).uniform(-1, 1, (9, 2))
    np.testing.assert_allclose((a * f - g * b)(x), a * f(x) - b * g(x), atol=1e-12)
    assert (f + g).inner(f) == pytest.approx(f.inner(f) + g.inner(f), abs=1e-9)
    assert (f - f).norm() == 0.0


def test_equal_centers_are_one():
    f = nimt.Expansion(KERNEL, [0.0, 1.0], [1.0, 2.0]) + nimt.Expansion(KERNEL, [1.0, -0.0], [3.0, 4.0])
    np.testing.assert_array_equal(f.centers, [[0.0], [1.0]])
    np.testing.assert_array_equal(f.coefficients, [5.0, 5.0])
    assert sum([f, f]) == 2.0 * f
    assert f / 2.0 == nimt.Expansion(KERNEL, [0.0, 1.0], [2.5, 2.5])


def test_its_arrays_cannot_be_changed_from_outside():
    centers = np.array([0.0, 1.0])
    f = nimt.Expansion(KERNEL, centers, [1.0, 1.0])
    centers[0] = 9.0
    assert f.centers[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        f.coefficients[0] = 2.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nimt.Expansion(KERNEL, [0.0], [1.0, 2.0]), "coefficients must be one per center"),
        (lambda: nimt.Expansion(KERNEL, 0.0, [1.0]), "centers must be points"),
        (lambda: nimt.Expansion(KERNEL, [np.nan], [1.0]), "centers"),
        (lambda: nimt.Expansion("rbf", [0.0], [1.0]), "kernel must be a kernel"),
        (lambda: draw(0) + draw(1, kernel=rbf(0.1)), "different spaces"),
        (lambda: draw(0) + draw(1, dimension=3), "differ in their dimensions: 2 and 3"),
        (lambda: draw(0).inner(draw(1, outputs=(2,))), "differ in their outputs: 1 and 2"),
        (lambda: draw(0) / 0, "divided by 0"),
        (lambda: draw(0)([[1.0]]), "known in 2 dimensions"),
    ],
)
def test_wrong_parts_are_refused(make, words):
    with pytest.raises(nimt.InvalidInput, match=words):
        make()


def steps_in_h(learner, f, goal, pool, lesson):
    """Return |f - f*|_H after every step, each by a double loop over all columns."""
    found = [(f - goal).norm()]
    for index, label in zip(lesson.indices.ravel(), lesson.labels.ravel(), strict=True):
        x = pool[index : index + 1]
        f = f - nimt.Expansion(learner.kernel, x, 2 * learner.learning_rate * (f(x) - label))
        found.append(np.sqrt(double_loop(f - goal, f - goal)))
    return found


def test_as_target_and_as_start_the_distance_in_h_is_exact_however_close_the_points():
    pool = np.linspace(0, 0.01, 30)[:, None]  # so close that a solve means nothing
    start, goal = draw(3, dimension=1), draw(4, dimension=1)
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.1, initial=start)
    with pytest.raises(IllConditioned):
        rkhs_distance(learner, goal.predict(pool), pool)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), pool, goal, measure="rkhs", tol=None, max_iterations=12)
    np.testing.assert_allclose(lesson.discrepancy, steps_in_h(learner, start, goal, pool, lesson), rtol=1e-9)
    back = nimt.KernelLearner(KERNEL, initial=goal)
    assert rkhs_distance(lesson.learner, back, pool) == pytest.approx(lesson.discrepancy[-1])


def test_a_start_over_another_kernel_is_a_start_like_any_other():
    start = draw(5, dimension=1, kernel=Matern(0.4))
    pool = np.linspace(-1, 1, 8)
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.1, initial=start)
    goal = nimt.KernelLearner(KERNEL, initial=start).partial_fit([[0.2]], [1.0])
    taught = goal.expand(KERNEL)[1]
    assert rkhs_distance(learner, goal, pool) == pytest.approx(taught.norm(), rel=1e-12)


def test_lessons_with_expansions_are_stored_and_resumed(tmp_path):
    start, goal = draw(6, dimension=1), draw(7, dimension=1)
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.1, initial=start)
    given = {"measure": "rkhs", "tol": None}
    whole = nimt.teach(learner, nimt.GreedyTeacher(), np.linspace(-1, 1, 9), goal, max_iterations=20, **given)
    half = nimt.teach(learner, nimt.GreedyTeacher(), np.linspace(-1, 1, 9), goal, max_iterations=10, **given)
    half.save(tmp_path / "half.npz")
    again = nimt.Lesson.load(tmp_path / "half.npz")
    assert again.learner.initial == start
    resumed = nimt.resume(tmp_path / "half.npz", max_iterations=20)
    np.testing.assert_array_equal(resumed.discrepancy, whole.discrepancy)


@pytest.mark.parametrize(("c", "intercept"), [(1.0, True), (4.0, True), (4.0, False), (0.0, False)])
def test_a_linear_learner_is_a_target_in_the_space_of_a_linear_kernel(c, intercept):
    weights = np.array([2.0, -1.0, 0.5] if intercept else [2.0, -1.0])
    goal = nimt.LinearLearner(weights, intercept=intercept)
    points = np.random.default_rng(0).uniform(-1, 1, (40, 2))  # the Gram matrix has rank 3
    learner = nimt.KernelLearner(linear(c), learning_rate=0.1)
    expected = np.sqrt(weights[0] ** 2 + weights[1] ** 2 + (weights[2] ** 2 / c if intercept else 0.0))
    assert rkhs_distance(learner, goal, points) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(goal.expand(linear(c))[1](points), goal.predict(points), atol=1e-12)
    assert rkhs_distance(learner, goal.predict(points), points) == pytest.approx(expected, rel=1e-6)


def test_a_linear_learner_with_an_intercept_is_not_in_the_space_without_a_constant():
    points = np.random.default_rng(0).uniform(-1, 1, (10, 1))
    with pytest.warns(OutsideOfSpaceWarning, match="is outside of the functions that linear"):
        found = rkhs_distance(nimt.KernelLearner(linear(0.0)), nimt.LinearLearner([2.0, 1.0]), points)
    nearest = np.linalg.lstsq(points, 2.0 * points[:, 0] + 1.0)[0]
    assert found == pytest.approx(abs(float(nearest[0])), rel=1e-9)


@pytest.mark.parametrize(
    "kernel", [linear(1.0), linear(2.0) ** 2, linear(0.0) + 3.0, linear(0.5) * linear(1.0)], ids=repr
)
def test_kernels_of_finite_rank_have_a_pseudo_inverse(kernel):
    rng = np.random.default_rng(1)
    points, errors = rng.uniform(-1, 1, (25, 2)), rng.normal(size=25)
    gram = kernel(points, points)
    assert np.linalg.matrix_rank(gram) <= kernel.rank(2) < 25
    with pytest.warns(OutsideOfSpaceWarning, match="of the others"):
        found = rkhs_distance(nimt.KernelLearner(kernel), errors, points)
    assert found == pytest.approx(np.sqrt(errors @ np.linalg.pinv(gram, rcond=1e-10) @ errors), rel=1e-7)


def test_the_distance_of_a_lesson_with_a_linear_kernel_falls_by_the_step_identity():
    points = np.random.default_rng(2).uniform(-1, 1, (30, 3))
    learner = nimt.KernelLearner(linear(1.0), learning_rate=0.1)
    goal = nimt.LinearLearner([1.0, -2.0, 0.5, 0.3])
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, goal, measure="rkhs", tol=None, max_iterations=15)
    f = np.zeros(30)
    gram = linear(1.0)(points, points)
    for t, index in enumerate(lesson.indices.ravel()):
        error = f[index] - goal.predict(points)[index]
        fallen = lesson.discrepancy[t] ** 2 - lesson.discrepancy[t + 1] ** 2
        assert fallen == pytest.approx(4 * 0.1 * (1 - 0.1 * gram[index, index]) * error**2, rel=1e-8, abs=1e-12)
        f -= 2 * 0.1 * error * gram[index]

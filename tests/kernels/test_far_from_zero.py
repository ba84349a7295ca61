"""Points far from zero, as timestamps are: every way to compute K keeps the digits of their differences."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern

import nimt
from nimt import theory

pytestmark = pytest.mark.long

FAR = 1.7e15  # microseconds since 1970; whole numbers are held exactly here
STEPS = np.arange(12.0)
KERNELS = {"rbf": nimt.rbf(1.7), "matern": Matern(1.3, nu=1.5), "wendland": nimt.Wendland(width=3.7)}
ENGINES = ["reference", "grid", "neighbours", "streamed"]


def waves(x):
    return np.sin(0.7 * x)


def teach(X, kernel, engine="auto", steps=300):
    learner = nimt.KernelLearner(kernel, learning_rate=0.4)
    return nimt.teach(learner, nimt.GreedyTeacher(), X, waves(STEPS), engine=engine, max_iterations=steps, tol=None)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.sampled(5)
def test_a_lesson_far_from_zero_is_the_lesson_at_zero(name, engine, sign):
    at_zero = teach(nimt.Grid(STEPS), KERNELS[name], engine)
    for X in [nimt.Grid(sign * FAR + STEPS)] + [sign * FAR + STEPS] * (engine != "grid"):
        lesson = teach(X, KERNELS[name], engine)
        assert lesson.engine == engine
        np.testing.assert_allclose(lesson.final, at_zero.final, rtol=0, atol=1e-12)
        np.testing.assert_allclose(lesson.learner.predict(X), lesson.final, rtol=0, atol=1e-12)
        between = np.array([0.5, 3.25, 10.75])  # held exactly too
        expected = at_zero.learner.predict(between)
        np.testing.assert_allclose(lesson.learner.predict(sign * FAR + between), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES[:1] + ENGINES[2:])
def test_only_the_axis_that_is_far_is_moved(engine):
    rng = np.random.default_rng(0)
    near = np.column_stack([rng.integers(0, 20, 60) / 4, rng.uniform(-1, 1, 60)])
    far = near + np.array([FAR, 0.0])
    target = np.sin(near[:, 0]) * near[:, 1]
    one, other = (
        nimt.teach(
            nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.4), nimt.GreedyTeacher(k=2), X, target, engine=engine,
            max_iterations=200, tol=None,
        )
        for X in (near, far)
    )  # fmt: skip
    np.testing.assert_allclose(other.final, one.final, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.learner.predict(far), one.learner.predict(near), rtol=0, atol=1e-12)


def test_other_learners_and_places_keep_the_digits():
    kernel = nimt.rbf(1.7)
    learner = nimt.learners.OrthogonalLearner(kernel)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), FAR + STEPS, waves(STEPS), max_iterations=8, tol=None)
    at_zero = nimt.teach(learner, nimt.GreedyTeacher(), STEPS, waves(STEPS), max_iterations=8, tol=None)
    np.testing.assert_allclose(lesson.final, at_zero.final, rtol=0, atol=1e-9)
    np.testing.assert_allclose(lesson.learner.predict(FAR + STEPS), lesson.final, rtol=0, atol=1e-9)

    box = nimt.Box([(FAR, FAR + 11)], points=12)
    lesson = nimt.teach(
        nimt.KernelLearner(kernel, learning_rate=0.4), nimt.GreedyTeacher(), box, lambda x: waves(x[:, 0] - FAR),
        max_iterations=50, tol=None,
    )  # fmt: skip
    np.testing.assert_allclose(lesson.learner.predict(box.grid), lesson.final, rtol=0, atol=1e-12)

    far, near = (
        nimt.GreedyKernelRegressor(width=1.7).fit(x[:, np.newaxis], waves(STEPS)) for x in (FAR + STEPS, STEPS)
    )
    expected = near.predict(STEPS[:, np.newaxis] + 0.5)
    np.testing.assert_allclose(far.predict((FAR + STEPS + 0.5)[:, np.newaxis]), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("engine", [nimt.RandomFeatures(components=2000), nimt.Nystroem(components=12)])
def test_approximations_keep_the_digits(engine):
    near, far = (teach(X, nimt.rbf(1.7), engine, steps=50) for X in (STEPS, FAR + STEPS))
    np.testing.assert_allclose(far.final, near.final, rtol=0, atol=1e-9)
    np.testing.assert_allclose(far.learner.predict(FAR + STEPS), far.final, rtol=0, atol=1e-9)


def test_theory_keeps_the_digits():
    lesson, at_zero = (teach(X, nimt.rbf(0.9), "reference", steps=20) for X in (FAR + STEPS, STEPS))
    np.testing.assert_allclose(theory.rkhs_distances(lesson), theory.rkhs_distances(at_zero), rtol=1e-9)


@pytest.mark.parametrize(
    ("axis", "words"),
    [
        ([1e15, 1e15 + 1, 1e15 + 3], "not uniform: .* is 1.0, the mean step 1.5"),
        (1.7e15 + np.array([0.0, 1, 2, 4, 5]), "not uniform: .* is 1.0, the mean step 1.25"),
        (np.linspace(1e12, 1e12 + 1, 11), "steps of about 0.1 at 1000000000000.0, .* subtract 1000000000000.0"),
        (-np.linspace(1e12, 1e12 + 1, 11), "steps of about -0.1"),
    ],
)
def test_an_axis_whose_numbers_cannot_hold_its_steps_is_refused(axis, words):
    with pytest.raises(nimt.InvalidInput, match=words):
        nimt.Grid(axis)

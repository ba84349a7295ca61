"""Lessons that end before the first step, and learners that were given a function without one."""

import numpy as np
import pytest

import nimt
from nimt import theory

POINTS = np.random.default_rng(0).uniform(-1, 1, size=(30, 2))
FRESH = np.random.default_rng(1).uniform(-1, 1, size=(7, 2))
KERNEL = nimt.rbf(0.5)

pytestmark = pytest.mark.long


def waves(points):
    return np.column_stack([np.sin(points[:, 0]), np.cos(points[:, 1])])


def half_of_waves(points):
    return 0.5 * waves(points)


STARTS = {"number": (0.25, lambda points: np.full((len(points), 2), 0.25)), "function": (half_of_waves, half_of_waves)}
LEARNERS = {
    "kernel": lambda start: nimt.KernelLearner(KERNEL, initial=start),
    "orthogonal": lambda start: nimt.learners.OrthogonalLearner(KERNEL, initial=start),
}
PLACES = {
    "points": POINTS,
    "grid": nimt.Grid(np.linspace(-1, 1, 6), np.linspace(-1, 1, 5)),
    "box": nimt.Box([(-1.0, 1.0), (-1.0, 1.0)]),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("kind", "place"), [*(("kernel", place) for place in PLACES), ("orthogonal", "points")])
def test_a_lesson_of_no_step_answers_with_all_outputs_of_the_start(kind, place, start, tmp_path):
    given, expected = STARTS[start]
    lesson = nimt.teach(
        LEARNERS[kind](given), nimt.GreedyTeacher(), PLACES[place], waves, max_iterations=0, tol=None, snapshots=[0],
        holdout=(FRESH, waves(FRESH)),
    )  # fmt: skip
    assert len(lesson) == 0
    np.testing.assert_array_equal(lesson.learner.predict(FRESH), expected(FRESH))
    off = np.sqrt(np.mean((expected(FRESH) - waves(FRESH)) ** 2))
    assert lesson.held_out.rms == pytest.approx(off)
    assert lesson.held_out_curve == {0: pytest.approx(off)}
    lesson.save(tmp_path / "lesson.npz")
    loaded = nimt.Lesson.load(tmp_path / "lesson.npz", allow=[half_of_waves])
    np.testing.assert_array_equal(loaded.learner.predict(FRESH), expected(FRESH))


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_learner_that_was_never_taught_answers_with_the_outputs_of_its_start(kind):
    np.testing.assert_array_equal(LEARNERS[kind](half_of_waves).predict(FRESH), half_of_waves(FRESH))


def test_a_lesson_of_no_step_binds_a_learner_to_no_number_of_outputs():
    lesson = nimt.teach(nimt.KernelLearner(KERNEL), nimt.GreedyTeacher(), POINTS, waves, max_iterations=0, tol=None)
    on = nimt.teach(lesson.learner, nimt.GreedyTeacher(), POINTS, waves(POINTS)[:, 0], max_iterations=3, tol=None)
    assert on.learner.predict(FRESH).shape == (7,)


def test_a_function_absorbed_without_a_step_is_kept():
    learner = nimt.KernelLearner(KERNEL)
    learner.absorb(POINTS[:3], np.array([1.0, -2.0, 0.5]), steps=0)
    expected = KERNEL(FRESH, POINTS[:3]) @ [1.0, -2.0, 0.5]
    np.testing.assert_allclose(learner.predict(FRESH), expected, rtol=1e-14)
    learner.absorb(POINTS[2:4], np.array([0.5, 3.0]), steps=0)
    np.testing.assert_allclose(learner.coefficients_, [1.0, -2.0, 1.0, 3.0])
    assert learner.steps_ == 0 and learner.rkhs_norm() > 0
    lesson = nimt.teach(nimt.KernelLearner(KERNEL), nimt.GreedyTeacher(), POINTS, learner, max_iterations=1, tol=1e-3)
    assert lesson.itd != 0 and lesson.target.any()


def test_the_distance_in_h_to_a_function_absorbed_without_a_step_is_its_norm():
    learner = nimt.KernelLearner(KERNEL)
    learner.absorb(POINTS[:3], np.array([1.0, -2.0, 0.5]), steps=0)
    assert theory.rkhs_distance(nimt.KernelLearner(KERNEL), learner) == pytest.approx(learner.rkhs_norm())


def test_the_bounds_of_a_lesson_of_no_step_speak_of_no_rate():
    lesson = nimt.teach(
        nimt.KernelLearner(KERNEL, learning_rate=0.1), nimt.GreedyTeacher(), POINTS, waves(POINTS)[:, 0],
        max_iterations=0, tol=None,
    )  # fmt: skip
    found = theory.bounds(lesson, epsilon=0.1)
    assert found.rate_within is None
    assert "nan" not in str(found)
    assert (
        found.sentences()[0]
        == "No step was taken, so no learning rate was used; 1 / (2 L M_K) = 0.25 (L = 2, M_K = 1)."
    )
    assert found.sentences()[-1] == "No step was taken, so S was measured nowhere."
    assert "the learning rate 0" not in str(theory.check(lesson).to_json())


def test_the_inequalities_of_a_lesson_of_no_step_are_not_said_to_hold():
    lesson = nimt.teach(
        nimt.KernelLearner(KERNEL),
        nimt.GreedyTeacher(),
        POINTS,
        half_of_waves(POINTS)[:, 0],
        tol=100.0,
        max_iterations=5,
    )
    told = theory.check(lesson).sentences()
    assert any("there is no step to check it at" in sentence for sentence in told)
    assert not any("held at" in sentence for sentence in told)

"""Approximations: close to the exact lesson, said to be what they are, and never chosen by themselves."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

import nimt
from nimt.operators import DenseOperator
from nimt.pools.pool import Points

POINTS = np.random.default_rng(0).random((300, 2)) * 4
TARGET = np.sin(POINTS[:, 0]) * np.cos(POINTS[:, 1])


def teach(engine, kernel=None, steps=400, **options):
    learner = nimt.KernelLearner(kernel or nimt.rbf(1.0), learning_rate=0.2)
    return nimt.teach(
        learner, nimt.GreedyTeacher(), POINTS, TARGET, max_iterations=steps, engine=engine, **{"tol": None} | options
    )


@pytest.mark.long
@pytest.mark.parametrize("kernel", [nimt.rbf(1.0), RBF([0.5, 2.0])])
def test_random_features_tend_to_the_kernel(kernel):
    pool = Points(POINTS)
    gram = DenseOperator(kernel, pool).gram
    errors = []
    for components in (100, 1600, 25600):
        approximate = nimt.RandomFeatures(components).kernel(kernel, pool)
        errors.append(np.abs(approximate(POINTS) - gram).mean())
    assert errors[1] < errors[0] / 2.5  # like 1 / sqrt(components): a fourth
    assert errors[2] < errors[1] / 2.5


@pytest.mark.long
def test_nystroem_with_every_point_is_the_exact_lesson():
    exact = teach("reference", kernel=Matern(1.0, nu=0.5))
    lesson = teach(nimt.Nystroem(300), kernel=Matern(1.0, nu=0.5))
    np.testing.assert_array_equal(lesson.indices, exact.indices)
    np.testing.assert_allclose(lesson.discrepancy, exact.discrepancy, rtol=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("kind", [nimt.RandomFeatures, nimt.Nystroem])
def test_more_components_come_closer_to_the_exact_lesson(kind):
    exact = teach("auto")
    away = [np.abs(teach(kind(components)).final - exact.final).mean() for components in (10, 250)]
    assert away[1] < away[0] / 2


def test_the_lesson_says_that_it_is_an_approximation_and_auto_never_takes_one():
    lesson = teach(nimt.RandomFeatures(50))
    assert lesson.engine == "random features (50), an approximation"
    assert "approximation" in repr(lesson)
    assert "approximation" not in teach("auto").engine
    plan = nimt.plan(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), POINTS, TARGET, engine=nimt.Nystroem(9))
    assert plan.engine == "Nystroem (9), an approximation"


def test_an_approximate_lesson_can_be_stopped_and_resumed(tmp_path):
    whole = teach(nimt.Nystroem(40))
    teach(nimt.Nystroem(40), checkpoint=tmp_path / "c", callback=lambda progress: progress.step > 3)
    resumed = nimt.resume(tmp_path / "c")
    np.testing.assert_array_equal(resumed.discrepancy, whole.discrepancy)
    assert resumed.engine == whole.engine


@pytest.mark.long
@pytest.mark.parametrize("engine", [nimt.RandomFeatures(60), nimt.Nystroem(40)], ids=lambda engine: engine.label)
def test_the_learner_that_comes_back_is_the_one_that_was_taught(engine, tmp_path):
    lesson = teach(engine, steps=2000)
    np.testing.assert_allclose(lesson.learner.predict(POINTS), lesson.final, rtol=0, atol=1e-12)
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson").learner
    np.testing.assert_array_equal(kept.predict([[0.3, 0.4]]), lesson.learner.predict([[0.3, 0.4]]))


def test_what_cannot_be_approximated_is_refused():
    with pytest.raises(nimt.InvalidInput, match=r"known for the RBF kernel, not for Matern"):
        teach(nimt.RandomFeatures(), kernel=Matern())
    with pytest.raises(nimt.InvalidInput, match="at most the 300 points of the pool, got 301"):
        teach(nimt.Nystroem(301))
    with pytest.raises(nimt.InvalidInput, match="components must be a whole number >= 1, got 0"):
        nimt.Nystroem(0)
    with pytest.raises(nimt.InvalidInput, match="LinearLearner has none"):
        nimt.teach(nimt.LinearLearner([0.0, 0.0, 0.0]), nimt.GreedyTeacher(), POINTS, TARGET, max_iterations=1,
                   engine=nimt.Nystroem(9))  # fmt: skip


def test_a_learner_taught_on_part_of_the_pool_knows_most_of_the_rest():
    part, target = nimt.operators.subsample(POINTS, TARGET, 100, seed=1)
    learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.2)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), part, target, max_iterations=2000, tol=None)
    assert len(lesson.pool) == 100
    error = np.sqrt(np.mean((lesson.learner.predict(POINTS) - TARGET) ** 2))
    assert error < 0.1 * np.sqrt(np.mean(TARGET**2))
    with pytest.raises(nimt.InvalidInput, match="at most the 300 points"):
        nimt.operators.subsample(POINTS, TARGET, 301)

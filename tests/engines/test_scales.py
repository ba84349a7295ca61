"""The discrepancy is right at every scale, whether it falls, rises, or rises and falls again."""

import numpy as np
import pytest

import nimt

pytestmark = pytest.mark.long

ENGINES = ["grid", "neighbours", "streamed"]
X = nimt.Grid(np.arange(12.0))
SHAPE = np.sin(np.arange(12.0)) + 0.3


def teach(engine, scale, teacher=None, steps=60, **options):
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate=0.3)
    return nimt.teach(
        learner,
        teacher or nimt.GreedyTeacher(),
        X,
        scale * SHAPE,
        max_iterations=steps,
        engine=engine,
        **{"tol": None} | options,
    )


@pytest.mark.parametrize("engine", ["reference", *ENGINES])
@pytest.mark.parametrize("exponent", [-300, -200, -160, -155, -20, 0, 20, 150, 200, 300])
@pytest.mark.parametrize("k", [1, 3, 1.0])
@pytest.mark.sampled(5)
def test_a_lesson_scales_with_its_target(engine, exponent, k):
    plain = teach("reference", 1.0, nimt.GreedyTeacher(k=k))
    lesson = teach(engine, 2.0 ** round(exponent * np.log2(10)), nimt.GreedyTeacher(k=k))  # a power of two is exact
    scale = 2.0 ** round(exponent * np.log2(10))
    np.testing.assert_array_equal(lesson.indices, plain.indices)
    np.testing.assert_allclose(lesson.discrepancy / scale, plain.discrepancy, rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_where_it_rises_and_falls_again_the_itd_is_that_of_the_plain_loop(engine):
    x, y = nimt.Grid(np.arange(4.0)), np.array([1e-3, -1e-3, 1e-3, -1e-3])
    learner = nimt.KernelLearner(nimt.rbf(0.1), learning_rate=0.45)
    teacher = nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(np.full(4, 900.0), 0.2))
    rules = {"max_iterations": 1000, "tol": 1e-6}
    for seed in range(40):
        plain, fast = (
            nimt.teach(learner, teacher, x, y, seed=seed, engine=name, **rules) for name in ("reference", engine)
        )
        assert fast.itd == plain.itd
        np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-7)


@pytest.mark.parametrize("engine", ["grid", "neighbours"])
def test_a_long_lesson_ends_where_the_exact_sum_ends(engine):
    lesson = teach(engine, 1.0, nimt.RandomTeacher(), steps=20_000, tol=1e-12)
    assert lesson.outcome is nimt.lesson.Outcome.CONVERGED
    exact = np.sqrt(np.sum((lesson.final - lesson.target) ** 2)) / 12
    assert exact < 1e-12
    assert lesson.discrepancy[-1] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("engine", ["reference", "grid", "neighbours"])
def test_labels_are_made_down_to_exact_zeros(engine):
    learner = nimt.KernelLearner(nimt.rbf(0.9), learning_rate="auto", initial=SHAPE)
    lesson = nimt.teach(learner, nimt.SynthesisTeacher(), X, np.zeros(12), max_iterations=3000, tol=None, engine=engine)
    assert np.isfinite(lesson.discrepancy).all()
    assert lesson.discrepancy[-1] < 1e-100

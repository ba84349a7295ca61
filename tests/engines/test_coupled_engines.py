"""Cross-entropy on the compiled engines: the lesson of the plain loop, stopped and resumed, and what is left to it."""

import numpy as np
import pytest

import nimt

pytestmark = pytest.mark.long

GRID = nimt.Grid(np.arange(11) * 0.9, np.arange(13) * 1.0)
SCATTERED = np.random.default_rng(0).random((90, 2)) * 6
TOLD = {"loss": "crossentropy", "kernel": nimt.rbf(0.7)}
TEACHERS = {
    "residual": nimt.GreedyTeacher(),
    "loss": nimt.GreedyTeacher(score="loss", loss="crossentropy"),
    "pack by loss": nimt.GreedyTeacher(k=5, score="loss", loss="crossentropy"),
    "gradient": nimt.GreedyTeacher(score="gradient", norm=1, **TOLD),
    "large pack by gradient": nimt.GreedyTeacher(k=0.5, score="gradient", **TOLD),
    "whole": nimt.GreedyTeacher(k=1.0),
    "random": nimt.RandomTeacher(k=2),
}


def teach(teacher, engine, X=GRID, q=3, **options):
    n = len(X)
    rng = np.random.default_rng(q)
    labels, start = np.eye(q)[rng.integers(q, size=n)], 0.3 * rng.normal(size=(n, q))
    learner = nimt.KernelLearner(nimt.rbf(0.7), loss="crossentropy", learning_rate=0.5, initial=start)
    return nimt.teach(
        learner, teacher, X, labels, engine=engine, **{"max_iterations": 60, "tol": None, "seed": 1} | options
    )


@pytest.mark.filterwarnings(
    "ignore::nimt.errors.TeacherWarning"
)  # two of them choose by |f - f*|, which is not advised
@pytest.mark.parametrize("X", [GRID, SCATTERED], ids=["grid", "points"])
@pytest.mark.parametrize("name", TEACHERS)
@pytest.mark.sampled(2)
def test_every_engine_equals_the_plain_loop(name, X):
    plain = teach(TEACHERS[name], "reference", X)
    for engine in ("grid", "neighbours", "streamed") if X is GRID else ("neighbours", "streamed"):
        fast = teach(TEACHERS[name], engine, X)
        assert fast.engine == engine and fast.outcome is plain.outcome
        np.testing.assert_array_equal(fast.indices, plain.indices)
        np.testing.assert_array_equal(fast.labels, plain.labels)
        np.testing.assert_allclose(fast.discrepancy, plain.discrepancy, rtol=1e-9)
        np.testing.assert_allclose(fast.final, plain.final, rtol=0, atol=1e-11)


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("name", ["loss", "large pack by gradient"])
def test_a_resumed_lesson_is_bit_identical(name, tmp_path):
    whole = teach(TEACHERS[name], "grid")
    stopped = teach(TEACHERS[name], "grid", checkpoint=tmp_path / "c", callback=lambda progress: progress.step > 9)
    assert stopped.outcome is nimt.lesson.Outcome.STOPPED
    resumed = nimt.resume(tmp_path / "c")
    for column in ("indices", "discrepancy", "final"):
        np.testing.assert_array_equal(getattr(resumed, column), getattr(whole, column))


def test_what_is_left_to_the_plain_loop():
    class Softer(nimt.losses.CrossEntropy):
        def slope(self, f, y):
            return 0.5 * super().slope(f, y)

    labels = np.eye(3)[np.arange(len(GRID)) % 3]
    by_loss = nimt.GreedyTeacher(score="loss", loss="crossentropy")
    for loss, measure, engine in [
        ("crossentropy", "rms", "grid"),
        ("crossentropy", "accuracy", "reference"),
        (Softer(), "rms", "reference"),
    ]:
        learner = nimt.KernelLearner(nimt.rbf(0.7), loss=loss, learning_rate=0.5)
        assert nimt.plan(learner, by_loss, GRID, labels, measure=measure).engine == engine

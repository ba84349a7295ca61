"""A teacher's score written as one function runs in the compiled engines, and is that of the reference loop."""

import numpy as np
import pytest

import nimt
from nimt.plain_numba import PLAIN_NUMBA

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(PLAIN_NUMBA, reason="plain numba calls no function by its address"),
]

RNG = np.random.default_rng(3)
POOLS = {"grid": nimt.Grid(np.arange(60) * 0.3), "neighbours": RNG.random((90, 2)) * 5}
TARGETS = {name: RNG.normal(size=len(pool)) for name, pool in POOLS.items()}
KERNEL = 2.0 * nimt.rbf(0.3)


@nimt.compiled
def cautious(f, y, kappa):
    return abs(f - y) * kappa - 0.3 * (f - y) ** 2 + 0.01 * y


def give(name, engine, teacher, target=None, **options):
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.1)
    y = TARGETS[name] if target is None else target
    return nimt.teach(learner, teacher, POOLS[name], y, max_iterations=150, tol=None, engine=engine, **options)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("name", POOLS)
def test_a_compiled_score_chooses_the_same_on_every_engine(name, outputs, k):
    teacher = nimt.GreedyTeacher(k=k, score=cautious, kernel=KERNEL)
    y = TARGETS[name]
    target = y if outputs == 1 else np.stack([y, np.sin(y[::-1]), np.cos(y[::-1])], axis=1)
    expected = give(name, "reference", teacher, target)
    for engine in (name, "streamed"):
        lesson = give(name, engine, teacher, target)
        np.testing.assert_array_equal(lesson.indices, expected.indices)
        np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)
    first = cautious.of(np.zeros(target.shape), target, np.full(target.shape, 2.0))
    total = first if outputs == 1 else first.sum(axis=1)
    assert expected.indices[0].tolist() == np.sort(np.argsort(-total, kind="stable")[:k]).tolist()


def test_without_a_kernel_kappa_is_one_and_the_fast_engine_runs():
    lesson = give("grid", "auto", nimt.GreedyTeacher(score=cautious))
    assert lesson.engine == "grid"
    assert lesson.indices[0, 0] == np.argmax(cautious.of(np.zeros(60), TARGETS["grid"], np.ones(60)))


def test_a_lesson_with_it_is_stored_by_its_name(tmp_path):
    lesson = give("grid", "auto", nimt.GreedyTeacher(score=cautious))
    lesson.save(tmp_path / "lesson.npz")
    again = nimt.Lesson.load(tmp_path / "lesson.npz", allow=[cautious])
    np.testing.assert_array_equal(again.indices, lesson.indices)
    assert nimt.GreedyTeacher(score=cautious).name == "GFT-1 (cautious)"


def test_what_cannot_be_a_score_is_refused():
    def pair(f, y, kappa):
        return f, y

    def failing(f, y, kappa):
        raise ValueError

    with pytest.raises(nimt.InvalidInput, match="pair cannot be compiled: it must take three numbers"):
        nimt.compiled(pair)
    with pytest.raises(nimt.InvalidInput, match=r"failing raises exceptions.* where the score is not defined"):
        nimt.compiled(failing)
    with pytest.raises(nimt.InvalidInput, match=r"or a score of yours by nimt\.compiled, got"):
        nimt.GreedyTeacher(score=lambda f, y, kappa: f)

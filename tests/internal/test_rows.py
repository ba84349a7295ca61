"""Greedy lessons on grids that are computed row by row: those of the reference loop, to the last bit of f."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from nimt.engines import row_engine as rows
from nimt.engines.row_engine import RowsEngine
from nimt.engines.sparse_engine import SparseEngine

pytestmark = pytest.mark.long


def taught(shape, engine, outputs=(), teacher=None, steps=150, width=0.8):
    """Return a lesson and the engine that ran it."""
    target = np.random.default_rng(5).normal(size=(*shape, *outputs))
    ran = []
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(width), learning_rate=0.2), teacher or nimt.GreedyTeacher(),
        nimt.Grid.like(np.zeros(shape)), target, max_iterations=steps, tol=None, engine=engine,
        callback=lambda progress: ran.append(progress.engine),
    )  # fmt: skip
    return lesson, ran[-1]


def assert_same(one, other):
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.final, other.final)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.discrepancy, other.discrepancy, rtol=1e-9)


@pytest.mark.parametrize("outputs", [(), (3,)], ids=["one output", "three outputs"])
@pytest.mark.parametrize("shape", [(5,), (9,), (61,), (3, 60), (13, 10), (5, 6, 7), (2, 3, 4, 6)], ids=str)
def test_grids_that_do_not_fill_their_rows_and_tiles(shape, outputs):
    lesson, engine = taught(shape, "grid", outputs)
    assert type(engine) is RowsEngine
    assert_same(lesson, taught(shape, "reference", outputs)[0])


@pytest.mark.parametrize("shape", [(30, 1), (20, 4)], ids=str)
def test_short_last_axes_are_computed_point_by_point(shape):
    lesson, engine = taught(shape, "grid")
    assert type(engine) is SparseEngine
    assert_same(lesson, taught(shape, "reference")[0])


@pytest.mark.parametrize("shape", [(700,), (30, 31), (9, 9, 9)], ids=str)
def test_fetching_what_the_second_best_needs_changes_nothing(shape, monkeypatch):
    expected, engine = taught(shape, "grid", steps=400)
    assert engine.ahead is None
    monkeypatch.setattr(rows, "CACHED", 0)
    lesson, engine = taught(shape, "grid", steps=400)
    assert engine.ahead is not None
    assert_same(lesson, expected)
    np.testing.assert_array_equal(lesson.discrepancy, expected.discrepancy)


def test_points_that_may_not_be_shown_and_padding_are_never_chosen():
    """On a part of the pool most rows have lanes that may not win, at its end with zeros among them."""
    teacher = nimt.GreedyTeacher(pool=0.3)
    lesson, _ = taught((11, 13), "grid", teacher=teacher, steps=400)
    assert_same(lesson, taught((11, 13), "reference", teacher=teacher, steps=400)[0])


def test_a_target_that_is_reached_ties_everywhere():
    target = np.zeros((11, 13))
    target[10, 12] = 1.0
    lessons = [
        nimt.teach(
            nimt.KernelLearner(nimt.rbf(0.1), learning_rate=0.5), nimt.GreedyTeacher(), nimt.Grid.like(target), target,
            max_iterations=3, tol=None, engine=engine,
        )
        for engine in ("grid", "reference")
    ]  # fmt: skip
    assert_same(*lessons)
    assert lessons[0].outcome is lessons[1].outcome
    assert lessons[0].discrepancy[-1] == 0.0

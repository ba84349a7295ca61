"""Greedy lessons on grids in which steps wait for tiles: those of the other engines, to the last bit of f."""

from __future__ import annotations

import numpy as np
import pytest

import nimt
from nimt.engines import choice
from nimt.engines.codes import LANES, TILE
from nimt.engines.row_engine import RowsEngine
from nimt.engines.tile_engine import TilesEngine
from nimt.engines.tile_layout import ROUNDED, lay_out_window
from nimt.operators.grid import GridOperator, tile_sides

pytestmark = pytest.mark.long

SHAPES = [(61,), (900,), (3, 60), (30, 31), (21, 40), (9, 9, 11), (3, 4, 5, 8)]


class Wave(type(nimt.rbf(1.0))):
    """A Gaussian times a cosine along each axis: below zero at some distances."""

    def __call__(self, x, other=None):
        return super().__call__(x, other) * np.prod(
            np.cos((x[:, np.newaxis] - (x if other is None else other)) / 2), axis=2
        )


@pytest.fixture(autouse=True)
def take_tiles(monkeypatch):
    monkeypatch.setattr(choice, "is_wide", lambda reached, n: True)


def taught(shape, engine="grid", kernel=None, teacher=None, target=None, loss="square", rate=0.2, **options):
    """Return a lesson and the engine that ran it."""
    y = np.random.default_rng(5).normal(size=shape) if target is None else target
    ran = []
    lesson = nimt.teach(
        nimt.KernelLearner(kernel or nimt.rbf(2.0), learning_rate=rate, loss=loss), teacher or nimt.GreedyTeacher(),
        nimt.Grid.like(np.zeros(shape)), y, engine=engine,
        callback=lambda progress: ran.append(progress.engine), **{"max_iterations": 300, "tol": None} | options,
    )  # fmt: skip
    return lesson, ran[-1] if ran else None


def taught_by_rows(monkeypatch, *given, **options):
    with monkeypatch.context() as patched:
        patched.setattr(choice, "is_wide", lambda reached, n: False)
        lesson, engine = taught(*given, **options)
    assert engine is None or type(engine) is RowsEngine
    return lesson


def assert_same(lesson, expected, exactly=True):
    assert lesson.outcome is expected.outcome
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_array_equal(lesson.labels, expected.labels)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-12)
    np.testing.assert_allclose(lesson.final, expected.final, rtol=0, atol=0 if exactly else 1e-12)
    np.testing.assert_array_equal(lesson.learner.coefficients_, expected.learner.coefficients_)


@pytest.mark.parametrize("width", [0.8, 3.0, 20.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_grid_gives_the_lesson_of_rows_and_of_the_reference_loop(shape, width, monkeypatch):
    lesson, engine = taught(shape, kernel=nimt.rbf(width))
    assert type(engine) is TilesEngine
    assert_same(lesson, taught_by_rows(monkeypatch, shape, kernel=nimt.rbf(width)))
    reference, _ = taught(shape, "reference", kernel=nimt.rbf(width))
    np.testing.assert_array_equal(lesson.indices, reference.indices)
    np.testing.assert_allclose(lesson.discrepancy, reference.discrepancy, rtol=1e-9)


NOISE = np.random.default_rng(7).normal(size=(30, 31))
SMOOTH = np.add.outer(np.sin(np.arange(30) / 5), np.cos(np.arange(31) / 7))
OTHER = nimt.teachers.AlternativeLabels(-NOISE, probability=0.3)
WAYS = {
    "another kernel": {"kernel": nimt.kernels.Matern(2.0, nu=1.5)},
    "a kernel that is no product": {"kernel": nimt.kernels.RationalQuadratic(3.0, alpha=1.0)},
    "a kernel with values below zero": {"kernel": Wave(5.0)},
    "K(x, x) of 7": {"kernel": 7.0 * nimt.rbf(3.0), "rate": 0.02},
    "a width for each axis": {"kernel": nimt.rbf([1.0, 5.0])},
    "another loss": {"loss": nimt.losses.Huber(0.4)},
    "a smooth target": {"target": SMOOTH},
    "errors that are all equal": {"target": np.ones((30, 31))},
    "nothing to learn": {"target": np.zeros((30, 31))},
    "some candidates": {"teacher": nimt.GreedyTeacher(pool=0.3)},
    "other labels": {"teacher": nimt.GreedyTeacher(labels=OTHER)},
    "a tolerance": {"target": SMOOTH, "tol": 0.02, "max_iterations": 3000},
    "a tolerance that one step reaches": {"target": SMOOTH, "tol": 0.9},
    "patience": {"patience": 7, "loss": "absolute", "max_iterations": 3000},
    "a rate that falls": {"rate": lambda step: 0.5 / (1 + step)},
    "stationary": {"stop_when_stationary": 0.05, "target": SMOOTH, "max_iterations": 3000},
    "at rest": {"loss": "hinge", "target": np.sign(NOISE), "max_iterations": 3000},
    "numbers near the smallest": {"target": 2.0**-1000 * NOISE},
    "numbers near the largest": {"target": 2.0**1000 * NOISE},
    "a rate of 1 on one point": {"target": np.eye(30, 31), "rate": 1.0},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_the_lesson_of_rows(way, monkeypatch):
    given = {"target": NOISE} | WAYS[way]
    lesson, engine = taught((30, 31), **given)
    assert type(engine) is TilesEngine or len(lesson) == 0
    assert_same(lesson, taught_by_rows(monkeypatch, (30, 31), **given))


@pytest.mark.filterwarnings("ignore::nimt.errors.StepSizeWarning")
@pytest.mark.parametrize("rate", [3.0, 1e3, 1e200])
def test_a_lesson_that_diverges_ends_at_the_same_step(rate, monkeypatch):
    lesson, _ = taught((30, 31), rate=rate)
    assert lesson.outcome is nimt.lesson.Outcome.DIVERGED
    expected = taught_by_rows(monkeypatch, (30, 31), rate=rate)
    np.testing.assert_array_equal(lesson.indices, expected.indices)
    np.testing.assert_allclose(lesson.discrepancy, expected.discrepancy, rtol=1e-9)


@pytest.mark.parametrize("every", [1, 7, 64, 100])
def test_where_a_chunk_ends_changes_nothing(every):
    whole, _ = taught((30, 31))
    learner = nimt.KernelLearner(nimt.rbf(2.0), learning_rate=0.2)
    target = np.random.default_rng(5).normal(size=(30, 31))
    session = nimt.steps(
        learner, nimt.GreedyTeacher(), nimt.Grid.like(target), target, engine="grid", max_iterations=300, tol=None
    )
    while session.step < 300:
        session.advance(min(every, 300 - session.step))
    lesson = session.lesson
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(lesson.final, whole.final)
    np.testing.assert_array_equal(lesson.learner.coefficients_, whole.learner.coefficients_)


def test_a_resumed_lesson_is_bit_identical(tmp_path, every_step):
    path = tmp_path / "stopped.npz"
    whole, _ = taught((30, 31))
    target = np.random.default_rng(5).normal(size=(30, 31))
    nimt.teach(
        nimt.KernelLearner(nimt.rbf(2.0), learning_rate=0.2), nimt.GreedyTeacher(), nimt.Grid.like(target), target,
        max_iterations=300, tol=None, checkpoint=path, callback=lambda progress: progress.step >= 111,
    )  # fmt: skip
    lesson = nimt.resume(path)
    np.testing.assert_array_equal(lesson.discrepancy, whole.discrepancy)
    np.testing.assert_array_equal(lesson.final, whole.final)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bounds_hold_what_a_step_adds_to_a_tile(shape):
    operator = GridOperator(Wave(3.0), nimt.Grid.like(np.zeros(shape)))
    tiles = lay_out_window(operator)
    sides = tile_sides(shape, TILE, LANES)
    counts, width = tiles.counts, 2 * tiles.ends + 1
    rng = np.random.default_rng(0)
    for index in rng.integers(np.prod(shape), size=5):
        column = operator.column(int(index)).reshape(shape)
        here = np.array(np.unravel_index(index, shape))
        within = np.ravel_multi_index(tuple(here % sides), sides)
        for tile in np.ndindex(*counts):
            offset = np.array(tile) - here // sides + tiles.ends
            cells = column[tuple(slice(t * s, (t + 1) * s) for t, s in zip(tile, sides, strict=True))]
            if np.any(offset < 0) or np.any(offset >= width):
                assert not np.any(cells)
                continue
            place = within * np.prod(width) + np.ravel_multi_index(tuple(offset), tuple(width))
            assert tiles.low[place] <= cells.min() and cells.max() <= tiles.high[place]
            whole = cells.size == TILE
            if whole and cells.min() > 0:  # and they are as near as rounding allows
                assert tiles.high[place] <= cells.max() * (1 + 2 * ROUNDED)
                assert tiles.low[place] >= cells.min() * (1 - 2 * ROUNDED)


def test_only_steps_that_reach_many_points_wait(monkeypatch):
    monkeypatch.undo()
    for width, kind in ((1.0, RowsEngine), (6.0, TilesEngine)):
        learner, grid = nimt.KernelLearner(nimt.rbf(width)), nimt.Grid.like(np.zeros((60, 60)))
        session = nimt.steps(learner, nimt.GreedyTeacher(), grid, np.ones(3600), max_iterations=5)
        assert type(session.engine) is kind
        assert session.task.plan.engine == "grid"


def test_several_outputs_and_made_labels_go_by_rows():
    pairs = np.random.default_rng(0).normal(size=(30, 31, 2))
    assert type(taught((30, 31), target=pairs)[1]) is RowsEngine
    assert type(taught((30, 31), teacher=nimt.SynthesisTeacher(label_range="target"))[1]) is RowsEngine

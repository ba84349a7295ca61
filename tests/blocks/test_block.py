"""A block of a grid: it is laid out, scored and taught in compiled code as an engine would do it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.blocks.oracle_of_blocks import blocks_of_grid, parts_of_grid, teach_by_loops

import nimt
from nimt.blocks import row_block
from nimt.blocks.block_task import BlockTask, make_partition
from nimt.blocks.engine_block import EngineBlock
from nimt.blocks.orders import Orders
from nimt.blocks.row_block import RowBlock
from nimt.blocks.targets import ArrayTarget
from nimt.kernels import CUT
from nimt.measures import as_measure

KERNEL = nimt.Wendland(1.5)


def rough(shape):
    return np.round(np.random.default_rng(0).normal(size=shape), 1)  # with ties


def task_of(y, *, records=True):
    cut = make_partition(nimt.Grid.like(y), 2, KERNEL)
    scale = 1.0 / math.sqrt(y.size)
    learner = nimt.KernelLearner(KERNEL, learning_rate=0.2)
    return BlockTask(cut, learner, ArrayTarget(y), as_measure("rms"), scale, None, None, records)


@pytest.mark.parametrize("shape", [(20, 18), (40,), (6, 10, 9)])
def test_a_block_of_rows_shows_what_an_engine_shows(shape):
    task = task_of(rough(shape))
    rows, engine = RowBlock(task, 1), EngineBlock(task, 1)
    values = np.random.default_rng(1).normal(size=len(rows.patches()[0]))
    for turn, share in enumerate((0.8, 0.4, 0.2), 1):
        orders = Orders(turn, share * rows.top, math.inf, math.inf, 10_000, ())
        patches = {0: values} if turn == 2 else {}
        report, sent = rows.take_turn(orders, patches)
        expected, also_sent = engine.take_turn(orders, patches)
        assert (report.shown, report.top, report.code) == (expected.shown, expected.top, expected.code)
        assert report.change == pytest.approx(expected.change, rel=1e-12)
        assert np.array_equal(sent[0], also_sent[0])
    assert sum(rows.lengths) > 20
    assert np.array_equal(rows.values, engine.values)
    assert np.array_equal(rows.coefficients, engine.coefficients)
    assert all(np.array_equal(a, b) for a, b in zip(rows.join_record()[:2], engine.join_record()[:2], strict=True))
    assert rows.measure() == engine.measure()


@pytest.mark.parametrize("shape", [(20, 18), (40,), (6, 10, 9)])
def test_a_block_goes_on_from_its_checkpoint_to_the_last_bit(shape):
    task = task_of(rough(shape))
    one, other = RowBlock(task, 0), RowBlock(task, 0)
    one.take_turn(Orders(1, 0.5 * one.top, math.inf, math.inf, 10_000, ()), {})
    other.restore(one.state())
    orders = Orders(2, 0.2 * one.top, math.inf, math.inf, 10_000, ())
    assert one.take_turn(orders, {})[0] == other.take_turn(orders, {})[0]
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.node_bits, other.node_bits)


@pytest.fixture
def small_parts(monkeypatch):
    """Make a part one tile of 64 cells, so that small blocks have several."""
    monkeypatch.setattr(row_block, "PART", 1)
    row_block.lay_out_block.cache_clear()
    yield
    row_block.lay_out_block.cache_clear()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("shape", "counts"), [((44, 25), (2, 1)), ((300,), (2,)), ((8, 18, 12), (1, 2, 1))])
def test_the_parts_of_a_block_are_taught_in_their_order(shape, counts):
    y = rough(shape)
    grid, learner = nimt.Grid.like(y), nimt.KernelLearner(KERNEL, learning_rate=0.2)
    lesson = nimt.teach(
        learner, nimt.GreedyTeacher(), grid, y, engine=nimt.Blocks(counts, share=0.7), tol=0.4, measure="rms"
    )
    owners, colours = blocks_of_grid(shape, counts)
    parts = parts_of_grid(shape, counts, reach=1, tiles=1)
    assert max(len(own) for own in parts) > 2
    shown, f = teach_by_loops(
        y.ravel(), grid.points, owners, colours, KERNEL, 0.2, tol=0.4, share=0.7, cut=CUT, parts=parts
    )
    assert lesson.indices[:, 0].tolist() == shown
    assert np.abs(lesson.final - f).max() < 1e-12


def test_numbers_that_cannot_be_summed_are_refused():
    with pytest.raises(nimt.InvalidInput, match="too large to be subtracted and summed"):
        RowBlock(task_of(np.full((20, 18), 1e200)), 0)

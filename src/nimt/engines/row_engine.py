"""The engine for one greedy example per step on a grid, which computes with whole rows of cells."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.arranging import (
    BLOCK,
    ArrangedEngine,
    Order,
    grid_order,
    line_aligned,
    norm_of_outputs,
    tournament_levels,
)
from nimt.engines.codes import FAN, LANES
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.row_steps import by_rows
from nimt.engines.parts import LARGEST_POOL
from nimt.learners.kernel_pupils import KernelPupil
from nimt.operators.grid import GridOperator, lay_out_tiles, pool_layout
from nimt.task.task import Task

Whole = NDArray[np.int64]

CACHED = 2**20  # bytes of an array up to which all of them are in the cache of a core
SEARCHED = 64  # nodes of the tournament among which the second best is looked for


class RowsEngine(ArrangedEngine):
    """Show the point with the largest |f - f*|, one per step, on a grid.

    The grid is laid out tile by tile, a tile as rows of 8 cells. A step computes whole rows at once, and so finds
    the largest score of each; a tournament over the rows has the largest of all.
    """

    order: Order
    places: dict[int, NDArray[np.intp]]
    y: Array
    other: Array | None

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator) -> None:
        super().__init__(task, pupil)
        self.name: str = operator.name
        self.height: float = operator.height
        self.lanes = LANES
        # outputs and their norm as the lengths of tuples: so the compiler knows them
        self.widths: tuple[tuple[int, ...], ...] = (self.outputs, (0,) * (self.norm if len(self.outputs) > 1 else 0))
        layout = (lay_out_small if len(task.pool) <= BLOCK else lay_out_rows)(task.pool.shape)
        self.order, self.places = layout.order, layout.places
        self.levels: Whole = layout.levels
        slots = len(self.order)
        window = (operator.lead, operator.first, operator.start, operator.space_out(self.lanes))
        here = np.zeros(task.pool.dimension - 1, np.int64)
        self.grid: tuple[NDArray[np.generic], ...] = (*layout.grid, here, *window)
        self.node_bits: Whole = line_aligned(int(self.levels[-1]), np.dtype(np.int64))
        self.node_index: NDArray[np.int32] = line_aligned(int(self.levels[-1]), np.dtype(np.int32))
        self.ahead: int | None = None
        if (
            8 * len(self.outputs) * slots > CACHED
        ):  # levels get smaller towards the root: the first that one look can search
            self.ahead = int(np.argmax(np.diff(self.levels) <= SEARCHED))
        self.moves: Array = np.zeros(len(self.outputs))
        self.change: Array = line_aligned(self.lanes, np.dtype(np.float64))
        rows = operator.cells // self.lanes + 2 * len(operator.first)  # that the runs of the window may touch at most
        self.touched: Whole = np.zeros(rows, dtype=np.int64)
        self.forbidden: Whole | None = self.place_forbidden()
        self.y = self.place_target()
        self.other = None if task.other_target is None else self.place(task.other_target)
        start = self.take_over()
        if self.makes_labels:
            self.make_labels_by(slots, self.largest_score)
        self.begin(start)

    @property
    def largest_score(self) -> float:
        return max(0.0, float(self.node_bits[self.levels[-2]].view(np.float64)))

    def find_scores(self) -> None:
        self.node_bits[:] = -1
        with np.errstate(invalid="ignore", over="ignore"):  # a learner may have diverged
            for low in range(0, len(self.order), BLOCK):
                self._find_best_of_rows(low, min(low + BLOCK, len(self.order)))
        for down, up in zip(self.levels[:-2], self.levels[1:-1], strict=True):
            bits, indices = self.node_bits[down:up].reshape(-1, FAN), self.node_index[down:up].reshape(-1, FAN)
            top, nodes = bits.max(axis=1), slice(up, up + len(bits))
            self.node_bits[nodes] = top
            self.node_index[nodes] = np.where(bits == top[:, np.newaxis], indices, LARGEST_POOL).min(axis=1)

    def _find_best_of_rows(self, low: int, high: int) -> None:
        """Write the largest score of each row of some slots, and its index in the pool, as a step does."""
        q = len(self.outputs)
        values = slice(low * q, high * q)
        sizes = norm_of_outputs((self.f[values] - self.y[values]).reshape(-1, q, self.lanes), self.norm)
        bits = np.ascontiguousarray(sizes).view(np.int64)
        if self.forbidden is not None:
            bits |= self.forbidden[low:high].reshape(-1, self.lanes)
        order = self.order[low:high].reshape(-1, self.lanes)
        lane = bits.argmax(axis=1)  # the first of equal ones
        rows = slice(low // self.lanes, high // self.lanes)
        filled = order[:, 0] < len(self.task.pool)
        every = np.arange(len(lane))
        self.node_bits[rows] = np.where(filled, bits[every, lane], -1)
        self.node_index[rows] = order[every, lane]

    def run(self, batch: StepBatch) -> tuple[int, int]:
        root = int(self.levels[-2])
        taken, code = by_rows(
            self.grid, self.lanes, self.ahead, self.step, self.discrepancy, self.making, self.forbidden, self.height,
            self.functions, self.quick_loss, self.delta, *self.widths, self.levels, (root, root + 1), self.node_bits,
            self.node_index, self.touched, self.moves, self.change, self.sums, self.rules, batch,
        )  # fmt: skip
        return int(taken), int(code)

    def let_go(self) -> None:
        super().let_go()
        self.grid = ()
        self.forbidden = None
        self.node_bits = np.empty(0, np.int64)
        self.node_index = np.empty(0, np.int32)


class RowLayout(NamedTuple):
    """Where the cells of a grid of one shape lie; engines share it, and none writes to it.

    Attributes
    ----------
    grid : shape, strides and tables for compiled code
    order : array (slots,) of int
    levels : array of int
        Of the tournament over the rows.
    places : dict
        Filled by `ArrangedEngine`.
    """

    grid: tuple[NDArray[np.generic], ...]
    order: Order
    levels: Whole
    places: dict[int, NDArray[np.intp]]


def lay_out_rows(shape: tuple[int, ...]) -> RowLayout:
    """Return the layout of a grid tile by tile, a tile as rows of 8 cells."""
    sizes, strides, _, places = pool_layout(shape)
    tables, slots = lay_out_tiles(shape, FAN * LANES, LANES)
    order, tables = grid_order(shape, tables, slots), tables.astype(np.uint64)
    grid = (sizes, strides, tables, places, tables[places[-1] :])
    return RowLayout(grid, order, tournament_levels(slots // LANES, FAN), {})


lay_out_small = lru_cache(maxsize=16)(lay_out_rows)

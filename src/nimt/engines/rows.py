"""The engine for one greedy example per step on a grid, which computes with whole rows of cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.engines.arranging import NOTHING, ArrangedEngine, line_aligned, tournament_levels
from nimt.engines.base import Task
from nimt.engines.compiled import Sheet, pack_size, twin_of_teacher
from nimt.engines.compiled_steps.codes import FAN, LANES
from nimt.engines.compiled_steps.rows import by_rows, rows_of_grid
from nimt.engines.layouts import grid_order
from nimt.learners.kernel import KernelLearner, KernelPupil
from nimt.losses import as_loss, couples_outputs
from nimt.operators.grid import GridOperator, pool_layout, tiled_layout

Whole = NDArray[np.int64]

CACHED = 2**20  # bytes of an array up to which all of them are in the cache of a core
SEARCHED = 64  # nodes of the tournament among which the second best is looked for


class RowsEngine(ArrangedEngine):
    """Show the point with the largest |f - f*|, one per step, on a grid.

    The grid is laid out tile by tile, a tile as rows of 8 cells. A step computes whole rows at once, and so finds
    the largest score of each; a tournament over the rows has the largest of all.
    """

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator) -> None:
        super().__init__(task, pupil)
        self.name: str = operator.name
        self.height: float = operator.height
        grid = task.pool.shape
        self.lanes = LANES
        shape, strides, _, places = pool_layout(grid)
        tables, slots = tiled_layout(grid, FAN * self.lanes, self.lanes)
        self.order = grid_order(grid, tables, slots)
        tables = tables.astype(np.uint64)
        window = (operator.lead, operator.first, operator.start, spaced(operator, self.lanes))
        self.grid: tuple[NDArray[np.generic], ...] = (
            shape, strides, tables, places, tables[places[-1] :], np.zeros(len(grid), np.int64), *window
        )  # fmt: skip
        self.levels: Whole = tournament_levels(slots // self.lanes, FAN)
        self.node_bits: Whole = line_aligned(int(self.levels[-1]), np.dtype(np.int64))
        self.node_index: NDArray[np.int32] = line_aligned(int(self.levels[-1]), np.dtype(np.int32))
        # levels get smaller towards the root: the first that one look can search
        small = int(np.argmax(np.diff(self.levels) <= SEARCHED))
        self.ahead: int = small if 8 * len(self.outputs) * slots > CACHED else 0
        rows = np.diff(operator.start) // self.lanes + 2  # that a run of the window may touch
        self.touched: Whole = np.zeros(int(np.sum(rows)), dtype=np.int64)
        self.forbidden: Whole | None = None
        if task.candidates is not None:
            self.forbidden = self.placed(self.candidate_scores().astype(np.int64), padding=-1)
        self.y = self.placed(task.target)
        self.other = NOTHING if task.other_target is None else self.placed(task.other_target)
        start = self.take_over()
        largest = self.node_bits[self.levels[-2]].view(np.float64)
        self.make_labels_by(slots, float(max(largest, 0.0)))
        self.begin(start)

    @staticmethod
    def covers(task: Task) -> bool:
        """Say whether a task shows the point with the largest |f - f*|, one per step, and its rows are not short."""
        twin = twin_of_teacher(task.teacher)
        chooses = twin is not None and twin.draw is None and twin.loss is None and twin.temperature is None
        assert isinstance(task.learner, KernelLearner)
        one = pack_size(task) == 1 and not task.per_output and not couples_outputs(as_loss(task.learner.loss))
        return chooses and one and 2 * task.pool.shape[-1] > LANES

    @property
    def widths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Outputs and their norm as the lengths of tuples: so the compiler knows them."""
        return self.outputs, (0,) * (self.norm if len(self.outputs) > 1 else 0)

    def find_scores(self) -> None:
        rows_of_grid(
            self.grid, self.f, self.y, self.forbidden, *self.widths, self.levels, self.node_bits, self.node_index
        )

    def run(self, sheet: Sheet) -> tuple[int, int]:
        taken, code = by_rows(
            self.grid, self.lanes, self.ahead, self.step, *sheet[:2], self.making, self.forbidden, self.height, self.f,
            self.y, self.other, self.c, self.shown, self.loss, self.delta, *self.widths, self.levels, self.node_bits,
            self.node_index, self.touched, self.sums, self.rules, *sheet[2:],
        )  # fmt: skip
        return int(taken), int(code)

    def let_go(self) -> None:
        super().let_go()
        self.grid = ()
        self.forbidden = None
        self.node_bits = np.empty(0, np.int64)
        self.node_index = np.empty(0, np.int32)


def spaced(operator: GridOperator, margin: int) -> NDArray[np.float64]:
    """Return the weights of a window with zeros before and after each of its runs."""
    lengths = np.diff(operator.start)
    result = np.zeros(operator.cells + 2 * margin * len(lengths))
    run = np.repeat(np.arange(len(lengths)), lengths)
    result[np.arange(operator.cells) + (2 * run + 1) * margin] = operator.weights
    return result

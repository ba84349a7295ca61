"""The engine for one greedy example per step on a grid, with a kernel that reaches many points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.engines.arranging import ArrangedEngine, line_aligned
from nimt.engines.codes import TILE, WAITING
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.tile_steps import GROUP, by_tiles, find_bounds
from nimt.engines.layouts import BLOCK
from nimt.engines.row_engine import lay_out_rows, lay_out_small
from nimt.engines.tile_layout import Bounds, Tiles, Waiting, lay_out_window
from nimt.learners.kernel_pupils import KernelPupil
from nimt.losses import Square
from nimt.operators.grid import GridOperator
from nimt.task.task import Task

Whole = NDArray[np.int64]

REAL = np.dtype(np.float64)


class TilesEngine(ArrangedEngine):
    """Show the point with the largest |f - f*|, one per step, on a grid; steps wait for tiles that they change little.

    The lesson is that of `RowsEngine`, and the values are the same to the last bit.
    """

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator) -> None:
        super().__init__(task, pupil)
        self.name: str = operator.name
        self.height: float = operator.height
        layout = (lay_out_small if len(task.pool) <= BLOCK else lay_out_rows)(task.pool.shape)
        self.order, self.places = layout.order, layout.places
        self.tiles: Tiles = lay_out_window(operator)
        tiles = len(self.order) // TILE
        largest = line_aligned(tiles, REAL)
        group_bits = np.empty(-(-tiles // GROUP), dtype=np.int64)
        over, under = line_aligned(tiles, REAL), line_aligned(tiles, REAL)
        self.bounds: Bounds = Bounds(over, under, largest, largest.view(np.int64), group_bits)
        reached, begun = np.zeros(tiles, dtype=np.int64), np.zeros(tiles, dtype=np.int64)
        steps = (np.empty(tiles * WAITING, dtype=np.uint8), np.empty(tiles * WAITING))
        moves, centres = np.empty(WAITING), np.empty(WAITING, dtype=np.int64)
        here = np.empty(task.pool.dimension, dtype=np.int64)
        before = line_aligned(len(self.order), REAL)
        self.room: Waiting = Waiting(reached, begun, *steps, moves, centres, before, here)
        self.forbidden: Whole | None = self.place_forbidden()
        self.y = self.place_target()
        self.other = None if task.other_target is None else self.place(task.other_target)
        self.begin(self.take_over())

    @property
    def largest_score(self) -> float:
        return max(
            0.0, float(np.max(self.bounds.group_bits).view(np.float64))
        )  # exact, since no step waits between two runs

    def find_scores(self) -> None:
        find_bounds(self.tiles, self.bounds, self.room, self.forbidden, self.f, self.y)

    def run(self, sheet: StepBatch) -> tuple[int, int]:
        loss = None if self.loss == Square.number else self.loss
        taken, code = by_tiles(
            self.tiles, self.bounds, self.room, self.order, len(self.task.pool), self.step, self.discrepancy,
            *sheet[:2], self.forbidden, self.height, self.f, self.y, self.other, self.c, self.shown, loss, self.delta,
            self.sums, self.rules, *sheet[2:],
        )  # fmt: skip
        return int(taken), int(code)

    def let_go(self) -> None:
        super().let_go()
        self.forbidden = None
        del self.tiles, self.bounds, self.room

"""The engine for one greedy example per step on a grid, with a kernel that reaches many points."""

from __future__ import annotations

import numpy as np

from nimt.engines.arranging import BLOCK, line_aligned
from nimt.engines.codes import TILE, WAITING
from nimt.engines.row_engine import lay_out_rows, lay_out_small
from nimt.engines.tile_layout import Tiles, Waiting, lay_out_window
from nimt.engines.waiting_engine import REAL, WaitingEngine
from nimt.learners.kernel_pupils import KernelPupil
from nimt.operators.grid import GridOperator
from nimt.task.task import Task


class TilesEngine(WaitingEngine):
    """Show the point with the largest |f - f*|, one per step, on a grid; steps wait for tiles that they change little.

    The lesson is that of `RowsEngine`.
    """

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator) -> None:
        super().__init__(task, pupil)
        self.name: str = operator.name
        self.height = operator.height
        layout = (lay_out_small if len(task.pool) <= BLOCK else lay_out_rows)(task.pool.shape)
        self.order, self.places = layout.order, layout.places
        self.tiles: Tiles | None = lay_out_window(operator)
        self.cells = None
        tiles = len(self.order) // TILE
        reached, begun = np.zeros(tiles, dtype=np.int64), np.zeros(tiles, dtype=np.int64)
        waiting = np.empty(tiles * WAITING, dtype=np.uint8)
        parts, change, moves = np.empty((3, WAITING))
        centres = np.empty(WAITING, dtype=np.int64)
        here = np.empty(task.pool.dimension, dtype=np.int64)
        before = line_aligned(len(self.order), REAL)
        self.room = Waiting(reached, begun, waiting, parts, change, moves, centres, before, here)
        self.make_bounds(tiles)
        self.begin(self.take_over())

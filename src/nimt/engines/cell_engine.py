"""The engines for one greedy example per step on scattered points, which compute K in cells when it is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.arranging import BLOCK, ArrangedEngine, line_aligned, norm_of_outputs
from nimt.engines.cell_layout import CellArrays, Cells, make_room
from nimt.engines.codes import CELL, LANES, NO_SCORE
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.cell_steps import UNKNOWN, by_cells
from nimt.engines.waiting_engine import REAL, WaitingEngine
from nimt.learners.kernel_pupils import KernelPupil
from nimt.task.task import Task

Whole = NDArray[np.int64]


class CellsEngine(ArrangedEngine):
    """Show the point with the largest |f - f*|, one per step, among points anywhere.

    Memory is proportional to the number of points, whatever the kernel's reach.
    """

    name: str = "cells"

    def __init__(self, task: Task, pupil: KernelPupil, cells: Cells) -> None:
        super().__init__(task, pupil)
        self.cells: Cells = cells
        self.order = cells.order
        self.lanes = LANES
        self.height: float = float(pupil.diagonal[0])
        self.tops: Whole = np.full(cells.groups * CELL, NO_SCORE)
        self.group_tops: Whole = np.full(cells.groups, NO_SCORE)
        self.winner: NDArray[np.int32] = np.full(cells.groups * CELL, UNKNOWN, dtype=np.int32)
        room = (task.pool.dimension, CELL, CELL + LANES, len(self.outputs), LANES)
        self.room: tuple[Array, ...] = tuple(line_aligned(size, REAL) for size in room)
        self.forbidden: Whole | None = self.place_forbidden()
        self.y = self.place_target()
        self.other = None if task.other_target is None else self.place(task.other_target)
        start = self.take_over()
        if self.makes_labels:
            self.make_labels_by(len(self.order), self.largest_score)
        self.begin(start)

    @property
    def largest_score(self) -> float:
        return max(0.0, float(np.max(self.group_tops).view(np.float64)))

    def find_scores(self) -> None:
        q = len(self.outputs)
        self.winner[:] = UNKNOWN
        with np.errstate(invalid="ignore", over="ignore"):  # a learner may have diverged
            for low in range(0, len(self.order), BLOCK):
                high = min(low + BLOCK, len(self.order))
                values = slice(low * q, high * q)
                errors = (self.f[values] - self.y[values]).reshape(-1, q, LANES)
                bits = np.ascontiguousarray(norm_of_outputs(errors, self.norm)).view(np.int64)
                if self.forbidden is not None:
                    bits |= self.forbidden[low:high].reshape(-1, LANES)
                self.tops[low // CELL : high // CELL] = bits.reshape(-1, CELL).max(axis=1)
        self.group_tops[:] = self.tops.reshape(-1, CELL).max(axis=1)

    def run(self, batch: StepBatch) -> tuple[int, int]:
        norm = (0,) * (self.norm if len(self.outputs) > 1 else 0)  # its length is known to the compiler
        taken, code = by_cells(
            self.cells.arrays, self.order, len(self.task.pool), self.step, self.discrepancy, self.making,
            self.forbidden, self.height, self.functions, self.quick_loss, self.delta, self.outputs, norm, self.tops,
            self.group_tops, self.winner, self.room, self.sums, self.rules, batch,
        )  # fmt: skip
        return int(taken), int(code)

    def let_go(self) -> None:
        super().let_go()
        self.forbidden = None
        del self.cells


class WaitingCellsEngine(WaitingEngine):
    """The same where a step reaches many points, of which it changes most little: it waits for their cells."""

    name: str = "cells"

    def __init__(self, task: Task, pupil: KernelPupil, cells: Cells) -> None:
        super().__init__(task, pupil)
        self.height = float(pupil.diagonal[0])
        self.order = cells.order
        self.tiles = None
        self.cells: CellArrays | None = cells.arrays
        count = len(self.order) // CELL
        largest = float(np.max(np.abs(pupil.values)) + 2.0 * np.max(np.abs(task.target)))
        self.room = make_room(len(task.pool), task.pool.dimension, count, np.finfo(REAL).eps * largest)
        self.make_bounds(count)
        self.begin(self.take_over())

"""What engines share whose steps wait for the parts of the pool that they change little."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.engines.arranging import ArrangedEngine, line_aligned
from nimt.engines.cell_layout import CellArrays, WaitingInCells
from nimt.engines.codes import GROUP
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.waiting_steps import by_waiting, find_bounds
from nimt.engines.tile_layout import TileBounds, Tiles, Waiting

REAL = np.dtype(np.float64)


class WaitingEngine(ArrangedEngine):
    """Show the point with the largest |f - f*|, one per step, on tiles of a grid or in cells of scattered points.

    The values are the same to the last bit as if no step had waited.
    """

    tiles: Tiles | None
    cells: CellArrays | None
    room: Waiting | WaitingInCells
    height: float

    def make_bounds(self, tiles: int) -> None:
        over, under, largest = (line_aligned(tiles, REAL) for _ in range(3))
        group_bits = np.empty(-(-tiles // GROUP), dtype=np.int64)
        self.bounds: TileBounds = TileBounds(over, under, largest, largest.view(np.int64), group_bits)
        self.forbidden: NDArray[np.int64] | None = self.place_forbidden()
        self.y = self.place_target()
        self.other = None if self.task.other_target is None else self.place(self.task.other_target)

    @property
    def largest_score(self) -> float:
        return max(
            0.0, float(np.max(self.bounds.group_bits).view(np.float64))
        )  # exact, since no step waits between two runs

    def find_scores(self) -> None:
        find_bounds(self.tiles, self.cells, self.bounds, self.room, self.forbidden, self.f, self.y)

    def run(self, batch: StepBatch) -> tuple[int, int]:
        taken, code = by_waiting(
            self.tiles, self.cells, self.bounds, self.room, self.order, len(self.task.pool), self.step,
            self.discrepancy, self.forbidden, self.height, self.functions, self.quick_loss, self.delta, self.sums,
            self.rules, batch,
        )  # fmt: skip
        return int(taken), int(code)

    def let_go(self) -> None:
        super().let_go()
        self.forbidden = None
        del self.tiles, self.cells, self.bounds, self.room

"""A block that any engine of windows teaches: scattered points, narrow grids, and a lesson in one block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.blocks.block import Block, Shown, sum_squares
from nimt.blocks.block_task import BlockTask
from nimt.blocks.orders import Orders
from nimt.engines.arranging import ArrangedEngine, places_in
from nimt.engines.choice import make_by_windows
from nimt.engines.codes import CARRY, ERROR, LIMIT, SCALE, STILL, TOL, TOL_SQUARE, TOTAL
from nimt.engines.compiled import OUTCOMES
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher


class EngineBlock(Block):
    """A block whose engine is that of a lesson; one block is a lesson as any other, to the last bit."""

    def __init__(self, lesson: BlockTask, number: int) -> None:
        super().__init__(lesson, number)
        cut, pool, own = lesson.partition, self.pool, self.own
        teacher = GreedyTeacher() if len(own) == len(pool) else GreedyTeacher(pool=_mask(len(pool), own))
        self.task = Task.of(
            lesson.learner_on(number), teacher, pool, lesson.read_target(number, pool), measure=lesson.measure,
            tol=None, patience=lesson.patience if len(cut) == 1 else None, record="all" if lesson.records else "picks",
            max_iterations=2**62,
        )  # fmt: skip
        engine = make_by_windows(self.task, self.task.make_pupil(), lesson.operator_on(pool))
        assert isinstance(engine, ArrangedEngine)
        self.engine: ArrangedEngine = engine
        self.engine.rules[SCALE] = lesson.scale
        self.engine.scale = lesson.scale
        if len(cut) > 1:
            self._renew()
        slots = places_in(self.engine.order, len(pool), 1, 1)
        self._shared = {other: slots[cut.find_shared(number, other)] for other in cut.neighbours(number)}
        self.latest = self.report_opening()

    @property
    def target(self) -> Array:
        return self.task.target

    def show(self, most: int) -> Shown:
        chunk = self.engine.advance(most)
        kept = chunk.coefficients[:, 0] if self.lesson.records and chunk.coefficients is not None else None
        return Shown(chunk.indices[:, 0], kept, chunk.discrepancy, OUTCOMES.index(chunk.outcome))

    def patches(self) -> dict[int, Array]:
        return {other: self.engine.f[places] for other, places in self._shared.items()}

    def absorb(self, patches: dict[int, Array]) -> None:
        for other, values in patches.items():
            self.engine.f[self._shared[other]] = values
        if patches:
            self._renew()

    def _renew(self) -> None:
        """Compute scores, the sum of squares and the discrepancy anew from all points that are held."""
        engine = self.engine
        engine.find_scores()
        total = sum_squares(engine.f - engine.y)
        engine.sums[TOTAL], engine.sums[CARRY], engine.sums[ERROR] = total, 0.0, 0.0
        engine.discrepancy = engine.scale * math.sqrt(total)

    def prepare(self, orders: Orders, square: float) -> None:
        engine, lesson = self.engine, self.lesson
        engine.rules[STILL] = orders.level * orders.level
        engine.rules[LIMIT] = engine.watch.limit = orders.limit
        if len(lesson.partition) == 1:
            tol = lesson.tol
            engine.rules[TOL] = -1.0 if tol is None else tol
            engine.rules[TOL_SQUARE] = -1.0 if tol is None or tol <= 0.0 else (tol / lesson.scale) ** 2
        else:
            engine.rules[TOL], engine.rules[TOL_SQUARE] = lesson.tolerance_of_turn(square - orders.excess)

    @property
    def square(self) -> float:
        return float(self.engine.sums[TOTAL] + self.engine.sums[CARRY])

    @property
    def discrepancy(self) -> float:
        return self.engine.discrepancy

    @property
    def top(self) -> float:
        return 2.0 * self.lesson.height * self.engine.largest_score

    @property
    def values(self) -> Array:
        return np.asarray(self.engine.values)

    @property
    def coefficients(self) -> Array:
        return np.asarray(self.engine.in_pool_order(self.engine.c, self.task.target.shape))

    def arrays(self) -> dict[str, Any]:
        state = self.engine.state()
        self.engine.pupil.lend()  # the copies that were made to be written
        return state

    def take_arrays(self, stored: dict[str, Any]) -> None:
        self.engine.restore(stored)


def _mask(count: int, indices: Indices) -> NDArray[np.bool_]:
    flags = np.zeros(count, dtype=bool)
    flags[indices] = True
    return flags

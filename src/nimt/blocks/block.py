"""A block at work: an engine on the points that it holds."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.blocks.block_task import BlockTask
from nimt.blocks.orders import Orders, Report
from nimt.engines.arranging import ArrangedEngine
from nimt.engines.choice import make_by_windows
from nimt.engines.codes import CARRY, ERROR, LIMIT, SCALE, STILL, TOL, TOL_SQUARE, TOTAL
from nimt.engines.compiled import OUTCOMES
from nimt.engines.compiled_steps.renewing import count_shown, renew_rows
from nimt.engines.layouts import places_in
from nimt.engines.row_engine import RowsEngine
from nimt.errors import CorruptLesson, InvalidInput
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher

FEWEST, MOST = 2**10, 2**16  # examples for which room is made at once


class Block:
    """The points that a block holds, and an engine that may show its own.

    Parameters
    ----------
    lesson : BlockTask
    number : int
    """

    def __init__(self, lesson: BlockTask, number: int) -> None:
        self.lesson = lesson
        self.number = number
        cut = lesson.partition
        pool, own = cut.pool(number), cut.own(number)
        self.own: Indices = own
        self.target: Array = lesson.target.read(cut, number)
        teacher = GreedyTeacher() if len(own) == len(pool) else GreedyTeacher(pool=_mask(len(pool), own))
        self.task = Task.of(
            lesson.learner_on(number), teacher, pool, self.target, measure=lesson.measure, tol=None,
            patience=lesson.patience if len(cut) == 1 else None, record="all" if lesson.records else "picks",
            max_iterations=2**62,
        )  # fmt: skip
        pupil = self.task.make_pupil()
        engine = make_by_windows(self.task, pupil, lesson.operator_on(pool))
        assert isinstance(engine, ArrangedEngine)
        self.engine: ArrangedEngine = engine
        self.engine.rules[SCALE] = lesson.scale
        self.engine.scale = lesson.scale
        if len(cut) > 1:  # one block is a lesson as any other, to the last bit
            self._renew()
        self.turn: int = 0
        self.latest = self._open()
        self._picks: NDArray[np.int32] = np.zeros(len(pool), dtype=np.int32)
        self.record: list[tuple[NDArray[np.int64], Array, Array]] = []  # indices, coefficients, discrepancy; by turn
        self.lengths: list[int] = []  # examples, by turn
        self.before: list[float] = []  # the sum of squares that is held, by turn
        slots = places_in(self.engine.order, len(pool), 1, 1)
        self._shared = {other: slots[cut.shared(number, other)] for other in cut.neighbours(number)}

    # -- a turn

    def take_turn(self, orders: Orders, patches: dict[int, Array]) -> tuple[Report, dict[int, Array]]:
        """Take over what the neighbours changed, show examples, and return what is to be sent to them."""
        self.absorb(patches)
        engine, lesson = self.engine, self.lesson
        before = self.square
        self._set_rules(orders, before)
        shown, code, room = 0, 0, FEWEST
        while True:
            chunk = engine.advance(min(room, orders.most - shown))
            room = min(2 * room, MOST)
            if len(chunk.discrepancy):
                shown += len(chunk.discrepancy)
                indices = chunk.indices[:, 0]
                count_shown(indices, self._picks)
                if lesson.records:
                    assert chunk.coefficients is not None
                    self.record.append((indices, chunk.coefficients[:, 0], chunk.discrepancy))
            code = OUTCOMES.index(chunk.outcome)
            if code or shown >= orders.most:
                break
        self.lengths.append(shown)
        self.before.append(before)
        self.turn = orders.turn
        self.latest = Report(self.number, orders.turn, shown, self.square - before, self.top, code, -1)
        sent = {other: engine.f[places] for other, places in self._shared.items()} if shown else {}
        return self.latest, sent

    def absorb(self, patches: dict[int, Array]) -> None:
        """Take over what the neighbours changed; to do it twice changes nothing."""
        for other, values in patches.items():
            self.engine.f[self._shared[other]] = values
        if patches:
            self._renew()

    def _renew(self) -> None:
        """Compute scores, the sum of squares and the discrepancy anew from all points that are held."""
        engine = self.engine
        if isinstance(engine, RowsEngine) and engine.forbidden is not None:
            nodes = (engine.levels, engine.node_bits, engine.node_index)
            total = float(renew_rows(engine.f, engine.y, engine.forbidden, engine.order, len(self.target), *nodes))
        else:
            engine.find_scores()
            total = _sum_squares(engine.f - engine.y)
        engine.sums[TOTAL], engine.sums[CARRY], engine.sums[ERROR] = total, 0.0, 0.0
        engine.discrepancy = engine.scale * math.sqrt(total)

    def _set_rules(self, orders: Orders, square: float) -> None:
        engine, lesson = self.engine, self.lesson
        engine.rules[STILL] = orders.level * orders.level
        engine.rules[LIMIT] = engine.watch.limit = orders.limit
        goal = square - orders.excess
        if len(lesson.partition) == 1:
            tol = lesson.tol
            engine.rules[TOL] = -1.0 if tol is None else tol
            engine.rules[TOL_SQUARE] = -1.0 if tol is None or tol <= 0.0 else (tol / lesson.scale) ** 2
        else:
            engine.rules[TOL] = lesson.scale * math.sqrt(goal) if goal > 0.0 else -1.0
            engine.rules[TOL_SQUARE] = goal if goal > 0.0 else -1.0

    @property
    def square(self) -> float:
        """The sum of squares over the points that are held."""
        return float(self.engine.sums[TOTAL] + self.engine.sums[CARRY])

    @property
    def top(self) -> float:
        """|slope| K(x, x) of the example that would be shown next."""
        return 2.0 * self.lesson.height * self.engine.largest_score

    def _open(self) -> Report:
        """Return what is reported before the first turn."""
        values = np.asarray(self.engine.values)[self.own]
        target = self.task.target[self.own]
        mean = float(target.mean())
        error, spread = values - target, target - mean
        opening = (_sum_squares(error), float(len(target)), mean, _sum_squares(spread), self.engine.discrepancy)
        return Report(self.number, 0, 0, 0.0, self.top, 0, -1, opening)

    def measure(self) -> float:
        """Return the sum of squares of its own points, from all of them."""
        return _sum_squares((np.asarray(self.engine.values) - self.task.target)[self.own])

    # -- results

    @property
    def values(self) -> Array:
        """F at its own points."""
        return np.asarray(self.engine.values)[self.own]

    @property
    def coefficients(self) -> Array:
        """What all examples added at its own points."""
        return np.asarray(self.engine.in_pool_order(self.engine.c, self.task.target.shape))[self.own]

    @property
    def picks(self) -> NDArray[np.int32]:
        """How often each of its own points was shown."""
        return self._picks[self.own]

    def joined_record(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return the examples shown: indices in the whole pool, coefficients, and the discrepancy of what it holds."""
        parts = self.record or [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))]
        indices, coefficients, discrepancy = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self.lesson.partition.number(self.number, indices), coefficients, discrepancy

    # -- on disk

    def state(self) -> dict[str, Any]:
        """Return what `restore` goes on from, bit by bit."""
        parts = self.record or [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))]
        self.record = [tuple(np.concatenate(column) for column in zip(*parts, strict=True))]  # type: ignore[list-item]
        return {
            "number": self.number,
            "turn": self.turn,
            "target": _fingerprint(self.target),
            "engine": self.engine.state(),
            "picks": self._picks,
            "record": list(self.record[0]),
            "lengths": np.array(self.lengths, dtype=np.int64),
            "before": np.array(self.before),
            "latest": [*self.latest[:7], list(self.latest.opening)],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint; refuse one of another target."""
        if state["number"] != self.number:
            raise CorruptLesson(f"this is the checkpoint of block {state['number']}, not of block {self.number}")
        if state["target"] != _fingerprint(self.target):
            raise InvalidInput(
                f"the target changed since the checkpoint of block {self.number}: restore it, or begin again in a new "
                f"folder"
            )
        self.engine.restore(state["engine"])
        self.turn = int(state["turn"])
        self._picks = np.array(state["picks"], dtype=np.int32)
        indices, coefficients, discrepancy = state["record"]
        self.record = [(indices, coefficients, discrepancy)] if len(indices) else []
        self.lengths = [int(length) for length in state["lengths"]]
        self.before = [float(square) for square in state["before"]]
        block, turn, shown, change, top, code, saved, opening = state["latest"]
        self.latest = Report(block, turn, shown, change, top, code, saved, tuple(opening))


def _mask(count: int, indices: Indices) -> NDArray[np.bool_]:
    flags = np.zeros(count, dtype=bool)
    flags[indices] = True
    return flags


def _sum_squares(error: Array) -> float:
    return float(np.sum(error * error))  # not a product of vectors, whose last bits depend on the number of threads


def _fingerprint(values: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()

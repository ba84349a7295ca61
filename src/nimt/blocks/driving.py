"""The turns of a lesson by blocks: which level of error, which blocks, and when it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nimt.blocks.block_task import BlockTask
from nimt.blocks.local_workers import BlockWorkers, Call, Question
from nimt.blocks.orders import Orders, Report, pack_orders, unpack_orders
from nimt.engines.codes import STALLED
from nimt.engines.compiled import OUTCOMES
from nimt.engines.engine import Watch
from nimt.lesson.outcome import Outcome
from nimt.task.options import Stop

NEAREST = 0.98  # the highest level that a turn aims at, as a share of the largest error


@dataclass(frozen=True, eq=False)
class BlockProgress:
    """What a callback receives.

    Attributes
    ----------
    step, max_iterations : int
        Examples shown, and the most.
    discrepancy, elapsed : float
    turn, blocks_done, blocks : int
        How many blocks had this turn already.
    seconds_left : float or None
        Until the tolerance, if the discrepancy goes on falling as in the latest turns.
    outcome : Outcome or None
    """

    step: int
    max_iterations: int
    discrepancy: float
    elapsed: float
    turn: int
    blocks_done: int
    blocks: int
    seconds_left: float | None
    outcome: Outcome | None = None


class Driver:
    """Teach all blocks, turn by turn and colour by colour.

    At each turn every block shows its largest errors until they are below a level, a share of the largest error of
    all blocks. What it decides depends on sums over blocks in their order, never on who was first.

    Parameters
    ----------
    lesson : BlockTask
    workers : BlockWorkers
    stop : Stop
        Its tolerance is a number.
    share : float
        Of the largest error, the level of a turn.
    save_every : int or None
        A block is saved every so many turns; None if it cannot be.
    """

    def __init__(
        self, lesson: BlockTask, workers: BlockWorkers, stop: Stop, share: float, save_every: int | None = None
    ) -> None:
        count = len(lesson.partition)
        self.lesson, self.workers, self.stop, self.share, self.save_every = lesson, workers, stop, share, save_every
        self.colours = lesson.partition.colours
        self.neighbours = [lesson.partition.neighbours(block) for block in range(count)]
        self.colour_of = {block: number for number, colour in enumerate(self.colours) for block in colour}
        self.turn, self.colour = 1, 0  # to come
        self.shown = self.shown_in_turn = 0
        self.level = 0.0
        self.tops: list[float] = [0.0] * count
        self.saved: list[int] = [-1] * count
        self.changed: list[int] = [0] * count  # the latest turn at which each block showed an example; 0 for none
        self.orders: list[list[Orders]] = [[] for _ in range(count)]  # since the checkpoint of each
        self.curve: list[tuple[int, int, int, float, float]] = []  # turn, colour, examples, sum of squares, M
        self.outcome: Outcome | None = None
        self.elapsed = 0.0
        self.square = 0.0
        self.watch: Watch

    # -- the start

    def begin(self, opening: Sequence[Report]) -> None:
        """Take up what the blocks reported before the first turn."""
        self.tops = [report.top for report in opening]
        self.square = math.fsum(report.opening[0] for report in opening)
        start = opening[0].opening[4] if len(opening) == 1 else self.discrepancy  # one block knows it to the last bit
        self._watch_from(start)
        self.curve.append((0, 0, 0, self.square, start))

    def _watch_from(self, start: float) -> None:
        self.watch = Watch(self.lesson.measure, self.stop.tol, self.stop.patience, start)

    @property
    def discrepancy(self) -> float:
        return self.lesson.scale * math.sqrt(self.square) if self.square >= 0.0 else math.nan

    @property
    def goal(self) -> float | None:
        """The sum of squares at which the tolerance is met."""
        return None if self.stop.tol is None else (self.stop.tol / self.lesson.scale) ** 2

    # -- turns

    def run(
        self,
        after_round: Callable[[], object],
        seconds: float | None = None,
        is_interrupted: Callable[[], bool] = lambda: False,
        watch: Callable[[BlockProgress], object] | None = None,
    ) -> Outcome:
        """Teach until a rule ends the lesson; `after_round` is called after each colour, `watch` after each block."""
        began = time.perf_counter() - self.elapsed
        first = self.elapsed
        if self.outcome is None:
            self.outcome = self._judge_start()
        while self.outcome is None:
            stopped = self._round(watch, lambda: time.perf_counter() - began)
            if is_interrupted() and not self.outcome:
                self.outcome = Outcome.INTERRUPTED
            if not self.outcome and seconds is not None and self.elapsed - first >= seconds:
                self.outcome = Outcome.TIME
            if stopped and self.outcome is None:
                self.outcome = Outcome.STOPPED
            after_round()
        return self.outcome

    def _judge_start(self) -> Outcome | None:
        """Say whether the lesson is over before anything is shown."""
        over = self.watch.over(self.shown, self.discrepancy)
        return over or (Outcome.BUDGET if self.shown >= self.stop.max_iterations else None)

    def _round(self, watch: Callable[[BlockProgress], object] | None, clock: Callable[[], float]) -> bool:
        """Teach the blocks of one colour; say whether the one who watches wants the lesson to stop."""
        if self.colour == 0:
            self.level, self.shown_in_turn = self._next_level(), 0
        blocks = self.colours[self.colour]
        stopped = False
        reports: list[Report] = []
        for report in self.workers.advance([self._call(block, place) for place, block in enumerate(blocks)]):
            self._note(report)
            reports.append(report)
            self.elapsed = clock()
            if watch is not None and len(reports) < len(blocks):
                stopped = bool(watch(self.progress(len(reports)))) or stopped
        self.square = math.fsum([self.square, *(report.change for report in reports)])
        self.colour += 1
        is_whole_turn = self.colour == len(self.colours)
        turn, colour = self.turn, self.colour
        if is_whole_turn:
            self.turn, self.colour = self.turn + 1, 0
        self.outcome = self._judge(reports, is_whole_turn=is_whole_turn)
        self.curve.append((turn, colour, self.shown, self.square, self.discrepancy))
        self.elapsed = clock()
        return (watch is not None and bool(watch(self.progress()))) or stopped

    def _next_level(self) -> float:
        share = self.share
        if self.goal is not None and self.square > 0.0:  # the last turn need not go further than the tolerance
            share = max(share, min(NEAREST, math.sqrt(self.goal / self.square)))
        floor = 0.0 if self.stop.stop_when_stationary is None else math.sqrt(self.stop.stop_when_stationary)
        return max(floor, share * max(self.tops))

    def _call(self, block: int, place: int) -> Call:
        left, blocks = self.stop.max_iterations - self.shown, len(self.colours[self.colour])
        most = left // blocks + (place < left % blocks)
        excess = math.inf if self.goal is None else self.square - self.goal
        orders = Orders(self.turn, self.level, excess, self.watch.limit, most, self.inbox(block))
        self.orders[block] = [each for each in self.orders[block] if each.turn > self.saved[block]]
        if self.save_every is None:
            self.orders[block].clear()  # nothing is ever taught again
        self.orders[block].append(orders)
        is_due = self.save_every is not None and (self.turn + block) % self.save_every == 0
        return Call(block, self.orders[block], is_due)

    def inbox(self, block: int) -> tuple[tuple[int, int], ...]:
        """Return the neighbours that changed something since the latest turn of a block, in their order."""
        mine = self.colour_of[block]
        latest = self.turn - 1 if self.colour <= mine else self.turn  # of this block
        found = [
            (self.changed[other], self.colour_of[other], other)
            for other in self.neighbours[block]
            if self.changed[other] > 0 and (self.changed[other], self.colour_of[other]) > (latest, mine)
        ]
        return tuple((other, turn) for turn, _, other in sorted(found))

    def _note(self, report: Report) -> None:
        self.tops[report.block] = report.top
        self.saved[report.block] = report.saved
        self.shown += report.shown
        self.shown_in_turn += report.shown
        if report.shown:
            self.changed[report.block] = report.turn

    def _judge(self, reports: Sequence[Report], *, is_whole_turn: bool) -> Outcome | None:
        if len(self.tops) == 1 and reports[0].code in range(1, STALLED + 1):
            return OUTCOMES[reports[0].code]  # one block saw what the whole lesson is
        met = self.goal is not None and self.square <= self.goal * (1.0 + 1e-6)
        if met and len(self.tops) > 1:
            self.square = self.measure()
        over = self.watch.over(self.shown, self.discrepancy)
        if over is None and self.shown >= self.stop.max_iterations:
            return Outcome.BUDGET
        if over is None and is_whole_turn and not self.shown_in_turn:
            if max(self.tops) == 0.0:
                return Outcome.AT_REST
            still = self.stop.stop_when_stationary
            if still is not None and max(self.tops) ** 2 <= still:
                return Outcome.STATIONARY
        return over

    def measure(self) -> float:
        """Return the sum of squares from all points: a compensated sum over blocks."""
        asked = [Question(block, self.orders[block], "measure", self.inbox(block)) for block in range(len(self.tops))]
        return math.fsum(self.workers.ask(asked))

    def save_all(self) -> None:
        """Save every block as it is now."""
        reports = self.workers.advance([Call(block, self.orders[block], True) for block in range(len(self.tops))])
        for report in reports:
            self.saved[report.block] = report.saved

    def find_oldest_needed(self, block: int) -> int:
        """Return the turn before which nothing that a block sent can be asked for again."""
        if self.save_every is None:
            return self.turn - 1
        return min((self.saved[other] for other in self.neighbours[block]), default=self.turn)

    # -- what is said and kept

    def progress(self, more: int = 0) -> BlockProgress:
        """Return how far the lesson is; `more` blocks of the colour at hand are done."""
        done = more + sum(len(colour) for colour in self.colours[: self.colour])
        return BlockProgress(
            self.shown, self.stop.max_iterations, self.discrepancy, self.elapsed, self.turn, done, len(self.tops),
            self._seconds_left(), self.outcome,
        )  # fmt: skip

    def _seconds_left(self) -> float | None:
        tol, now = self.stop.tol, self.discrepancy
        start = self.curve[0][4] if self.curve else 0.0
        if tol is None or not 0.0 < tol < now < start or self.elapsed <= 0.0:
            return None
        return self.elapsed * math.log(now / tol) / math.log(start / now)

    def state(self) -> dict[str, Any]:
        """Return numbers, text and arrays from which `restore` goes on."""
        return {
            "turn": self.turn, "colour": self.colour, "shown": self.shown, "shown_in_turn": self.shown_in_turn,
            "level": self.level, "tops": np.array(self.tops), "saved": np.array(self.saved),
            "changed": np.array(self.changed), "curve": np.array(self.curve, dtype=np.float64),
            "square": self.square, "elapsed": self.elapsed, "watch": self.watch.state(),
            "outcome": None if self.outcome is None else self.outcome.name,
            "orders": pack_orders(self.orders),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a record."""
        self.turn, self.colour = int(state["turn"]), int(state["colour"])
        self.shown, self.shown_in_turn = int(state["shown"]), int(state["shown_in_turn"])
        self.level, self.square, self.elapsed = float(state["level"]), float(state["square"]), float(state["elapsed"])
        self.tops = [float(top) for top in state["tops"]]
        self.saved = [int(turn) for turn in state["saved"]]
        self.changed = [int(turn) for turn in state["changed"]]
        self.curve = [(int(a), int(b), int(c), float(d), float(e)) for a, b, c, d, e in state["curve"]]
        self.orders = unpack_orders(state["orders"])
        self._watch_from(self.curve[0][4])
        self.watch.restore(state["watch"])
        ended = None if state["outcome"] is None else Outcome[state["outcome"]]
        goes_on = (None, Outcome.INTERRUPTED, Outcome.TIME, Outcome.STOPPED)
        has_more = ended is Outcome.BUDGET and self.shown < self.stop.max_iterations
        self.outcome = None if ended in goes_on or has_more else ended

"""The record of a lesson by blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.blocks.block_task import BlockTask
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.pools.pool import Grid
from nimt.task.options import Stop
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher


@dataclass(frozen=True, eq=False)
class BlockRecord:
    """What one block showed.

    Attributes
    ----------
    indices : array (T,) of int
        In the whole pool.
    coefficients : array (T,)
        What each example added to f.
    discrepancy : array (T,)
        After each, of the points that the block holds.
    lengths : list of int
        How many examples it showed at each turn.
    before : list of float
        The sum of squares of the points it holds before each turn.
    """

    indices: NDArray[np.int64]
    coefficients: Array
    discrepancy: Array
    lengths: list[int]
    before: list[float]


@dataclass(frozen=True, eq=False)
class BlockLesson:
    """The record of a lesson by blocks. Its arrays are files where it has a folder; nothing is gathered.

    Attributes
    ----------
    outcome : Outcome
    curve : array (rounds + 1, 5)
        A row after each colour: turn, colour, examples shown, sum of squares, discrepancy.
    final, coefficients : arrays (n,) or of the grid's shape
        f on the pool, and what was added at each point.
    picks : array like them, of int
        How often each point was shown.
    elapsed : float
        Seconds of teaching.
    folder : Path or None
    """

    outcome: Outcome
    curve: Array
    final: Array
    coefficients: Array
    picks: NDArray[np.int32]
    elapsed: float
    task: BlockTask = field(repr=False)
    stop: Stop = field(repr=False)
    folder: Path | None = None
    _record: Callable[[int], BlockRecord] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Return how many examples were shown."""
        return int(self.curve[-1, 2])

    @property
    def turns(self) -> int:
        return int(self.curve[-1, 0])

    @property
    def discrepancy(self) -> float:
        """M at the end."""
        return float(self.curve[-1, 4])

    def __str__(self) -> str:
        count = say_count(len(self.task.partition), "block")
        shown = say_count(len(self), "example", ",d")
        turns = say_count(self.turns, "turn", ",d")
        return f"{self.outcome} after {shown} in {turns} of {count}; M {self.discrepancy:.4g}"

    def record(self, block: int) -> BlockRecord:
        """Return what a block showed, in its order."""
        if self._record is None:
            raise InvalidInput("only how often each point was shown was kept: teach it with record='all'")
        return self._record(block)

    @property
    def learner(self) -> KernelLearner:
        """The taught learner, made anew: its centres are all points that were shown."""
        shown = np.flatnonzero(np.asarray(self.picks).reshape(-1))
        learner = self.task.learner.copy().bind(self.task.whole)
        rows = np.asarray(self.coefficients).reshape(-1)[shown]
        learner.absorb(self.task.whole.take(shown), rows, steps=len(self), distinct=isinstance(self.task.whole, Grid))
        return learner

    def to_lesson(self) -> Lesson:
        """Return the record as one `Lesson`, in memory: the examples in the order of turns, colours and blocks.

        Shown in this order to the same learner, one by one, they give the same f.
        """
        task, cut = self.task, self.task.partition
        target = np.empty(cut.points)
        initial = np.empty(cut.points)
        for block in range(len(cut)):
            own = cut.own(block)
            place = cut.number(block, own)
            target[place] = task.target.read(cut, block)[own]
            initial[place] = task.learner_on(block).bind(cut.pool(block)).values_on(cut.pool(block), ())[own]
        columns: dict[str, Any] = {"indices": None, "labels": None, "coefficients": None}
        curve = self.curve[:, 4]
        if self._record is not None:
            indices, coefficients, discrepancy = self._in_order()
            columns = {
                "indices": indices[:, np.newaxis],
                "labels": target[indices][:, np.newaxis],
                "coefficients": coefficients[:, np.newaxis],
            }
            curve = np.concatenate([self.curve[:1, 4], discrepancy])
        options = {name: getattr(self.stop, name) for name in ("max_iterations", "patience", "stop_when_stationary")}
        described = Task.of(
            task.learner, GreedyTeacher(), task.whole, target, tol=task.tol, measure=task.measure, seed=0, **options
        ).settings
        return Lesson(
            discrepancy=curve, picks=np.asarray(self.picks).reshape(-1), outcome=self.outcome, elapsed=self.elapsed,
            engine="blocks", record="picks" if self._record is None else "all", pool=task.whole, target=target,
            initial=initial, final=np.array(self.final).reshape(-1), settings=described, learner=self.learner,
            drew=False, **columns,
        )  # fmt: skip

    def _in_order(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return indices, coefficients and discrepancy of all examples, in the order of turns, colours and blocks."""
        cut, scale = self.task.partition, self.task.scale
        records = [self.record(block) for block in range(len(cut))]
        at = [0] * len(cut)
        indices: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        coefficients: list[Array] = [np.zeros(0)]
        discrepancy: list[Array] = [np.zeros(0)]
        for row, (turn, colour, *_) in enumerate(self.curve[1:]):
            square = float(self.curve[row, 3])
            for block in cut.colours[int(colour) - 1]:
                own = records[block]
                part = slice(at[block], at[block] + own.lengths[int(turn) - 1])
                at[block] = part.stop
                if part.stop == part.start:
                    continue
                indices.append(own.indices[part])
                coefficients.append(own.coefficients[part])
                curve = own.discrepancy[part]
                if len(cut) > 1:
                    squares = square + ((curve / scale) ** 2 - own.before[int(turn) - 1])
                    square = float(squares[-1])
                    curve = scale * np.sqrt(np.maximum(squares, 0.0))
                discrepancy.append(curve)
        return np.concatenate(indices), np.concatenate(coefficients), np.concatenate(discrepancy)


def combine_spread(parts: list[tuple[float, float, float]]) -> float:
    """Return the root of the sum of squared deviations from the mean, from the count, mean and sum of each block.

    Examples
    --------
    >>> combine_spread([(2.0, 1.0, 0.0), (2.0, 3.0, 0.0)])
    2.0
    """
    count, mean, squares = 0.0, 0.0, 0.0
    for more, other, own in parts:
        gap, both = other - mean, count + more
        squares += own + gap * gap * count * more / both
        mean += gap * more / both
        count = both
    return math.sqrt(squares)

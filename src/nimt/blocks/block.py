"""A block at work: the points that it holds, and the examples that it shows of its own."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.blocks.block_task import BlockTask
from nimt.blocks.orders import Orders, Report
from nimt.engines.compiled_steps.renewing import count_shown
from nimt.errors import CorruptLesson

FEWEST, MOST = 2**10, 2**16  # examples for which room is made at once


class Shown(NamedTuple):
    """Some examples that a block showed.

    Attributes
    ----------
    indices : array (T,) of int
        In the pool that it holds.
    coefficients : array (T,) or None
        What each added to f, where that is kept.
    discrepancy : array (T,)
        After each, of the points that it holds.
    code : int
        The engine's outcome, 0 to go on.
    """

    indices: NDArray[np.int64]
    coefficients: Array | None
    discrepancy: Array
    code: int


class Block(ABC):
    """The points that a block holds; a subclass knows how f is kept and examples are shown.

    Parameters
    ----------
    lesson : BlockTask
    number : int
    """

    def __init__(self, lesson: BlockTask, number: int) -> None:
        self.lesson = lesson
        self.number = number
        cut = lesson.partition
        self.pool = cut.pool(number)
        self.turn: int = 0
        self.latest: Report
        self._picks: NDArray[np.int32] = np.zeros(len(self.pool), dtype=np.int32)
        self.record: list[tuple[NDArray[np.int64], Array, Array]] = []  # indices, coefficients, discrepancy; by turn
        self.lengths: list[int] = []  # examples, by turn
        self.before: list[float] = []  # the sum of squares that is held, by turn

    # -- what a subclass knows

    @property
    @abstractmethod
    def target(self) -> Array:
        """The target at the points that it holds."""

    @abstractmethod
    def prepare(self, orders: Orders, square: float) -> None:
        """Set the rules of a turn that begins with this sum of squares."""

    @abstractmethod
    def show(self, most: int) -> Shown:
        """Show at most so many examples."""

    @abstractmethod
    def absorb(self, patches: dict[int, Array]) -> None:
        """Take over what the neighbours changed; to do it twice changes nothing."""

    @abstractmethod
    def patches(self) -> dict[int, Array]:
        """Return the values that each neighbour holds, too."""

    @property
    @abstractmethod
    def square(self) -> float:
        """The sum of squares over the points that are held."""

    @property
    @abstractmethod
    def discrepancy(self) -> float:
        """The discrepancy of the points that are held."""

    @property
    @abstractmethod
    def top(self) -> float:
        """|slope| K(x, x) of the example that would be shown next."""

    @property
    @abstractmethod
    def values(self) -> Array:
        """F at the points that it holds."""

    @property
    @abstractmethod
    def coefficients(self) -> Array:
        """What all examples added at the points that it holds."""

    @abstractmethod
    def arrays(self) -> dict[str, Any]:
        """Return what `take_arrays` goes on from, bit by bit."""

    @abstractmethod
    def take_arrays(self, stored: dict[str, Any]) -> None:
        """Go on from the arrays of a checkpoint."""

    # -- a turn

    def take_turn(self, orders: Orders, patches: dict[int, Array]) -> tuple[Report, dict[int, Array]]:
        """Take over what the neighbours changed, show examples, and return what is to be sent to them."""
        self.absorb(patches)
        before = self.square
        self.prepare(orders, before)
        count, code, room = 0, 0, FEWEST
        while True:
            shown = self.show(min(room, orders.most - count))
            room = min(2 * room, MOST)
            if len(shown.indices):
                count += len(shown.indices)
                count_shown(shown.indices, self._picks)
                if shown.coefficients is not None:
                    self.record.append((shown.indices, shown.coefficients, shown.discrepancy))
            code = shown.code
            if code or count >= orders.most:
                break
        self.lengths.append(count)
        self.before.append(before)
        self.turn = orders.turn
        self.latest = Report(self.number, orders.turn, count, self.square - before, self.top, code, -1)
        return self.latest, self.patches() if count else {}

    def report_opening(self) -> Report:
        """Return what is reported before the first turn."""
        own, target = self.own, self.target
        error, target = (self.values - target)[own], target[own]
        mean = float(target.mean())
        opening = (sum_squares(error), float(len(target)), mean, sum_squares(target - mean), self.discrepancy)
        return Report(self.number, 0, 0, 0.0, self.top, 0, -1, opening)

    @property
    def own(self) -> Indices:
        """The points that it owns, as indices of those that it holds."""
        return self.lesson.partition.own(self.number)

    def measure(self) -> float:
        """Return the sum of squares of its own points, from all of them."""
        return sum_squares((self.values - self.target)[self.own])

    # -- results

    def results(self) -> dict[str, Any]:
        """Return f, what examples added, and how often each was shown, at its own points."""
        own = self.own
        found: dict[str, Any] = {"values": self.values, "coefficients": self.coefficients, "picks": self._picks}
        return {name: values[own] for name, values in found.items()}

    def join_record(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Return the examples shown: indices in the whole pool, coefficients, and the discrepancy of what it holds."""
        indices, coefficients, discrepancy = self._join()
        return self.lesson.partition.number(self.number, indices), coefficients, discrepancy

    def _join(self) -> tuple[NDArray[np.int64], Array, Array]:
        parts = self.record or [(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))]
        indices, coefficients, discrepancy = (np.concatenate(column) for column in zip(*parts, strict=True))
        self.record = [(indices, coefficients, discrepancy)]
        return self.record[0]

    # -- on disk

    @property
    def fingerprint(self) -> str:
        """Of the target that it holds."""
        return hashlib.sha256(np.ascontiguousarray(self.target).data).hexdigest()

    def state(self) -> dict[str, Any]:
        """Return what `restore` goes on from, bit by bit."""
        return {
            "number": self.number,
            "turn": self.turn,
            "arrays": self.arrays(),
            "picks": self._picks,
            "record": list(self._join()),
            "lengths": np.array(self.lengths, dtype=np.int64),
            "before": np.array(self.before),
            "latest": [*self.latest[:7], list(self.latest.opening)],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        if state["number"] != self.number:
            raise CorruptLesson(f"this is the checkpoint of block {state['number']}, not of block {self.number}")
        self.take_arrays(state["arrays"])
        self.turn = int(state["turn"])
        self._picks = np.array(state["picks"], dtype=np.int32)
        indices, coefficients, discrepancy = state["record"]
        self.record = [(indices, coefficients, discrepancy)] if len(indices) else []
        self.lengths = [int(length) for length in state["lengths"]]
        self.before = [float(square) for square in state["before"]]
        block, turn, shown, change, top, code, saved, opening = state["latest"]
        self.latest = Report(block, turn, shown, change, top, code, saved, tuple(opening))


def sum_squares(error: Array) -> float:
    """Return the sum of squares, not as a product of vectors, whose last bits depend on the number of threads."""
    return float(np.sum(error * error))

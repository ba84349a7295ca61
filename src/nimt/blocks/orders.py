"""What a block is told to do at its turn, and what it reports."""

from __future__ import annotations

from typing import Any, NamedTuple


class Orders(NamedTuple):
    """One turn of one block; with the turns before it, it decides what the block shows.

    Attributes
    ----------
    turn : int
        From 1 on.
    level : float
        Show the largest errors until the next one would move f at its point by no more than this: |slope| K(x, x).
    excess : float
        By how much the sum of squares must fall for the tolerance to be met; infinite without one.
    limit : float
        The discrepancy beyond which the lesson has diverged.
    most : int
        The most examples.
    inbox : tuple of (block, turn)
        The blocks that changed points which this one holds since its latest turn, in their order.
    """

    turn: int
    level: float
    excess: float
    limit: float
    most: int
    inbox: tuple[tuple[int, int], ...]


class Report(NamedTuple):
    """What a block says after a turn.

    Attributes
    ----------
    block, turn : int
    shown : int
        How many examples it showed.
    change : float
        What they added to the sum of squares.
    top : float
        |slope| K(x, x) of the example it would show next, 0 if there is none.
    code : int
        The engine's outcome: it says whether the turn ended by a rule of the lesson.
    saved : int
        The turn of its latest checkpoint, -1 for none.
    opening : tuple of float
        At turn 0, of its points: the sum of squares, the count, mean and sum of squared deviations of the target; and
        the discrepancy of all that it holds.
    """

    block: int
    turn: int
    shown: int
    change: float
    top: float
    code: int
    saved: int
    opening: tuple[float, ...] = ()


def orders_of(rows: Any) -> list[Orders]:
    """Return orders as a file holds them, as lists."""
    return [
        Orders(int(turn), level, excess, limit, int(most), tuple((int(other), int(sent)) for other, sent in inbox))
        for turn, level, excess, limit, most, inbox in rows
    ]

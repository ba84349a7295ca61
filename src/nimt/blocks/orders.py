"""What a block is told to do at its turn, and what it reports."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np


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


def pack_orders(orders: Sequence[Sequence[Orders]]) -> dict[str, Any]:
    """Return the orders of each block as a few arrays, as a file holds them.

    Examples
    --------
    >>> some = [[Orders(3, 0.5, 1.0, 9.0, 7, ((1, 2),))], []]
    >>> unpack_orders(pack_orders(some)) == some
    True
    """
    rows = [each for own in orders for each in own]
    return {
        "of_block": np.array([len(own) for own in orders], dtype=np.int64),
        "numbers": np.array([each[:4] for each in rows], dtype=np.float64).reshape(-1, 4),
        "most": np.array([each.most for each in rows], dtype=np.int64),
        "in_inbox": np.array([len(each.inbox) for each in rows], dtype=np.int64),
        "inboxes": np.array([pair for each in rows for pair in each.inbox], dtype=np.int64).reshape(-1, 2),
    }


def unpack_orders(stored: Mapping[str, Any]) -> list[list[Orders]]:
    """Return the orders of each block from the arrays of a file."""
    inboxes = iter(stored["inboxes"].tolist())
    rows = iter(
        [
            Orders(int(turn), level, excess, limit, most, tuple((a, b) for a, b in itertools.islice(inboxes, count)))
            for (turn, level, excess, limit), most, count in zip(
                stored["numbers"].tolist(), stored["most"].tolist(), stored["in_inbox"].tolist(), strict=True
            )
        ]
    )
    return [list(itertools.islice(rows, count)) for count in stored["of_block"].tolist()]

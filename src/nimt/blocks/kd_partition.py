"""Scattered points cut into blocks by a k-d tree, with halos, and colours for those that may be taught together."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.blocks.partition import CHUNK
from nimt.errors import InvalidInput
from nimt.pools.pool import Points, Pool


class PointPartition:
    """Blocks of scattered points, of the same size but for one point.

    The points are halved along the longest side of the box around them, again and again. A block holds all points
    in its box made larger by the reach on every side. Two blocks have one colour only if these larger boxes do not
    touch.

    Parameters
    ----------
    pool : Pool
    count : int
        How many blocks.
    reach : float
        Of the kernel.

    Examples
    --------
    >>> cut = PointPartition(Points([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), 3, 0.6)
    >>> [cut.owned[block].tolist() for block in range(3)], cut.colours
    ([[0, 1], [2, 3], [4, 5]], ((0, 2), (1,)))
    """

    def __init__(self, pool: Pool, count: int, reach: float) -> None:
        if count > len(pool):
            problem = f"cuts the pool into {count}, and it has {len(pool)} points"
            raise InvalidInput(problem, parameter="blocks", way_out=f"give at most {len(pool)}")
        self.whole: Pool = pool
        self.reach: float = reach
        self.owned: list[Indices] = [np.sort(part) for part in _cut(pool.points, np.arange(len(pool)), count)]
        points = [pool.points[part] for part in self.owned]
        self.low: Array = np.array([part.min(axis=0) for part in points]) - reach
        self.high: Array = np.array([part.max(axis=0) for part in points]) + reach
        self._held: dict[int, Indices] = {}

    def __len__(self) -> int:
        return len(self.owned)

    @property
    def points(self) -> int:
        """The points of the whole pool."""
        return len(self.whole)

    def points_with_halo(self, block: int) -> Indices:
        """Return the points that a block holds, as indices of the whole pool, ascending."""
        if block not in self._held:
            points = self.whole.points
            inside = np.ones(len(points), dtype=bool)
            for axis in range(points.shape[1]):
                inside &= (points[:, axis] >= self.low[block, axis]) & (points[:, axis] <= self.high[block, axis])
            self._held[block] = np.flatnonzero(inside)
        return self._held[block]

    def size(self, block: int) -> int:
        """Return how many points a block holds."""
        return len(self.points_with_halo(block))

    def pool(self, block: int) -> Points:
        """Return the points that a block holds as a pool of its own."""
        return Points(self.whole.take(self.points_with_halo(block)))

    def own(self, block: int) -> Indices:
        """Return the points that a block owns, as indices of the pool it holds, ascending."""
        return np.searchsorted(self.points_with_halo(block), self.owned[block])

    def take_held(self, block: int, array: Any) -> Any:
        """Return the part of an array (n,) that a block holds."""
        return array[self.points_with_halo(block)]

    def write_own(self, block: int, values: NDArray[np.generic], array: Any) -> None:
        """Write the values of the points that a block owns into an array (n,)."""
        array[self.owned[block]] = values

    @property
    def written_together(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that may write into one array at the same time: one, since its points lie anywhere in it."""
        return tuple((block,) for block in range(len(self)))

    @property
    def chunk(self) -> tuple[int, ...]:
        """The shape of the chunks of an array of results."""
        return (min(CHUNK, self.points),)

    def number(self, block: int, local: Indices) -> NDArray[np.int64]:
        """Return the indices in the whole pool of some points that a block holds."""
        return self.points_with_halo(block)[local].astype(np.int64)

    def _touches(self, block: int) -> NDArray[np.bool_]:
        """Say of each block whether its larger box touches that of this one."""
        return np.asarray(np.all((self.low <= self.high[block]) & (self.high >= self.low[block]), axis=1))

    def neighbours(self, block: int) -> list[int]:
        """Return the blocks that may hold some of the points that this one holds."""
        return [int(other) for other in np.flatnonzero(self._touches(block)) if other != block]

    def find_shared(self, block: int, other: int) -> Indices:
        """Return the points that two blocks hold, as indices of the pool of the first, ascending."""
        return np.flatnonzero(np.isin(self.points_with_halo(block), self.points_with_halo(other), assume_unique=True))

    @cached_property
    def colours(self) -> tuple[tuple[int, ...], ...]:
        """The blocks of each colour, ascending: each block has the first colour that no block it touches has."""
        colour = np.full(len(self), -1)
        for block in range(len(self)):
            taken = set(colour[self._touches(block)].tolist())
            colour[block] = next(free for free in range(len(self)) if free not in taken)
        return tuple(tuple(np.flatnonzero(colour == number).tolist()) for number in range(int(colour.max()) + 1))


def _cut(points: Array, part: Indices, count: int) -> list[Indices]:
    """Return `part` in so many pieces of nearly one size, cut across the longest side."""
    if count == 1:
        return [part]
    inside = points[part]
    axis = int(np.argmax(np.ptp(inside, axis=0)))
    order = np.argsort(inside[:, axis], kind="stable")  # ties by index, so that the cut is the same every time
    left = count // 2
    middle = len(part) * left // count
    return [*_cut(points, part[order[:middle]], left), *_cut(points, part[order[middle:]], count - left)]

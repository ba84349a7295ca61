"""A grid cut into blocks with halos, and colours for the blocks that may be taught at the same time."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Indices
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid

Span = tuple[int, int]  # from the first to before the last, along one axis
Box = tuple[Span, ...]

CHUNK = 2**20  # numbers in a chunk of an array of results, at the most


class GridPartition:
    """Blocks of a grid, numbered in C order.

    A block owns a box of points and holds that box with a halo of `reach` points on every side. Colours are the
    parities of its place along the axes: two blocks of one colour have a block between them, at least twice the reach
    wide, so that no point is held by both.

    Parameters
    ----------
    grid : Grid
    counts : tuple of int
        Blocks along each axis.
    reach : tuple of int
        How many points the kernel reaches along each axis.

    Examples
    --------
    >>> cut = GridPartition(Grid.like(np.zeros((6, 4))), (3, 1), (1, 1))
    >>> cut.own_box(1), cut.box_with_halo(1), cut.colours
    (((2, 4), (0, 4)), ((1, 5), (0, 4)), ((0, 2), (1,)))
    """

    def __init__(self, grid: Grid, counts: tuple[int, ...], reach: tuple[int, ...]) -> None:
        self.grid = grid
        self.counts = counts
        self.reach = reach
        self.edges: tuple[NDArray[np.int64], ...] = tuple(
            np.arange(count + 1) * length // count for count, length in zip(counts, grid.shape, strict=True)
        )
        self._check()

    def _check(self) -> None:
        for axis, (count, length, reach) in enumerate(zip(self.counts, self.grid.shape, self.reach, strict=True)):
            if count > length:
                problem = f"cuts axis {axis} into {count}, and it has {length} points"
                raise InvalidInput(problem, parameter="blocks", way_out=f"give at most {length} there")
            narrowest = int(np.diff(self.edges[axis]).min())
            if count > 1 and narrowest < 2 * reach:
                most = max(1, length // (2 * reach))
                raise InvalidInput(
                    f"cuts axis {axis} into blocks of {narrowest} points, and the kernel reaches {reach}: a block must "
                    f"be twice as wide as that",
                    parameter="blocks",
                    way_out=f"give at most {most} there, or a narrower kernel",
                )

    def __len__(self) -> int:
        return math.prod(self.counts)

    @property
    def points(self) -> int:
        """The points of the whole pool."""
        return len(self.grid)

    def place(self, block: int) -> tuple[int, ...]:
        """Return where a block is among the blocks along each axis."""
        return tuple(int(part) for part in np.unravel_index(block, self.counts))

    def own_box(self, block: int) -> Box:
        """Return the points that a block owns, a span along each axis."""
        return tuple(
            (int(edges[part]), int(edges[part + 1])) for edges, part in zip(self.edges, self.place(block), strict=True)
        )

    def box_with_halo(self, block: int) -> Box:
        """Return the points that a block holds: its own and its halo."""
        return tuple(
            (max(0, low - reach), min(length, high + reach))
            for (low, high), reach, length in zip(self.own_box(block), self.reach, self.grid.shape, strict=True)
        )

    def size(self, block: int) -> int:
        """Return how many points a block holds."""
        return math.prod(high - low for low, high in self.box_with_halo(block))

    def pool(self, block: int) -> Grid:
        """Return the points that a block holds as a pool of its own."""
        return Grid(
            *(axis[low:high] for axis, (low, high) in zip(self.grid.axes, self.box_with_halo(block), strict=True))
        )

    def own(self, block: int) -> Indices:
        """Return the points that a block owns, as indices of the pool it holds, ascending."""
        return _flat(self.own_box(block), self.box_with_halo(block))

    def take_held(self, block: int, array: Any) -> Any:
        """Return the part of an array, of the shape of the grid, that a block holds."""
        return array[_slices(self.box_with_halo(block))]

    def write_own(self, block: int, values: NDArray[np.generic], array: Any) -> None:
        """Write the values of the points that a block owns into an array of the shape of the grid."""
        box = self.own_box(block)
        array[_slices(box)] = values.reshape([high - low for low, high in box])

    @property
    def written_together(self) -> tuple[tuple[int, ...], ...]:
        """The blocks that may write into one array at the same time, whatever chunks as narrow as a block it has."""
        return self.colours

    @property
    def chunk(self) -> tuple[int, ...]:
        """The shape of the chunks of an array of results: as narrow as a block, since a chunk is written as a whole.

        So blocks of one colour never write to one chunk.
        """
        longest = int(CHUNK ** (1.0 / len(self.counts)))
        return tuple(min(longest, int(np.diff(edges).min())) for edges in self.edges)

    def number(self, block: int, local: Indices) -> NDArray[np.int64]:
        """Return the indices in the whole pool of some points that a block holds."""
        held = self.box_with_halo(block)
        rest, total, stride = np.asarray(local, dtype=np.int64), np.zeros(len(local), dtype=np.int64), 1
        for (low, high), length in zip(reversed(held), reversed(self.grid.shape), strict=True):
            total += (rest % (high - low) + low) * stride
            rest, stride = rest // (high - low), stride * length
        return total

    def neighbours(self, block: int) -> list[int]:
        """Return the blocks that hold some of the points that this one holds."""
        near = [
            range(max(0, part - 1), min(count, part + 2))
            for part, count in zip(self.place(block), self.counts, strict=True)
        ]
        numbers = np.ravel_multi_index(np.meshgrid(*near, indexing="ij"), self.counts).ravel()
        return [int(number) for number in numbers if number != block]

    def find_shared(self, block: int, other: int) -> Indices:
        """Return the points that two blocks hold, as indices of the pool of the first, in the order of the pool."""
        held, box = self.box_with_halo(block), self.box_with_halo(other)
        common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(held, box, strict=True))
        return _flat(common, held)

    @cached_property
    def colours(self) -> tuple[tuple[int, ...], ...]:
        """The blocks of each colour, ascending."""
        found: dict[tuple[int, ...], list[int]] = {}
        for block in range(len(self)):
            found.setdefault(tuple(part % 2 for part in self.place(block)), []).append(block)
        return tuple(tuple(found[colour]) for colour in sorted(found))


def _slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(low, high) for low, high in box)


def _flat(box: Box, inside: Box) -> Indices:
    """Return the points of a box as indices of the box that it is in."""
    total, stride = np.zeros((1,), dtype=np.intp), 1
    for (low, high), (first, last) in zip(reversed(box), reversed(inside), strict=True):
        total = np.add.outer(np.arange(low - first, high - first, dtype=np.intp) * stride, total).reshape(-1)
        stride *= last - first
    return total

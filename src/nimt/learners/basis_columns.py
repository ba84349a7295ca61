"""Where the columns of a growing basis are kept: all their values, or only those that are not zero."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_stored_array, check_stored_indices
from nimt.errors import CorruptLesson

NONE = -1  # no entry
EVERYWHERE = slice(None)
Places = slice | NDArray[np.int64]  # of a column: everywhere, or at these points
SMALL = 64  # columns below which nothing is said about how full they are
TOUCHED = 10  # a value found by its address takes about as long as this many read in order
KEPT = 3  # an entry takes as much memory as this many values


class DenseColumns:
    """Columns as one array; a step reads all of it in order, as fast as memory allows.

    Parameters
    ----------
    points : int
    capacity : int
        How many columns there is room for before they are copied; it grows automatically.
    """

    def __init__(self, points: int, capacity: int = 8) -> None:
        self.size: int = 0
        self._functions: Array = np.empty((max(8, capacity), points))  # one row per column: read in order

    @property
    def array(self) -> Array:
        """The columns, shape (n, m)."""
        return self._functions[: self.size].T

    def row(self, index: int) -> Array:
        """Return the columns at one point, shape (m,)."""
        return self._functions[: self.size, index].copy()

    def grow(self, row: Array, places: Places, section: Array, pivot: float) -> tuple[Places, Array]:
        """Add the column (section - sum_j row_j column_j) / pivot and return it; the section is 0 but at its places."""
        if self.size == len(self._functions):
            larger = np.empty((2 * self.size, self._functions.shape[1]))
            larger[: self.size] = self._functions
            self._functions = larger
        column = self._functions[self.size]
        np.dot(row, self._functions[: self.size], out=column)
        np.negative(column, out=column)
        column[places] += section
        column /= pivot
        self.size += 1
        return EVERYWHERE, column

    def fill(self, columns: Array) -> None:
        """Keep these columns and no others; there must be room for them."""
        self.size = columns.shape[1]
        self._functions[: self.size] = columns.T

    @property
    def is_too_full(self) -> bool:
        return False

    def state(self) -> dict[str, Any]:
        return {"columns": self.array}


class SparseColumns:
    """Columns as lists of the points where they are above a cut; the entries of a point are a chain.

    Where a kernel has a short reach a column of the Newton basis fades out within a few times that reach. A centre then
    meets few other columns, and adding it costs the entries of these, not n m.

    Parameters
    ----------
    points : int
    cut : float
        Values not above it in size are dropped.

    Examples
    --------
    >>> columns = SparseColumns(4, cut=1e-16)
    >>> columns.append(np.array([1.0, 0.5, 0.0, 0.0]))
    >>> columns.grow(columns.row(1), np.array([1, 2]), np.array([1.0, 0.5]), pivot=0.5)
    (array([0, 1, 2]), array([-1. ,  1.5,  1. ]))
    """

    def __init__(self, points: int, cut: float) -> None:
        self.cut = cut
        self.size: int = 0
        self._starts: NDArray[np.int64] = np.zeros(9, dtype=np.int64)  # of each column, and the end of the last
        self._members: NDArray[np.int64] = np.empty(256, dtype=np.int64)
        self._values: Array = np.empty(256)
        self._before: NDArray[np.int64] = np.empty(256, dtype=np.int64)  # the entry before, at the same point
        self._latest: NDArray[np.int64] = np.full(points, NONE, dtype=np.int64)  # the last entry of each point
        self._touched: int = 0  # entries read for the last column
        self._scratch: Array = np.zeros(0)  # for compiled code: one zero per point

    @property
    def array(self) -> Array:
        """The columns, shape (n, m)."""
        result = np.zeros((self.size, len(self._latest)))
        for place, (begin, end) in enumerate(itertools.pairwise(self._starts[: self.size + 1])):
            result[place, self._members[begin:end]] = self._values[begin:end]
        return result.T

    def row(self, index: int) -> Array:
        """Return the columns at one point, shape (m,)."""
        chain: list[int] = []
        entry = int(self._latest[index])
        while entry != NONE:
            chain.append(entry)
            entry = int(self._before[entry])
        entries = np.array(chain, dtype=np.int64)
        row = np.zeros(self.size)
        row[np.searchsorted(self._starts[: self.size + 1], entries, side="right") - 1] = self._values[entries]
        return row

    def grow(self, row: Array, places: Places, section: Array, pivot: float) -> tuple[Places, Array]:
        """Add the column (section - sum_j row_j column_j) / pivot and return it; the section is 0 but at its places."""
        assert not isinstance(places, slice)  # a short-ranged kernel is zero almost everywhere
        used = np.flatnonzero(row)
        begins = self._starts[used]
        lengths = self._starts[used + 1] - begins
        ends = np.cumsum(lengths)
        self._touched = int(ends[-1]) if len(ends) else 0
        entries = np.repeat(begins - ends + lengths, lengths) + np.arange(self._touched)
        met = self._members[entries]
        # from the first to the last point that may not be zero: sums over a short range need no sorting
        low, high = int(places.min()), int(places.max())
        if self._touched:
            low, high = min(low, int(met.min())), max(high, int(met.max()))
        column = np.zeros(high - low + 1)
        if self._touched:
            column -= np.bincount(met - low, self._values[entries] * np.repeat(row[used], lengths), len(column))
        column[places - low] += section
        column /= pivot
        kept = np.flatnonzero(np.abs(column) > self.cut)
        here, column = kept + low, column[kept]
        self._take(here, column)
        return here, column

    def grow_with(self, add: Callable[[tuple[NDArray[Any], ...]], int]) -> tuple[Places, Array]:
        """Let compiled code add a column and return it; `add` answers with the entries it read, -1 without room."""
        if not len(self._scratch):
            self._scratch = np.zeros(len(self._latest))
        begin = int(self._starts[self.size])
        self._make_room(begin)
        while (touched := add(self._arrays())) < 0:
            self._make_room(2 * len(self._values))
        self._touched = touched
        self.size += 1
        end = int(self._starts[self.size])
        return self._members[begin:end], self._values[begin:end]

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self._starts, self._members, self._values, self._before, self._latest, self._scratch

    def append(self, column: Array) -> None:
        """Keep one more column, computed elsewhere, shape (n,)."""
        members = np.flatnonzero(np.abs(column) > self.cut)
        self._take(members, column[members])

    def _take(self, members: NDArray[np.int64], values: Array) -> None:
        begin = int(self._starts[self.size])
        end = begin + len(members)
        self._make_room(end)
        self._members[begin:end] = members
        self._values[begin:end] = values
        self._before[begin:end] = self._latest[members]
        self._latest[members] = np.arange(begin, end)
        self.size += 1
        self._starts[self.size] = end

    def _make_room(self, entries: int) -> None:
        if entries > len(self._values):
            room = max(entries, 2 * len(self._values))
            self._members, self._before = _longer(self._members, room), _longer(self._before, room)
            self._values = _longer(self._values, room)
        if self.size + 2 > len(self._starts):
            self._starts = _longer(self._starts, 2 * len(self._starts))

    @property
    def is_too_full(self) -> bool:
        """Whether dense columns would take less memory, or less time for the next centre."""
        dense = self.size * len(self._latest)
        return self.size >= SMALL and (KEPT * int(self._starts[self.size]) > dense or TOUCHED * self._touched > dense)

    def state(self) -> dict[str, Any]:
        entries = int(self._starts[self.size])
        return {
            "starts": self._starts[: self.size + 1],
            "members": self._members[:entries],
            "entries": self._values[:entries],
        }

    def restore(self, state: dict[str, Any], size: int) -> None:
        """Take the columns of a state, before there are any others."""
        n = len(self._latest)
        starts = check_stored_array(state, "starts", (size + 1,), "i").astype(np.int64)
        members = check_stored_indices(state, "members", (None,), n)
        entries = check_stored_array(state, "entries", (len(members),))
        if starts[0] != 0 or starts[-1] != len(members) or (np.diff(starts) < 0).any():
            raise CorruptLesson("the file was altered: the columns of its basis overlap")
        for begin, end in itertools.pairwise(starts):
            self._take(members[begin:end], entries[begin:end])


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """Return a longer array that begins with this one."""
    result = np.zeros(length, dtype=array.dtype)
    result[: len(array)] = array
    return result

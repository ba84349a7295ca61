"""Any kernel on any pool: columns of K computed when needed, the latest kept within a number of bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.kernels import Kernel, diagonal
from nimt.operators.operator import Cost, add_column
from nimt.pools.pool import Pool

CACHE = 2**30  # bytes of columns kept
BLOCK = 2**26  # bytes of columns the kernel computes at once

Kept = tuple[Array, NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]


class StreamedOperator:
    """K by columns, with a cache, because greedy teaching shows the same points many times.

    Parameters
    ----------
    kernel : Kernel
    pool : Grid or Points
    cache_bytes : int
        The most that is kept; the least recently used column is replaced first.
    column : callable(index, result), optional
        A faster way to fill one column than by the kernel.

    Attributes
    ----------
    room : int
        How many columns are kept at most; fewer once the system refused the space for them.
    size : int
        How many are.
    """

    name = "streamed"

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        cache_bytes: int = CACHE,
        column: Callable[[int, Array], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self.pool = pool
        self.compute: Callable[[int, Array], None] = column or self._by_kernel
        self.room: int = min(max(1, int(cache_bytes // (8 * len(pool)))), len(pool))
        self.forget()

    def forget(self) -> None:
        """Release all columns."""
        self.size: int = 0
        self._columns: Array = np.empty((0, len(self.pool)))
        self._where: NDArray[np.int32] = np.full(len(self.pool), -1, dtype=np.int32)
        self._owner: NDArray[np.int64] = np.full(self.room, -1, dtype=np.int64)
        self._list_used: NDArray[np.int64] = np.zeros(self.room, dtype=np.int64)
        self._clock: NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    @property
    def kept(self) -> Kept:
        """What compiled code reads and writes.

        The columns that are kept, one per row; the row that holds the column of each point, or -1; when each row was
        last used; and a clock of one number, which counts the uses.
        """
        return self._columns, self._where, self._list_used, self._clock

    @property
    def asks_kernel(self) -> bool:
        """Whether the kernel itself is called, which may be the user's, and fail."""
        return self.compute == self._by_kernel

    @classmethod
    def cost(cls, pool: Pool, cache_bytes: int = CACHE, repeats: bool = False) -> Cost:
        """Return its cost: the columns kept, and a pass over one of them per example.

        The seconds hold the share of an example in computing the columns, if each is used about ten times; where not
        all can be kept, they are computed more often, and come from memory instead of the cache of the processor. If
        a lesson `repeats` few points, as with a kernel that reaches most of the pool, a fifth of all is enough.
        """
        n = len(pool)
        share = cache_bytes / (8 * n * n)
        point = 9.5e-10 if share >= 1 else 1.7e-9 if repeats and share >= 0.2 else 4e-9
        return Cost(memory=min(cache_bytes, 8 * n * n), seconds=1e-6 + point * n)

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def column(self, index: int) -> Array:
        """Return K[:, index]; it belongs to the cache: do not write to it."""
        self.fetch(np.array([index]))
        return np.asarray(self._columns[self._where[index]])

    def fetch(self, indices: Indices) -> None:
        """Compute those of these columns that are not kept; there must be room for all of them.

        If the kernel raises an error, the columns that were kept are not lost, but for the one it was to replace.
        """
        if not len(self._columns):
            self._reserve()
        places = self._where[indices]
        self._list_used[places[places >= 0]] = self._tick()  # so that none of these has to leave
        missing = np.unique(indices[places < 0])
        width = max(1, BLOCK // (8 * len(self.pool))) if self.asks_kernel else 1
        for start in range(0, len(missing), width):
            part = missing[start : start + width]
            block = self._block(part) if len(part) > 1 else None
            for column, index in enumerate(part.tolist()):
                self._keep(index, None if block is None else block[:, column])

    def _reserve(self) -> None:
        """Take the space of all columns, of which the system gives memory where it is written to.

        Where the address space is limited (`ulimit -v`), the room becomes smaller, and as much is left to others.
        """
        try:
            self._columns = np.empty((self.room, len(self.pool)))
        except MemoryError:
            if self.room == 1:
                raise
            self.room = _half_of_what_is_free(self.room, len(self.pool))
            self._columns = np.empty((self.room, len(self.pool)))
            self._owner, self._list_used = self._owner[: self.room].copy(), self._list_used[: self.room].copy()

    def _keep(self, index: int, column: Array | None) -> None:
        """Put a column into an empty place, or that of the least recently used; without one it is computed."""
        place = self.size if self.size < self.room else int(np.argmin(self._list_used))
        if self._owner[place] >= 0:
            self._where[self._owner[place]] = -1
        self._owner[place], self._list_used[place] = -1, 0  # if filling it fails, it is the first to be filled again
        if column is None:
            self.compute(index, self._columns[place])
        else:
            self._columns[place] = column
        self._owner[place], self._where[index], self._list_used[place] = index, place, self._tick()
        self.size = max(self.size, place + 1)

    def _tick(self) -> int:
        self._clock += 1
        return int(self._clock[0])

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        unknown = np.count_nonzero(self._where[indices] < 0)
        if self.asks_kernel and unknown > 1:
            self._add_in_blocks(values, indices, coefficients)
            return
        for index, coefficient in zip(indices, coefficients, strict=True):
            add_column(values, self.column(int(index)), coefficient)

    def _add_in_blocks(self, values: Array, indices: Indices, coefficients: Array) -> None:
        width = max(1, BLOCK // (8 * len(self.pool)))
        for start in range(0, len(indices), width):
            part = slice(start, start + width)
            values += self._block(indices[part]) @ coefficients[part]

    def _by_kernel(self, index: int, result: Array) -> None:
        result[:] = self._block(np.array([index]))[:, 0]

    def _block(self, indices: Indices) -> Array:
        """Return K[:, indices] as the kernel computes it, which may return lists."""
        return np.asarray(self.kernel(self.pool.points, self.pool.points[indices]))


def _half_of_what_is_free(room: int, n: int) -> int:
    """Return how many columns fit into half of the space that is free, at least one, where `room` do not."""
    while room > 1:
        room //= 2
        try:
            np.empty((room, n))
        except MemoryError:
            continue
        break
    return max(1, room // 2)

"""Any kernel on any pool: columns of K computed when needed, the latest kept within a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from nimt.arrays import Array, Indices
from nimt.kernels import diagonal
from nimt.operators.base import Cost, add_column
from nimt.pools.base import Pool

CACHE = 2**30  # bytes of columns kept
BLOCK = 2**26  # bytes of columns scikit-learn computes at once


class StreamedOperator:
    """K by columns, with a cache, because greedy teaching shows the same points many times.

    Parameters
    ----------
    kernel : scikit-learn kernel
    pool : Grid or Points
    cache_bytes : int
        The most that is kept; the least recently used column is replaced first.
    column : callable(index, result), optional
        A faster way to fill one column than scikit-learn's.

    Attributes
    ----------
    hits, misses : int
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
        self.compute: Callable[[int, Array], None] = column or self._by_scikit_learn
        self.room: int = max(1, int(cache_bytes // (8 * len(pool))))
        self.kept: OrderedDict[int, Array] = OrderedDict()
        self.hits: int = 0
        self.misses: int = 0

    @property
    def asks_kernel(self) -> bool:
        """Whether the kernel itself is called, which may be the user's, and fail."""
        return self.compute == self._by_scikit_learn

    @classmethod
    def cost(cls, pool: Pool, cache_bytes: int = CACHE) -> Cost:
        """Return its cost: the columns kept, and a pass over one of them per example."""
        n = len(pool)
        return Cost(memory=min(cache_bytes, 8 * n * n), seconds=1e-7 + 1.5e-10 * n)

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def column(self, index: int) -> Array:
        """Return K[:, index]; it belongs to the cache: do not write to it."""
        found = self.kept.get(index)
        if found is not None:
            self.kept.move_to_end(index)
            self.hits += 1
            return found
        self.misses += 1
        if len(self.kept) >= self.room:
            _, found = self.kept.popitem(last=False)  # its memory is reused
        else:
            found = np.empty(len(self.pool))
        self.compute(index, found)
        self.kept[index] = found
        return found

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        unknown = [int(index) for index in indices if int(index) not in self.kept]
        if self.asks_kernel and len(unknown) > 1:
            self._add_in_blocks(values, indices, coefficients)
            return
        for index, coefficient in zip(indices, coefficients, strict=True):
            add_column(values, self.column(int(index)), coefficient)

    def _add_in_blocks(self, values: Array, indices: Indices, coefficients: Array) -> None:
        points = self.pool.points
        width = max(1, BLOCK // (8 * len(points)))
        for start in range(0, len(indices), width):
            part = slice(start, start + width)
            values += self.kernel(points, points[indices[part]]) @ coefficients[part]

    def _by_scikit_learn(self, index: int, result: Array) -> None:
        result[:] = self.kernel(self.pool.points, self.pool.points[index : index + 1])[:, 0]

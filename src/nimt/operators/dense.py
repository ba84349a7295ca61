"""The plain operator: the whole Gram matrix where it fits, kernel columns computed when asked for where not."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from nimt.kernels import diagonal
from nimt.operators.base import Array, Indices
from nimt.pools import Pool

GRAM_LIMIT = 2**30  # bytes; beyond it the Gram matrix is never formed
BLOCK_LIMIT = 2**26  # bytes of kernel columns held at once


class DenseOperator:
    """K as scikit-learn computes it.

    Parameters
    ----------
    kernel : scikit-learn kernel
    pool : Grid or Points
    gram_limit : int
        Bytes the Gram matrix may take.

    Examples
    --------
    >>> from nimt.kernels import linear
    >>> from nimt.pools import Points
    >>> values = np.zeros(2)
    >>> DenseOperator(linear(0.0), Points([1.0, 2.0])).add(values, np.array([1]), np.array([3.0]))
    >>> values
    array([ 6., 12.])
    """

    name = "dense"

    def __init__(self, kernel: Any, pool: Pool, gram_limit: int = GRAM_LIMIT) -> None:
        self.kernel = kernel
        self.pool = pool
        self.keeps_gram = 8 * len(pool) ** 2 <= gram_limit

    @cached_property
    def gram(self) -> Array:
        return np.ascontiguousarray(self.kernel(self.pool.points), dtype=np.float64)

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        if self.keeps_gram:
            self._add_from_gram(values, indices, coefficients)
        else:
            self._add_by_columns(values, indices, coefficients)

    def _add_from_gram(self, values: Array, indices: Indices, coefficients: Array) -> None:
        if len(indices) == 1:
            values += coefficients[0] * self.gram[indices[0]]
        elif 4 * len(indices) < len(values):
            values += coefficients @ self.gram[indices]
        else:  # reading every row once is cheaper than copying many of them
            spread = np.zeros_like(values)
            np.add.at(spread, indices, coefficients)
            values += self.gram @ spread

    def _add_by_columns(self, values: Array, indices: Indices, coefficients: Array) -> None:
        points = self.pool.points
        width = max(1, BLOCK_LIMIT // (8 * len(points)))
        for start in range(0, len(indices), width):
            part = slice(start, start + width)
            values += self.kernel(points, points[indices[part]]) @ coefficients[part]

"""The plain operator: the whole Gram matrix where it fits, otherwise kernel columns computed when needed.

A stationary kernel on a grid takes the same value at the same offset, wherever on the grid it is. Values computed
from the points themselves would differ in the last bit, and a target with symmetries is then taught in an order that
depends on that bit. So on a grid K is read from its window, here as in the faster engines, and packs are added column
after column: the plain loop and the compiled one then do the same arithmetic, to the last bit.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from nimt.arrays import Array, Indices
from nimt.kernels import Kernel, diagonal
from nimt.operators.grid import SMALL_WINDOW, GridOperator, find_window
from nimt.operators.operator import add_column
from nimt.pools.pool import Pool

GRAM_LIMIT = 2**30  # bytes; beyond it the Gram matrix is never formed
LARGE_GRAM = 2**26  # bytes from which it is not formed either where nearly all of it is zero
ZEROS = 16  # entries of a column for one in the window
BLOCK_LIMIT = 2**26  # bytes of kernel columns held at once
GRAM_BLOCK = 2**23  # bytes of the Gram matrix computed at once: a kernel may need as much again beside them


class DenseOperator:
    """K as the kernel computes it.

    Parameters
    ----------
    kernel : Kernel
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

    def __init__(self, kernel: Kernel, pool: Pool, gram_limit: int = GRAM_LIMIT) -> None:
        self.kernel = kernel
        self.pool = pool
        self.gram_limit = gram_limit

    @cached_property
    def keeps_gram(self) -> bool:
        """Whether the Gram matrix is formed: if there is room for it, and it is not large and nearly all zeros."""
        size = 8 * len(self.pool) ** 2
        if size <= LARGE_GRAM or size > self.gram_limit or self.window is None:
            return size <= self.gram_limit
        return ZEROS * self.window.cells > len(self.pool)

    @cached_property
    def window(self) -> GridOperator | None:
        """The kernel's window, where it has one."""
        return find_window(self.kernel, self.pool)

    @cached_property
    def gram(self) -> Array:
        if self.window is not None:
            gram, one = np.zeros((len(self.pool), len(self.pool))), np.ones(())
            for index, row in enumerate(gram):
                self.window.add_column(row, index, one)
            return gram
        points = self.pool.points
        gram = np.empty((len(points), len(points)))
        rows = max(1, GRAM_BLOCK // (8 * len(points)))
        for start in range(0, len(points), rows):
            gram[start : start + rows] = self.kernel(points[start : start + rows], points)
        return gram

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        if self.keeps_gram and coefficients.shape == (1,):  # plain numbers take half the time of arrays of one
            values += self.gram[indices.item()] * coefficients.item()
        elif self.keeps_gram:
            for index, coefficient in zip(indices, coefficients, strict=True):
                add_column(values, self.gram[index], coefficient)
        elif self.window is not None and len(indices) > 1 and self.window.cells <= SMALL_WINDOW:
            self.window.add_columns(values, indices, coefficients)
        elif self.window is not None:
            for index, coefficient in zip(indices, coefficients, strict=True):
                self.window.add_column(values, int(index), coefficient)
        else:
            self._add_by_columns(values, indices, coefficients)

    def add_one(self, values: Array, index: int, coefficient: float) -> None:
        """Do what `add` does for one point, without arrays of one number where a row of the Gram matrix is at hand."""
        if self.keeps_gram and values.ndim == 1:
            values += self.gram[index] * coefficient
        else:
            self.add(values, np.array([index]), np.array([coefficient]))

    def apply(self, values: Array) -> Array:
        """Return K times values on the pool, (n,) or (n, q)."""
        if self.window is not None and not self.keeps_gram:
            outputs = values.reshape(len(values), -1).T
            found = [self.window.convolve(np.ascontiguousarray(output)) for output in outputs]
            return np.stack(found, axis=1).reshape(values.shape)
        if self.keeps_gram:
            return np.asarray(self.gram @ values)
        product = np.zeros(values.shape)
        self.add(product, np.arange(len(values)), values)
        return product

    def _add_by_columns(self, values: Array, indices: Indices, coefficients: Array) -> None:
        points = self.pool.points
        width = max(1, BLOCK_LIMIT // (8 * len(points)))
        for start in range(0, len(indices), width):
            part = slice(start, start + width)
            values += np.asarray(self.kernel(points, points[indices[part]])) @ coefficients[part]

"""The Newton basis of kernel interpolation: orthonormal functions, one per centre, that are never recomputed."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from nimt.arrays import Array

SMALLEST_POWER = 1e-6  # the power function is a root of a difference, so it carries half the digits of a float


class NewtonBasis:
    r"""The Newton basis of chosen centres, by its values on n fixed points.

    v_m(x) = (K(x, x_m) - sum_{j<m} v_j(x_m) v_j(x)) / pivot_m,  pivot_m^2 = K(x_m, x_m) + ridge - sum_{j<m} v_j(x_m)^2,

    the columns of a Cholesky factorisation of K + ridge I that only grows: O(n m) for the m-th centre
    [Mueller09, Pazouki11]. The power function P, with P(x)^2 = K(x, x) - sum_j v_j(x)^2, is without ridge the
    distance in H of K(x, .) from the span of the centres, so it is 0 at a centre.

    Parameters
    ----------
    kernel : scikit-learn kernel
    points : array (n, d)
    ridge : float
    tolerance : float
        A centre whose pivot is at most this share of sqrt(K(x, x)) is refused: it is in the span of the others already.
    capacity : int
        How many centres there is room for before the columns are copied; it grows automatically.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> basis = NewtonBasis(rbf(1.0), np.array([[0.0], [1.0], [9.0]]))
    >>> basis.add(0) is None, basis.add(0) is None  # once, and not twice
    (False, True)
    >>> basis.power.round(3)
    array([0.  , 0.93, 1.  ])
    """

    def __init__(
        self,
        kernel: Kernel,
        points: Array,
        ridge: float = 0.0,
        tolerance: float = SMALLEST_POWER,
        capacity: int = 8,
    ) -> None:
        self.kernel = kernel
        self.points = points
        self.ridge = ridge
        self.diagonal: Array = np.asarray(kernel.diag(points), dtype=np.float64)
        self.least: Array = tolerance**2 * self.diagonal
        self.power_squared: Array = self.diagonal.copy()
        self._functions: Array = np.empty((capacity, len(points)))  # one row per v_j: products read memory in order
        self.size: int = 0

    @property
    def columns(self) -> Array:
        """v_j at every point, shape (n, m)."""
        return self._functions[: self.size].T

    @property
    def power(self) -> Array:
        return np.asarray(np.sqrt(self.power_squared))

    @property
    def is_full(self) -> bool:
        """Whether no point is left at which the power function is above the tolerance."""
        return bool(np.all(self.power_squared <= self.least))

    def refuses(self, index: int) -> bool:
        """Say whether the point of this index is a centre already, or in the span of the centres."""
        return bool(self.power_squared[index] + self.ridge <= self.least[index])

    def add(self, index: int) -> Array | None:
        """Take a point as the next centre and return its row of the Cholesky factor, or None where it is refused."""
        if self.refuses(index):
            return None
        row = np.append(self.columns[index], np.sqrt(self.power_squared[index] + self.ridge))
        column = self._room_for_one()
        np.dot(row[:-1], self._functions[: self.size], out=column)
        center = self.points[index : index + 1]
        section = self.kernel(center, self.points)[0]  # as a row: three times faster than as a column
        np.subtract(section, column, out=column)
        column /= row[-1]
        self.size += 1
        self.power_squared = np.maximum(self.power_squared - column**2, 0.0)
        if not self.ridge:
            self.power_squared[index] = 0.0
        return row

    def restart(self, columns: Array) -> None:
        """Begin with columns computed elsewhere."""
        self.size = columns.shape[1]
        self._functions = np.empty((max(8, 2 * self.size), len(self.points)))
        self._functions[: self.size] = columns.T
        self.power_squared = np.maximum(self.diagonal - np.einsum("ij,ij->i", columns, columns), 0.0)

    def _room_for_one(self) -> Array:
        """Return the memory of the next column, after copying the others to an array twice as large if needed."""
        if self.size == len(self._functions):
            larger = np.empty((max(8, 2 * self.size), len(self.points)))
            larger[: self.size] = self._functions
            self._functions = larger
        return np.asarray(self._functions[self.size])

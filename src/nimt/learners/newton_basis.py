"""The Newton basis of kernel interpolation: orthonormal functions, one per centre, that are never recomputed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nimt.arrays import Array, check_stored_array
from nimt.kernels import CUT, Kernel
from nimt.learners.basis_columns import EVERYWHERE, DenseColumns, Places, SparseColumns
from nimt.operators.grid import GridOperator, find_window
from nimt.operators.operator import add_column
from nimt.pools.pool import Pool

SMALLEST_POWER = 1e-6  # the power function is a root of a difference, so it carries half the digits of a float
SHORT = 8  # a window is short if the grid has this many times its cells


class NewtonBasis:
    r"""The Newton basis of chosen centres, by its values on n fixed points.

    v_m(x) = (K(x, x_m) - sum_{j<m} v_j(x_m) v_j(x)) / pivot_m,  pivot_m^2 = K(x_m, x_m) + ridge - sum_{j<m} v_j(x_m)^2,

    the columns of a Cholesky factorisation of K + ridge I that only grows: O(n m) for the m-th centre
    [Mueller09, Pazouki11]. The power function P, with P(x)^2 = K(x, x) - sum_j v_j(x)^2, is without ridge the
    distance in H of K(x, .) from the span of the centres, so it is 0 at a centre.

    Parameters
    ----------
    kernel : Kernel
    points : array (n, d)
    ridge : float
    tolerance : float
        A centre whose pivot is at most this share of sqrt(K(x, x)) is refused: it is in the span of the others already.
    capacity : int
        How many centres there is room for before the columns are copied; it grows automatically.
    window : GridOperator, optional
        The kernel's window where the points are a grid and it is short (`short_window`). Columns are then kept sparse,
        values at most 1e-16 of sqrt(K(x, x)) left out, as long as that is the faster way.

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
        window: GridOperator | None = None,
    ) -> None:
        self.kernel: Callable[[Array, Array], Array] = kernel
        self.points = points
        self.ridge = ridge
        self.window = window
        self.diagonal: Array = np.asarray(kernel.diag(points), dtype=np.float64)
        self.least: Array = tolerance**2 * self.diagonal
        self.power_squared: Array = self.diagonal.copy()
        self.last: tuple[Places, Array] = EVERYWHERE, np.zeros(len(points))  # the newest column, and where it is
        self._open: int = 0  # a point at which the power function was above the tolerance
        self.kept: DenseColumns | SparseColumns = self._no_columns(capacity)
        self.add_center: Callable[..., int] | None = None  # compiled code for sparse columns, where there is any

    @property
    def size(self) -> int:
        """How many centres there are."""
        return self.kept.size

    @property
    def columns(self) -> Array:
        """v_j at every point, shape (n, m)."""
        return self.kept.array

    @property
    def power(self) -> Array:
        return np.asarray(np.sqrt(self.power_squared))

    @property
    def is_full(self) -> bool:
        """Whether no point is left at which the power function is above the tolerance."""
        if self.power_squared[self._open] > self.least[self._open]:
            return False
        above = self.power_squared > self.least
        self._open = int(np.argmax(above))
        return not above[self._open]

    def refuses(self, index: int) -> bool:
        """Say whether the point of this index is a centre already, or in the span of the centres."""
        return bool(self.power_squared[index] + self.ridge <= self.least[index])

    def add(self, index: int) -> Array | None:
        """Take a point as the next centre and return its row of the Cholesky factor, or None where it is refused."""
        if self.refuses(index):
            return None
        pivot = float(np.sqrt(self.power_squared[index] + self.ridge))
        row = self.kept.row(index)
        self.last = places, column = self.kept.grow(row, *self._section(index), pivot)
        self.power_squared[places] = np.maximum(self.power_squared[places] - column**2, 0.0)
        if not self.ridge:
            self.power_squared[index] = 0.0
        if self.kept.is_too_full:
            self._keep_dense(self.kept.array)
        return np.append(row, pivot)

    def fit(self, index: int, label: Array, values: Array) -> tuple[Array, Array] | None:
        """Take a point as the next centre, and add to values, in place, what makes them the label there.

        Values are (n,) or (n, q). Returns the row of the Cholesky factor and the coefficient, None where it is refused.
        """
        if self.add_center is not None and isinstance(self.kept, SparseColumns) and values.flags.c_contiguous:
            return None if self.refuses(index) else self._fit_compiled(self.add_center, self.kept, index, label, values)
        row = self.add(index)
        if row is None:
            return None
        coefficient = np.asarray((label - values[index]) / row[-1])
        places, column = self.last
        near = values[places]
        add_column(near, column, coefficient)
        values[places] = near
        return row, coefficient

    def _fit_compiled(
        self, add_center: Callable[..., int], kept: SparseColumns, index: int, label: Array, values: Array
    ) -> tuple[Array, Array]:
        assert self.window is not None
        window, row = self.window.for_compiled, np.zeros(self.size + 1)
        label, power_squared, rows = np.reshape(label, -1), self.power_squared, values.reshape(len(values), -1)
        coefficient = np.empty(len(label))
        self.last = kept.grow_with(
            lambda columns: add_center(
                index, window, columns, kept.cut, self.ridge, power_squared, rows, label, row, coefficient
            )
        )
        if kept.is_too_full:
            self._keep_dense(kept.array)
        return row, coefficient.reshape(values.shape[1:])

    def restart(self, columns: Array) -> None:
        """Begin with columns computed elsewhere."""
        self.kept = self._no_columns(2 * columns.shape[1])
        if isinstance(self.kept, DenseColumns):
            self._keep_dense(columns)
        else:
            for column in columns.T:
                self.kept.append(np.array(column))
        self.power_squared = np.maximum(self.diagonal - np.einsum("ij,ij->i", columns, columns), 0.0)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs to continue bit for bit."""
        return {**self.kept.state(), "power_squared": self.power_squared}

    def restore(self, state: dict[str, Any], size: int) -> None:
        """Continue with the `size` columns of a state."""
        n = len(self.points)
        if "columns" in state:
            self._keep_dense(check_stored_array(state, "columns", (n, size)))
        else:
            self.kept = sparse = SparseColumns(n, self._cut)
            sparse.restore(state, size)
        self.power_squared = check_stored_array(state, "power_squared", (n,))

    def _section(self, index: int) -> tuple[Places, Array]:
        """Return K(., x) of one point, and where it is not zero."""
        if self.window is not None:
            return self.window.near(index)
        center = self.points[index : index + 1]
        return EVERYWHERE, self.kernel(center, self.points)[0]  # as a row: three times faster than as a column

    @property
    def _cut(self) -> float:
        return CUT * float(np.sqrt(np.max(self.diagonal)))

    def _no_columns(self, capacity: int) -> DenseColumns | SparseColumns:
        n = len(self.points)
        return DenseColumns(n, capacity) if self.window is None else SparseColumns(n, self._cut)

    def _keep_dense(self, columns: Array) -> None:
        self.kept = DenseColumns(len(self.points), 2 * columns.shape[1])
        self.kept.fill(columns)


def short_window(kernel: Kernel, pool: Pool) -> GridOperator | None:
    """Return the kernel's window on a grid where it covers a small part of it, else None."""
    window = find_window(kernel, pool)
    return None if window is None or SHORT * window.cells > len(pool) else window

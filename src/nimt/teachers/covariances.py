"""How a covariance C over the pool is kept while steps and answers change it: all of it, or a factor of it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.kernels import Kernel
from nimt.learners.newton_basis import NewtonBasis
from nimt.teachers.teacher import Memory

WHOLE = 300  # points up to which all of C is kept: it takes no more memory than the columns of the kernel
TOLERANCE = 1e-7  # of the power function: what is left out of C must stay below the noise of the answers


class Covariance(Protocol):
    """C on n points, prior K at first; `variance` is its diagonal."""

    @property
    def variance(self) -> Array: ...

    def step(self, shown: Indices, sizes: Array, columns: Array) -> None:
        """Do C <- A C A', A = I - sum_j a_j K_j e_j' over the points shown; `columns` are the K_j, (n, k)."""
        ...

    def hear(self, index: int, noise: float) -> Array:
        """Take an answer at a point that was shown; return C_x / (C_xx + noise^2), by which the mean moves."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """Return named arrays, from which `recall_covariance` goes on."""
        ...


class WholeCovariance:
    """C itself."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    @property
    def variance(self) -> Array:
        return np.diagonal(self.matrix)

    def step(self, shown: Indices, sizes: Array, columns: Array) -> None:
        moved = columns * sizes
        rows = self.matrix[shown]
        change = moved @ rows
        self.matrix = self.matrix - change - change.T + moved @ rows[:, shown] @ moved.T

    def hear(self, index: int, noise: float) -> Array:
        column = np.array(self.matrix[:, index])
        uncertain = column[index] + noise * noise
        if uncertain <= 0:
            return np.zeros(len(column))
        self.matrix = self.matrix - np.outer(column, column) / uncertain
        return np.asarray(column / uncertain)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"covariance": self.matrix}


class FactoredCovariance:
    """C = prior (K - V V') + V B V', with V (n, m) the Newton basis of the points shown.

    V V' is K at these points, so that every step and every answer changes B (m, m) alone.
    """

    def __init__(self, basis: NewtonBasis, prior: float, spread: Array, variance: Array) -> None:
        self.basis, self.prior = basis, prior
        self.spread, self.variance = spread, variance

    def step(self, shown: Indices, sizes: Array, columns: Array) -> None:
        for index in dict.fromkeys(shown.tolist()):
            if self.basis.add(index) is not None:  # else it is in the span of the others
                self.spread = np.pad(self.spread, (0, 1))
                self.spread[-1, -1] = self.prior
        rows = self.basis.columns[shown]
        products = self.spread @ rows.T
        both, moved = rows @ products, columns * sizes
        self.variance = self.variance - 2 * np.einsum("nk,nk->n", moved, self.basis.columns @ products)
        self.variance += np.einsum("ni,ij,nj->n", moved, both, moved)
        inside = rows.T * sizes
        change = inside @ products.T
        self.spread = self.spread - change - change.T + inside @ both @ inside.T

    def hear(self, index: int, noise: float) -> Array:
        row = self.basis.columns[index]
        direction = self.spread @ row
        uncertain = float(row @ direction) + noise * noise
        if uncertain <= 0:
            return np.zeros(len(self.variance))
        column = self.basis.columns @ direction
        self.spread = self.spread - np.outer(direction, direction) / uncertain
        self.variance = self.variance - column * column / uncertain
        return np.asarray(column / uncertain)

    def state(self) -> dict[str, NDArray[Any]]:
        columns, power = self.basis.columns, self.basis.power_squared
        return {"columns": columns, "power_squared": power, "spread": self.spread, "variance": self.variance}


def begin_covariance(kernel: Kernel, points: Array, prior: float, whole: int = WHOLE) -> Covariance:
    """Return prior K: all of it on few points, a factor on more than `whole`."""
    if len(points) <= whole:
        return WholeCovariance(prior * np.asarray(kernel(points)))
    basis = NewtonBasis(kernel, points, tolerance=TOLERANCE)
    return FactoredCovariance(basis, prior, np.zeros((0, 0)), prior * basis.diagonal)


def recall_covariance(kernel: Kernel, points: Array, prior: float, memory: Memory) -> Covariance:
    """Return the covariance of a state."""
    if "covariance" in memory:
        return WholeCovariance(np.asarray(memory["covariance"]))
    basis = NewtonBasis(kernel, points, tolerance=TOLERANCE, capacity=1)
    basis.restore({name: memory[name] for name in ("columns", "power_squared")}, memory["columns"].shape[1])
    return FactoredCovariance(basis, prior, np.array(memory["spread"]), np.array(memory["variance"]))

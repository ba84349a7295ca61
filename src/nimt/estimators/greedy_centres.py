"""The greedy choice of centres, O(n m) for the m-th: what `nimt.teach` does with an interpolating learner, faster."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import solve_triangular

from nimt.arrays import Array
from nimt.estimators.samples import Samples
from nimt.kernels import Kernel
from nimt.learners.newton_basis import NewtonBasis
from nimt.lesson.outcome import Outcome
from nimt.teachers.interpolation import score


class GreedyChoice:
    r"""Centres chosen one after the other among n rows, and the interpolant of the labels at these centres.

    Each step takes the row with the largest |r|^beta P^(1 - beta) (r the residual, P the power function; ties go to the
    lowest index) and corrects the interpolant there. This is the lesson of `nimt.learners.OrthogonalLearner` under
    `nimt.teachers.InterpolationTeacher`, without the second Newton basis that a teacher of its own would keep. A row is
    chosen at most once.

    Parameters
    ----------
    kernel : Kernel
    samples : Samples
        The rows, with the initial function subtracted from their labels. The weights are for the error that is
        recorded; they do not change what is chosen.
    beta : float
    ridge : float
        Added to K(x, x) at the centres.
    tolerance : float
        The RMS error at which to stop.
    most : int
        How many centres there is room for.
    elsewhere : array (e, d), optional
        Points that are never chosen, where the basis is needed too.
    """

    def __init__(
        self,
        kernel: Kernel,
        samples: Samples,
        *,
        beta: float,
        ridge: float,
        tolerance: float,
        most: int,
        elsewhere: Array | None = None,
    ) -> None:
        points = samples.points if elsewhere is None else np.vstack([samples.points, elsewhere])
        self.basis: NewtonBasis = NewtonBasis(kernel, points, ridge, capacity=most)
        self.rows: int = len(samples)
        self.residual: Array = np.array(samples.labels, order="F")
        self.weight: Array | None = samples.weight
        self.beta = beta
        self.tolerance = tolerance
        self.indices: list[int] = []
        self.scores: list[float] = []
        self.errors: list[float] = [rms(self.residual, self.weight)]
        self.outcome: Outcome | None = None
        self._factor: list[Array] = []
        self._newton: list[Array] = []

    def grow(self, size: int) -> None:
        """Choose until there are `size` centres, or until `outcome` says why there cannot be more."""
        while len(self.indices) < size:
            if self.errors[-1] <= self.tolerance:
                self.outcome = Outcome.CONVERGED
                return
            scores = self._score_rows()
            best = int(np.argmax(scores))
            if not scores[best] > 0:  # every row is a centre, in the span of the centres, or fitted
                self.outcome = Outcome.STATIONARY
                return
            self._take(best, float(scores[best]))

    def factor(self, size: int) -> Array:
        """Return the Cholesky factor of K + ridge on the first centres, shape (m, m)."""
        factor = np.zeros((size, size))
        for place, row in enumerate(self._factor[:size]):
            factor[place, : place + 1] = row
        return factor

    def functions(self, size: int) -> Array:
        """Return the first functions of the Newton basis at the rows, shape (m, n)."""
        return self.basis.columns[: self.rows, :size].T

    def functions_elsewhere(self, size: int) -> Array:
        """Return the same at the points that are never chosen, shape (e, m)."""
        return self.basis.columns[self.rows :, :size]

    def newton(self, size: int) -> Array:
        """Return the interpolant's coefficients in the Newton basis, shape (m,) or (m, q)."""
        return np.array(self._newton[:size]).reshape(size, *self.residual.shape[1:])

    def in_kernel_basis(self, newton: Array) -> Array:
        """Return coefficients of K(., x_j) for those of the Newton basis."""
        if not len(newton):
            return newton
        return np.asarray(solve_triangular(self.factor(len(newton)), newton, lower=True, trans="T"))

    def _score_rows(self) -> Array:
        size = np.abs(self.residual) if self.residual.ndim == 1 else np.sqrt(np.sum(self.residual**2, axis=1))
        scores = size if self.beta == 1 else score(size, self.basis.power[: self.rows], self.beta)
        scores[(self.basis.power_squared <= self.basis.least)[: self.rows]] = -1.0
        scores[self.indices] = -1.0  # with a ridge the power function is not 0 at a centre
        return scores

    def _take(self, index: int, score_of_it: float) -> None:
        row = self.basis.add(index)
        assert row is not None  # its power function is above the tolerance
        coefficient = self.residual[index] / row[-1]
        column = self.basis.columns[: self.rows, -1]
        self.residual -= column * coefficient if self.residual.ndim == 1 else np.outer(coefficient, column).T
        self.indices.append(index)
        self.scores.append(score_of_it)
        self.errors.append(rms(self.residual, self.weight))
        self._factor.append(row)
        self._newton.append(coefficient)


def rms(residual: Array, weight: Array | None = None) -> float:
    """Return the root of the mean square over rows and outputs.

    Examples
    --------
    >>> rms(np.array([3.0, 4.0])), rms(np.array([3.0, 4.0]), np.array([1.0, 0.0]))
    (3.5355339059327378, 3.0)
    """
    if weight is None:
        return math.sqrt(np.mean(residual**2))
    return math.sqrt(np.mean(weight @ residual**2) / np.sum(weight))

"""The coefficients that fit all labels best over chosen centres, for every number of centres and many penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, svd
from sklearn.utils import gen_batches

from nimt.arrays import Array
from nimt.estimators.samples import Samples

BLOCKS = 4  # rows factorised at a time, in multiples of the columns
ROUNDING = float(np.finfo(np.float64).eps)


class NestedRidge:
    r"""Minimise sum_i w_i (y_i - sum_{j <= m} b_j v_j(x_i))^2 + penalty |b|^2 for any m, after one factorisation.

    For an orthonormal v (the Newton basis) |b| is the norm in H: this is kernel ridge regression with all labels,
    restricted to the span of the centres. The first m columns of the triangle R of (V, y) are those of the first m
    functions alone, so that one triangle serves all numbers of centres.

    Parameters
    ----------
    functions : array (M, n)
        v_j at the rows.
    samples : Samples
        Their labels and weights.

    Examples
    --------
    >>> four = Samples(np.empty((4, 0)), np.array([1.0, 2.0, 3.0, 4.0]))
    >>> NestedRidge(np.ones((1, 4)), four).solve(1).coefficients(np.array([1.0])).round(12)  # 10 / (4 + 1)
    array([[[2.]]])
    """

    def __init__(self, functions: Array, samples: Samples) -> None:
        self.most: int = len(functions)
        self.count: float = samples.count()
        # A product V'V would lose the small singular values to rounding.
        self._triangle = _triangle(functions, samples.labels.reshape(len(samples), -1), samples.weight)

    def solve(self, size: int) -> Ridge:
        """Return the solutions over the first functions."""
        labels = self._triangle[:, self.most :]
        if size == 0:
            none = np.empty((0, 0))
            return Ridge(np.empty(0), none, labels[:0], np.sum(labels**2, axis=0), self.count)
        left, singular, right = svd(self._triangle[:size, :size], check_finite=False)
        return Ridge(singular, right, left.T @ labels[:size], np.sum(labels[size:] ** 2, axis=0), self.count)


@dataclass(frozen=True, eq=False)
class Ridge:
    """The solutions of one ridge regression for all penalties.

    Attributes
    ----------
    singular : array (m,)
    right : array (m, m)
        The directions in the space of coefficients, one a row.
    projections : array (m, q)
        Of the labels, on the directions in the space of rows.
    unexplained : array (q,)
        The sum of squares that no coefficients explain.
    count : float
        How many rows there are, by weight.
    """

    singular: Array
    right: Array
    projections: Array
    unexplained: Array
    count: float

    @property
    def unit(self) -> float:
        """The largest squared singular value, which penalties can be shares of."""
        return float(self.singular[0] ** 2) if len(self.singular) else 1.0

    def coefficients(self, penalties: Array) -> Array:
        """Return b for each penalty, shape (m, q, g); an infinite penalty leaves zeros."""
        gains = self._share_kept(penalties).T / np.where(self.singular > 0, self.singular, 1.0)[:, np.newaxis]
        shrunk = self.projections[:, :, np.newaxis] * gains[:, np.newaxis, :]
        return np.tensordot(self.right.T, shrunk, axes=1)

    def cross_validate(self, penalties: Array) -> NDArray[np.intp]:
        """Return the place of the penalty with the least generalised cross-validation error [Golub79], one per output.

        The error is N RSS / (N - degrees of freedom)^2.
        """
        lost = 1.0 - self._share_kept(penalties)
        free = self.count - len(self.singular) + lost.sum(axis=1)
        free[free < len(self.singular) * ROUNDING] = np.nan  # as many parameters as labels: no degrees are left
        errors = (self.unexplained + lost**2 @ self.projections**2) / free[:, np.newaxis] ** 2
        return np.asarray(np.nanargmin(errors, axis=0))

    def _share_kept(self, penalties: Array) -> Array:
        """Return the share of each direction that each penalty leaves, shape (g, m); 0 for those lost in rounding."""
        squares = self.singular**2
        seen = self.singular > len(self.singular) * ROUNDING * self.singular[:1]
        return np.asarray(np.where(seen, squares / np.where(seen, squares + penalties[:, np.newaxis], 1.0), 0.0))


def _triangle(functions: Array, labels: Array, weight: Array | None) -> Array:
    """Return R of the QR factorisation of the columns (V, y), each row times the root of its weight.

    Block after block of rows is stacked below the triangle so far, so that the work stays in cache and V uncopied.
    """
    width = len(functions) + labels.shape[1]
    triangle = np.empty((0, width))
    for rows in gen_batches(len(labels), BLOCKS * width):
        block = np.hstack([functions[:, rows].T, labels[rows]])
        if weight is not None:
            block *= np.sqrt(weight[rows, np.newaxis])
        (triangle,) = qr(np.vstack([triangle, block]), mode="r", check_finite=False)
        triangle = triangle[:width]
    return triangle

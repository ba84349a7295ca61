"""The coefficients that fit all labels best over chosen centres, with a regularisation that can choose itself."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from nimt.arrays import Array

GRID = np.append(0.0, np.logspace(-16, 1, 69))  # of the largest eigenvalue: regularisations that "auto" compares
ROUNDING = 4.0 * np.finfo(np.float64).eps


def refit(
    functions: Array, labels: Array, weight: Array | None, start: Array, regularisation: float | None
) -> tuple[Array, Array]:
    r"""Minimise sum_i w_i (y_i - sum_j b_j v_j(x_i))^2 + regularisation |b|^2 and return b and the regularisation.

    For an orthonormal v (the Newton basis) |b| is the norm in H: this is kernel ridge regression with all labels,
    restricted to the span of the centres.

    Without a regularisation given, each output gets the one with the least generalised cross-validation error
    N RSS / (N - degrees of freedom)^2 [Golub79]. N is the sum of the weights (at least the number of rows), so that a
    row of weight 2 counts like two rows.

    Parameters
    ----------
    functions : array (m, n)
        v_j at the rows.
    labels : array (n,) or (n, q)
    weight : array (n,) or None
    start : array (m,) or (m, q)
        Coefficients to begin with, such as the interpolant's. Directions that no label can tell apart from rounding
        stay as they are there; if they fit worse than 0 does, 0 is the start.
    regularisation : float or None

    Examples
    --------
    >>> b, chosen = refit(np.ones((1, 4)), np.array([1.0, 2.0, 3.0, 4.0]), None, np.zeros(1), 1.0)
    >>> b, chosen  # 10 / (4 + 1)
    (array([2.]), array(1.))
    """
    if not len(functions):
        return start, np.full(labels.shape[1:], 0.0 if regularisation is None else regularisation)
    weighted = functions if weight is None else functions * weight
    values, vectors = eigh(weighted @ functions.T)
    values = np.maximum(values, 0.0)
    unexplained = _sum_of_squares(labels - functions.T @ start, weight)
    coefficients = vectors.T @ np.where(unexplained < _sum_of_squares(labels, weight), start, 0.0)
    damped = values + len(values) * ROUNDING * values[-1]
    for _ in range(2):  # the second time removes what rounding and damping left in the first
        residual = labels - functions.T @ (vectors @ coefficients)
        coefficients += ((vectors.T @ (weighted @ residual)).T / damped).T
    if regularisation is None:
        rest = _sum_of_squares(labels - functions.T @ (vectors @ coefficients), weight)
        count = labels.shape[0] if weight is None else max(float(weight.sum()), labels.shape[0])
        chosen = values[-1] * GRID[_cross_validated(values, coefficients, rest, count)]
    else:
        chosen = np.full(labels.shape[1:], float(regularisation))
    kept = 1.0 - _shrinkage(values, np.atleast_1d(chosen))  # (q, m)
    return vectors @ (coefficients * kept.T.reshape(coefficients.shape)), chosen


def _cross_validated(values: Array, coefficients: Array, rest: Array, count: float) -> Array:
    """Return which entry of GRID has the least generalised cross-validation error, one per output.

    In the eigenbasis the residual sum of squares is that of least squares plus sum_i s_i (b_i shrinkage_i)^2, which
    unlike |y|^2 minus what is explained loses no digits.
    """
    shrinkage = _shrinkage(values, values[-1] * GRID)  # (g, m)
    squares = (values * coefficients.T**2).T
    left = count - len(values) + shrinkage.sum(axis=1)
    left[left < ROUNDING * count] = np.nan  # as many parameters as labels: nothing left to judge by
    errors = ((rest + shrinkage**2 @ squares).T / left**2).T
    return np.asarray(np.nanargmin(errors, axis=0))


def _shrinkage(values: Array, regularisations: Array) -> Array:
    """Return the share of each eigendirection that each regularisation takes away, shape (g, m)."""
    lam = regularisations[:, np.newaxis]
    return np.divide(lam, values + lam, out=np.zeros((len(lam), len(values))), where=lam > 0)


def _sum_of_squares(residual: Array, weight: Array | None) -> Array:
    squares = residual**2
    return np.asarray((squares if weight is None else (squares.T * weight).T).sum(axis=0))

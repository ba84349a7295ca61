"""The coefficients that fit all labels best over chosen centres; the regularisation may be cross-validated."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, svd
from sklearn.utils import gen_batches

from nimt.arrays import Array
from nimt.estimators.samples import Samples

GRID = np.append(0.0, np.logspace(-20, 1, 85))  # of the largest squared singular value: what "auto" compares
BLOCKS = 4  # rows factorised at a time, in multiples of the columns
ROUNDING = float(np.finfo(np.float64).eps)


def refit(functions: Array, samples: Samples, regularisation: float | None) -> tuple[Array, Array]:
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
    samples : Samples
        Their labels and weights.
    regularisation : float or None

    Examples
    --------
    >>> b, chosen = refit(np.ones((1, 4)), Samples(np.empty((4, 0)), np.array([1.0, 2.0, 3.0, 4.0])), 1.0)
    >>> b.round(12), chosen  # 10 / (4 + 1)
    (array([2.]), array(1.))
    """
    m, outputs = len(functions), samples.labels.shape[1:]
    if m == 0:
        return np.empty((0, *outputs)), np.full(outputs, 0.0 if regularisation is None else regularisation)
    # A product V'V would lose the small singular values to rounding. The triangle of (V, y) holds all that is needed:
    # R, Q'y beside it, and below that what no coefficient can explain.
    triangle = _triangle(functions, samples.labels.reshape(len(samples), -1), samples.weight)
    left, singular, right = svd(triangle[:m, :m], check_finite=False)
    projections = left.T @ triangle[:m, m:]
    unexplained = np.sum(triangle[m:, m:] ** 2, axis=0)

    unit = singular[0] ** 2
    if regularisation is None:
        count = len(samples) if samples.weight is None else max(float(samples.weight.sum()), len(samples))
        chosen = unit * GRID[_cross_validate(singular, projections, unexplained, count)]
    else:
        chosen = np.full(projections.shape[1], float(regularisation))
    kept = 1.0 - _shrinkage(singular, chosen).T
    scaled = np.divide(projections * kept, singular[:, np.newaxis], out=np.zeros_like(projections), where=kept > 0)
    return (right.T @ scaled).reshape(m, *outputs), chosen.reshape(outputs)


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


def _cross_validate(singular: Array, projections: Array, unexplained: Array, count: float) -> Array:
    """Return which entry of GRID has the least generalised cross-validation error, one per output."""
    shrinkage = _shrinkage(singular, singular[0] ** 2 * GRID)
    free = count - len(singular) + shrinkage.sum(axis=1)
    free[free < len(singular) * ROUNDING] = np.nan  # as many parameters as labels: no degrees of freedom are left
    errors = (unexplained + shrinkage**2 @ projections**2) / free[:, np.newaxis] ** 2
    return np.asarray(np.nanargmin(errors, axis=0))


def _shrinkage(singular: Array, regularisations: Array) -> Array:
    """Return the share of each singular direction that each regularisation takes away, shape (g, m).

    Directions that are lost in rounding are taken away whole.
    """
    lam = regularisations[:, np.newaxis]
    seen = singular > len(singular) * ROUNDING * singular[0]
    return np.divide(lam, singular**2 + lam, out=np.ones((len(lam), len(singular))), where=seen)

"""A width for a kernel, chosen by the error on rows that were not fitted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from nimt.arrays import Array, power_of_two
from nimt.estimators.width import median_width
from nimt.kernels import Kernel

FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)  # of the median distance of two rows
RIDGES = (1e-8, 1e-4, 1e-2, 1.0)  # what a lesson that ends early does is like one of these
ROWS = 400  # that are fitted, and as many that are not
ENOUGH = 1.1  # times the least error: of the widths within it the narrowest, whose lesson is the shortest


def choose_held_out_width(points: Array, target: Array, kernel: Callable[[float], Kernel]) -> float:
    """Return the width whose kernel ridge regression errs least on rows that it was not fitted to.

    Six widths around the median distance of two rows are tried, on at most 400 rows with 400 others to err on; of those
    within a tenth of the least error, the narrowest is returned.

    Parameters
    ----------
    points : array (n, d)
    target : array (n,) or (n, q)
    kernel : callable of a width

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> x = np.random.default_rng(0).uniform(-3, 3, size=(300, 1))
    >>> bool(0.2 < choose_held_out_width(x, np.sin(3 * x[:, 0]), rbf) < 2.5)
    True
    """
    order = np.random.default_rng(0).permutation(len(points))
    half = min(ROWS, len(points) // 2)
    fitted, other = order[:half], order[half : 2 * half]
    middle = median_width(points)
    if half < 2:
        return middle
    values = target.reshape(len(target), -1) / power_of_two(target)  # the width does not depend on their unit
    mean = values[fitted].mean(axis=0)
    widths = [factor * middle for factor in FACTORS]
    with threadpool_limits(limits=1, user_api="blas"):  # matrices of 400 rows: threads would wait for each other
        errors = np.array([_error(kernel(width), points, values - mean, fitted, other) for width in widths])
    return widths[int(np.argmax(errors <= ENOUGH * errors.min()))]


def _error(kernel: Kernel, points: Array, values: Array, fitted: np.ndarray, other: np.ndarray) -> float:
    """Return the least root mean square error over the ridges."""
    eigenvalues, axes = eigh(kernel(points[fitted], points[fitted]))
    across = kernel(points[other], points[fitted]) @ axes
    projected = axes.T @ values[fitted]
    errors = []
    for ridge in RIDGES:
        guess = across @ (projected / (np.maximum(eigenvalues, 0.0) + ridge)[:, np.newaxis])
        errors.append(float(np.sqrt(np.mean((guess - values[other]) ** 2))))
    return min(errors)

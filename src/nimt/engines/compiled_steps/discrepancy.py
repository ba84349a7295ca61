"""The discrepancy: a sum of squares that is kept by changes, and computed again where its error matters."""

from __future__ import annotations

import numpy as np

from nimt.engines.caching import njit

ROUNDING = 2.0**-50  # relative error that one change may add to the sum of squares
DIGITS = 1e-9  # relative error at which the sum of squares is computed again from all points
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-280, 1e280  # outside, squares underflow or overflow, and the sum is scaled


@njit(cache=True, nogil=True)
def sum_of_squares(f, y):
    total = 0.0
    for block in range(0, f.size, 1024):
        part = 0.0
        for s in range(block, min(block + 1024, f.size)):
            r = f[s] - y[s]
            part += r * r
        total += part
    return total


@njit(cache=True, nogil=True)
def scaled_distance(f, y):
    """sqrt(sum (f - y)^2) where squares would leave the range of floating-point numbers."""
    largest = 0.0
    for s in range(f.size):
        r = abs(f[s] - y[s])
        if not r <= largest:
            largest = r
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    total = 0.0
    for s in range(f.size):
        r = (f[s] - y[s]) / largest
        total += r * r
    return largest * np.sqrt(total)


@njit(cache=True, nogil=True)
def measured(scale, total, f, y):
    """The discrepancy from a sum of squares."""
    if SMALLEST_SQUARE < total < LARGEST_SQUARE:
        return scale * np.sqrt(total)
    return scale * scaled_distance(f, y)


@njit(cache=True, nogil=True)
def changed(total, carry, error, change):
    """Add a change to a compensated sum, and to the bound on its error."""
    new = total + change
    carry += (total - new) + change if abs(total) >= abs(change) else (change - new) + total
    return new, carry, error + ROUNDING * (abs(new) + abs(change))


@njit(cache=True, nogil=True)
def must_be_exact(total, error, tol_square):
    """Whether the error of a kept sum matters: for the digits reported, or for the comparison with the tolerance."""
    return not (error <= DIGITS * total and total - error > tol_square and total < LARGEST_SQUARE)

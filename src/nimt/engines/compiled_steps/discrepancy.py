"""The discrepancy: a sum of squares that is kept by changes, and computed again where its error matters."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import inlined, part
from nimt.engines.codes import ROUNDING, SCALE, TOL_SQUARE

DIGITS = 1e-9  # relative error at which the sum of squares is computed again from all points
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-280, 1e280  # outside, squares underflow or overflow, and the sum is scaled


@part
def sum_of_squares(f, y):
    total = 0.0
    for block in range(0, f.size, 1024):
        part = 0.0
        end = block + 1024
        for s in range(block, end if end < f.size else f.size):
            r = f[s] - y[s]
            part += r * r
        total += part
    return total


@part
def measure_scaled_distance(f, y):
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


@inlined
def measure_from_square(scale, total, f, y):
    """The discrepancy from a sum of squares."""
    if SMALLEST_SQUARE < total < LARGEST_SQUARE:
        return scale * np.sqrt(total)
    return scale * measure_scaled_distance(f, y)


@inlined
def change_sum(change, total, carry, error, rules):
    """Add a change to the sum of squares; also returns whether its error does not matter.

    The sum that is kept is a compensated one with a bound on its error. That matters for the digits reported, or for
    the comparison with the tolerance.
    """
    new = total + change
    carry += (total - new) + change if abs(total) >= abs(change) else (change - new) + total
    error += ROUNDING * (abs(new) + abs(change))
    square = new + carry
    sure = error <= DIGITS * square and square - error > rules[TOL_SQUARE] and square < LARGEST_SQUARE
    return new, carry, error, sure


@inlined
def measure_after(change, largest, m, total, carry, error, rules, f, y):
    """The discrepancy after a step that added `change` to the sum of squares, and the sum; m was it before.

    It is computed again from all points where its error matters.
    """
    if change != 0.0 or largest > 0.0:  # the change of very small numbers may round to 0 although they moved
        total, carry, error, sure = change_sum(change, total, carry, error, rules)
        if not sure:
            total, carry, error = sum_of_squares(f, y), 0.0, 0.0
        m = measure_from_square(rules[SCALE], total + carry, f, y)
    return m, total, carry, error

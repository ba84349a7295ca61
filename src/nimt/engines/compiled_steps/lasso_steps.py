"""Coordinate descent for the lasso, min |y - X b|^2 / 2 + penalty |b|_1, the columns of X as in a sparse matrix."""

from __future__ import annotations

from nimt.engines._numba.chosen import compiled


@compiled
def descend(entries, rows, starts, squares, penalty, coefficients, left, passes, tol):
    """Go through all columns, then those in use, until no coefficient changes by more than `tol` of the largest.

    `squares` are those of the columns' lengths, `left` is y - X b; the coefficients and `left` are written.
    """
    for turn in range(passes):
        largest = change = 0.0
        for j in range(squares.size):
            if squares[j] == 0.0 or (turn > 0 and coefficients[j] == 0.0):
                continue
            before, pulled = coefficients[j], coefficients[j] * squares[j]
            for e in range(starts[j], starts[j + 1]):
                pulled += entries[e] * left[rows[e]]
            now = max(abs(pulled) - penalty, 0.0) / squares[j]
            now = now if pulled > 0.0 else -now
            if now != before:
                for e in range(starts[j], starts[j + 1]):
                    left[rows[e]] += (before - now) * entries[e]
                coefficients[j] = now
            largest, change = max(largest, abs(now)), max(change, abs(now - before))
        if change <= tol * largest:
            return

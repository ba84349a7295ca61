"""When a lesson is over: the rules of `Watch.over` and of `ReferenceEngine.stillness`."""

from __future__ import annotations

import numpy as np

from nimt.engines.caching import njit
from nimt.engines.compiled_steps.codes import AT_REST, CONVERGED, DIVERGED, GOING, STALLED, STATIONARY


@njit(cache=True, nogil=True)
def over(step, m, tol, limit, patience, best, best_at):
    """The rules of `Watch.over`, in the same order: the outcome, and the best so far and its step."""
    if not np.isfinite(m) or m > limit:
        return DIVERGED, best, best_at
    if m < tol:
        return CONVERGED, best, best_at
    if m < best:
        best, best_at = m, step
    if patience > 0 and step - best_at >= patience:
        return STALLED, best, best_at
    return GOING, best, best_at


@njit(cache=True, nogil=True)
def larger(a, b):
    """The larger of two numbers; NaN if either is, so that a slope that is not a number never counts as none."""
    return b if b > a or b != b else a


@njit(cache=True, nogil=True)
def stillness(largest, m, still, repeats):
    """The rules of `ReferenceEngine.stillness`: `largest` is the largest |slope| K(x, x) of the pack."""
    if still >= 0.0 and largest * largest <= still:
        return STATIONARY
    if repeats > 0.0 and largest == 0.0 and m > 0.0:
        return AT_REST
    return GOING

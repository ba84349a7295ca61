"""When a lesson is over: the rules of `Watch.over` and of `ReferenceEngine.stillness`."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import inlined, rule
from nimt.engines.codes import (
    AT_REST,
    CONVERGED,
    DIVERGED,
    GOING,
    LIMIT,
    PATIENCE,
    REPEATS,
    STALLED,
    STATIONARY,
    STILL,
    TOL,
)


@rule
def over(step, m, rules, best, best_at):
    """The rules of `Watch.over`, in the same order: the outcome, and the best so far and its step."""
    if not np.isfinite(m) or m > rules[LIMIT]:
        return DIVERGED, best, best_at
    if m < rules[TOL]:
        return CONVERGED, best, best_at
    if m < best:
        best, best_at = m, np.float64(step)
    if rules[PATIENCE] > 0.0 and step - best_at >= rules[PATIENCE]:
        return STALLED, best, best_at
    return GOING, best, best_at


@inlined
def larger(a, b):
    """The larger of two numbers; NaN if either is, so that a slope that is not a number never counts as none."""
    return b if b > a or b != b else a


@rule
def stillness(largest, m, rules):
    """The rules of `ReferenceEngine.stillness`: `largest` is the largest |slope| K(x, x) of the pack."""
    if rules[STILL] >= 0.0 and largest * largest <= rules[STILL]:
        return STATIONARY
    if rules[REPEATS] > 0.0 and largest == 0.0 and m > 0.0:
        return AT_REST
    return GOING

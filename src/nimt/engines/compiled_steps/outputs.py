"""The outputs of a point, and the copies of a pool."""

from __future__ import annotations

from nimt.engines._numba.chosen import part
from nimt.engines.codes import EUCLIDEAN, MANHATTAN


@part
def number_of(copies):
    return copies[0] if len(copies) > 1 else 1


@part
def norm_of(part, so_far, norm):
    """Take one more output into a norm: its square, its size, or the largest."""
    if norm == EUCLIDEAN:
        return so_far + part * part
    if norm == MANHATTAN:
        return so_far + abs(part)
    return max(so_far, abs(part))

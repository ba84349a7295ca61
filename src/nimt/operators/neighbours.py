"""A short-ranged kernel on scattered points: each column of K is a short list of neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from nimt.arrays import Array, Indices
from nimt.errors import InvalidInput
from nimt.kernels import CUT, diagonal, height, profile, radius_of
from nimt.pools.base import Pool

BLOCK = 2**19  # pairs whose kernel value is computed at once
PAIR_BYTES = 12  # what the finished lists take: an int32 and a float64


class NeighbourOperator:
    """K as lists: for each point the points within the kernel's reach, found with a kd-tree.

    Parameters
    ----------
    kernel : stationary scikit-learn kernel of finite reach
    pool : Grid or Points
    cut : float
        Values below `cut` K(0) are left out.

    Attributes
    ----------
    begin : array (n + 1,) of int
    members : array (pairs,) of int32
    weights : array (pairs,)
    """

    name = "neighbours"

    def __init__(self, kernel: Any, pool: Pool, cut: float = CUT) -> None:
        self.radius = radius_of(kernel, pool.dimension, cut)
        if not np.isfinite(self.radius):
            raise InvalidInput(f"{kernel!r} has no reach beyond which it is below rounding, so no list of neighbours")
        self.kernel = kernel
        self.pool = pool
        self.height = height(kernel, pool.dimension)
        self.begin, self.members, self.weights = _lists(kernel, pool, self.radius, cut * self.height)

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        for index, coefficient in zip(indices, coefficients, strict=True):
            part = slice(self.begin[index], self.begin[index + 1])
            values[self.members[part]] += coefficient * self.weights[part]  # a list names a point once

    def reordered(self, order: NDArray[np.int32], slots: int) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
        """Return the lists in another layout: order[slot] is the pool index, slots beyond the pool are empty."""
        n = len(self.pool)
        slot_of = np.empty(n, dtype=np.int32)
        filled = np.flatnonzero(order < n)
        slot_of[order[filled]] = filled
        counts = np.zeros(slots, dtype=np.int64)
        counts[filled] = np.diff(self.begin)[order[filled]]
        begin = np.concatenate([[0], np.cumsum(counts)])
        source = np.repeat(self.begin[order[filled]] - begin[filled], counts[filled]) + np.arange(begin[-1])
        return begin, slot_of[self.members[source]], self.weights[source]


def count_pairs(kernel: Any, pool: Pool, cut: float = CUT) -> float:
    """Return how many pairs of points are within reach of each other, inf where the kernel has no reach."""
    radius = radius_of(kernel, pool.dimension, cut)
    if not np.isfinite(radius):
        return math.inf
    tree = _tree(pool)
    sample = tree.n if tree.n <= 20_000 else 2_000  # an estimate is enough to choose by, and far cheaper
    if sample == tree.n:
        return float(tree.count_neighbors(tree, radius))
    some = pool.points[np.random.default_rng(0).choice(tree.n, sample, replace=False)]
    found = float(tree.query_ball_point(some, radius, return_length=True).sum())
    return found * float(tree.n) / sample


def _tree(pool: Pool) -> Any:
    """Return the kd-tree of the pool, or refuse points whose squared distances are too large to be numbers."""
    with np.errstate(over="ignore"):
        extent = np.ptp(pool.points, axis=0)
        measurable = np.isfinite(np.sum(extent**2))
    if not measurable:
        raise InvalidInput(
            f"the points are up to {extent.max():g} apart, too far for a search of neighbours, which squares them: "
            f"rescale them, or use engine='streamed'"
        )
    return cKDTree(pool.points)


def _lists(kernel: Any, pool: Pool, radius: float, least: float) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    points = pool.points
    n = len(points)
    tree = _tree(pool)
    counts = np.zeros(n, dtype=np.int64)
    members: list[NDArray[np.int32]] = []
    weights: list[Array] = []
    average = max(1.0, count_pairs(kernel, pool) / n)
    rows = max(1, int(BLOCK / average))
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        near = tree.query_ball_point(points[start:stop], radius, return_sorted=True)
        lengths = np.fromiter((len(found) for found in near), dtype=np.int64, count=stop - start)
        flat = np.concatenate([np.asarray(found, dtype=np.int32) for found in near])
        owner = np.repeat(np.arange(start, stop), lengths)
        values = profile(kernel, points[flat] - points[owner])
        kept = np.abs(values) >= least
        counts[start:stop] = np.bincount(owner[kept] - start, minlength=stop - start)
        members.append(flat[kept])
        weights.append(values[kept])
    begin = np.concatenate([[0], np.cumsum(counts)])
    return begin, np.concatenate(members), np.concatenate(weights)

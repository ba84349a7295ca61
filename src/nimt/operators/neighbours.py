"""A short-ranged kernel on scattered points: each column of K is a short list of neighbours."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.errors import InvalidInput
from nimt.kernels import CUT, Kernel, diagonal, height, profile, reach
from nimt.kernels.radial import evaluate
from nimt.operators.operator import Cost, add_column
from nimt.pools.pool import Pool

if TYPE_CHECKING:
    from scipy.spatial import cKDTree  # loaded where lists are made: most lessons do without

Lists = tuple[NDArray[np.int64], NDArray[np.int32], Array]  # where each list begins, its members, their weights

BLOCK = 2**20  # pairs whose kernel value is computed at once
PAIR_BYTES = 12  # of a pair in the finished lists: an int32 and a float64
BUILDING = 4.6  # times PAIR_BYTES while the pairs are found, sorted and reordered
SAMPLE, AGAINST = 256, 20_000  # points whose neighbours are counted, among how many, to estimate the length of a list
STEP_SECONDS, PAIR_SECONDS = 2e-7, 2e-8  # the second to make the lists, if each is used about ten times, and go through


class NeighbourOperator:
    """K as lists: for each point the points within the kernel's reach, found with a kd-tree.

    Parameters
    ----------
    kernel : a stationary Kernel of finite reach
    pool : Grid or Points
    cut : float
        Values below `cut` K(0) are left out.

    Attributes
    ----------
    lists : tuple of arrays begin (n + 1,) of int, members (pairs,) of int32, weights (pairs,)
        In the order of the pool, made when first used.
    tree : cKDTree
        Of the points; the points of a leaf lie close together.
    """

    name = "neighbours"

    def __init__(self, kernel: Kernel, pool: Pool, cut: float = CUT) -> None:
        self.radius: float = reach(kernel, cut)
        if not np.isfinite(self.radius):
            raise InvalidInput(
                f"{kernel!r} has no known distance beyond which it is zero, so there are no lists of neighbours: "
                f"give it a method reach(cut)"
            )
        self.kernel = kernel
        self.pool = pool
        self.height: float = height(kernel, pool.dimension)
        self.least: float = cut * self.height
        self.tree: cKDTree = _tree(pool)

    @cached_property
    def lists(self) -> Lists:
        return self._lists(self.pool.points, self.tree)

    @classmethod
    def cost(cls, pairs: float, pool: Pool) -> Cost:
        """Estimate the cost of lists of so many pairs; infinite for a kernel without a reach."""
        if not math.isfinite(pairs):
            return Cost(memory=2**62, seconds=math.inf)
        return Cost(int(BUILDING * PAIR_BYTES * pairs), STEP_SECONDS + PAIR_SECONDS * pairs / len(pool))

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.pool)

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        begin, members, weights = self.lists
        for index, coefficient in zip(indices, coefficients, strict=True):
            part = slice(begin[index], begin[index + 1])
            near = values[members[part]]  # a point occurs in a list once
            add_column(near, weights[part], coefficient)
            values[members[part]] = near

    def lists_in(self, order: NDArray[np.int32]) -> Lists:
        """Return the lists in a layout: order[slot] is the pool index; the slots after the first n have empty lists.

        Where near points have near slots they are made faster than in the order of the pool: memory is read in order.
        """
        from scipy.spatial import cKDTree

        n = len(self.pool)
        points = self.pool.points[order[:n]]
        begin, members, weights = self._lists(points, cKDTree(points))
        return np.append(begin, np.full(len(order) - n, begin[-1])), members, weights

    def _lists(self, points: Array, tree: cKDTree) -> Lists:
        from scipy.sparse import coo_array

        n = len(points)
        pairs = tree.query_pairs(self.radius, output_type="ndarray").astype(np.int32)
        values = np.empty(len(pairs))
        for start in range(0, len(pairs), BLOCK):
            one, other = pairs[start : start + BLOCK].T
            values[start : start + BLOCK] = profile(self.kernel, points[other] - points[one])
        kept = np.abs(values) >= self.least
        every = np.arange(n, dtype=np.int32)
        one, other = (np.concatenate([side[kept], every]) for side in pairs.T)
        del pairs
        values = np.concatenate([values[kept], np.full(n, self.height / 2)])  # the diagonal is in both halves
        half = coo_array((values, (one, other)), shape=(n, n)).tocsr()
        del one, other, values
        half.sort_indices()
        lists = half + half.T.tocsr()
        lists.sort_indices()  # they are sorted already, and a sum of sorted lists takes a tenth of sorting both halves
        return lists.indptr.astype(np.int64), lists.indices.astype(np.int32, copy=False), np.asarray(lists.data)


def count_pairs(kernel: Kernel, pool: Pool, cut: float = CUT) -> float:
    """Estimate how many pairs of points are within reach of each other, inf where the kernel has no reach.

    A sample of points is compared with a larger sample; for a small pool the count is exact.
    """
    radius = reach(kernel, cut)
    if not math.isfinite(radius):
        return math.inf
    n = len(pool)
    rng = np.random.default_rng(0)
    some = np.arange(n) if n <= SAMPLE else rng.choice(n, SAMPLE, replace=False)
    many = np.arange(n) if n <= AGAINST else rng.choice(n, AGAINST, replace=False)
    others = evaluate(pool.take(some), pool.take(many), radius, lambda squares: squares) <= 1.0
    others[some[:, np.newaxis] == many] = False  # each point is within reach of itself: not counted
    share = np.count_nonzero(others) / max(1, others.size - np.isin(some, many).sum())
    return float(n + share * n * (n - 1))


def _tree(pool: Pool) -> cKDTree:
    """Return the kd-tree of the pool, or refuse points whose squared distances overflow."""
    from scipy.spatial import cKDTree

    with np.errstate(over="ignore"):
        extent = np.ptp(pool.points, axis=0)
        measurable = np.isfinite(np.sum(extent**2))
    if not measurable:
        raise InvalidInput(
            f"the points are up to {extent.max():g} apart, too far for the search of neighbours (it squares them): "
            f"rescale them, or use engine='streamed'"
        )
    return cKDTree(pool.points)

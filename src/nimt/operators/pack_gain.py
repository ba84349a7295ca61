"""How far a pack of examples can move a learner at once: the largest eigenvalue of its Gram matrix, bounded."""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array
from nimt.kernels import Kernel, diagonal, height, reach
from nimt.operators.grid import grid_operator
from nimt.pools.pool import Grid, Pool

MOST_POINTS = 5_000  # of a scattered pool whose Gram matrix is computed
BLOCK = 2**22  # kernel values held at once
MOST_CELLS = 2**22  # of a window that is evaluated for this bound


def pack_gain(kernel: Kernel, pool: Pool, k: int, *, repeats: bool) -> float:
    r"""Return a bound on lambda_max(K_P) / k over all packs P of k points of the pool.

    A pack is averaged, so one step moves f - f* on it by (1 - eta L K_P / k): the rate is safe up to 1 / (L gain). For
    one example the gain is max K(x, x). For k different points it is at most their largest row sum of |K|, over k.

    Parameters
    ----------
    kernel, pool : where packs come from
    k : int
    repeats : bool
        Whether a pack may show a point more than once. It may then be k times one point, and averaging gains nothing.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> round(784 / (784 * pack_gain(rbf(0.5), Grid.like(np.zeros((28, 28))), 784, repeats=False)), 1)
    729.6
    """
    largest = height(kernel, pool.dimension) if kernel.is_stationary() else float(np.max(diagonal(kernel, pool)))
    if k == 1 or repeats:
        return largest
    sums = _largest_row_sum(kernel, pool, k)
    return largest if sums is None else min(largest, sums / k)


def _largest_row_sum(kernel: Kernel, pool: Pool, k: int) -> float | None:
    """Return the largest sum of k values |K(x, .)| over the pool, None where it would take too long."""
    if isinstance(pool, Grid) and kernel.is_stationary():
        if np.prod([2 * length - 1.0 for length in pool.shape]) > MOST_CELLS and not _is_short(kernel, pool):
            return None
        return _sum_of_largest(np.abs(grid_operator(kernel, pool).weights)[np.newaxis], k)
    n = len(pool)
    if n > MOST_POINTS:
        return None
    points, most = pool.points, 0.0
    rows = max(1, BLOCK // n)
    for start in range(0, n, rows):
        most = max(most, _sum_of_largest(np.abs(kernel(points[start : start + rows], points)), k))
    return most


def _is_short(kernel: Kernel, pool: Grid) -> bool:
    spacing = min((abs(step) for step in pool.spacing if step), default=1.0)
    return (2 * reach(kernel) / spacing + 1) ** pool.dimension <= MOST_CELLS


def _sum_of_largest(values: Array, k: int) -> float:
    if k < values.shape[1]:
        values = np.partition(values, values.shape[1] - k, axis=1)[:, -k:]
    return float(np.max(np.sum(values, axis=1)))

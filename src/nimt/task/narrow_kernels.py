"""What to warn of where a kernel is so narrow that an example teaches its own point and hardly any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array
from nimt.kernels import Kernel
from nimt.pools.pool import Points

if TYPE_CHECKING:
    from nimt.task.task import Task

FEWEST = 50  # points: of fewer, each may well be taught by itself
SAMPLE = 48  # points whose nearest neighbours are looked for
FELT = 0.05  # the value of the kernel, relative to K(x, x), from which a neighbour is taught too
BLOCK = 1 << 16  # points at a time


def find_narrow_kernel(task: Task) -> str | None:
    """Return what to say if, at most points of a scattered pool, no other point is within reach of the kernel.

    A grid is not looked at: the pictures of the paper are taught pixel by pixel, and nothing is asked between them.
    """
    kernel = getattr(task.learner, "kernel", None)
    if kernel is None or not isinstance(task.pool, Points) or len(task.pool) < FEWEST:
        return None
    rows = np.random.default_rng(0).choice(len(task.pool), SAMPLE, replace=False)
    felt, distance = _nearest(kernel, task.pool.points, rows)
    alone = int(np.count_nonzero(felt < FELT))
    if 2 * alone <= len(rows):
        return None
    return (
        f"the kernel reaches almost no neighbour: at {alone} of {len(rows)} points looked at, the nearest other "
        f"point (about {np.median(distance):.3g} away) feels less than {FELT:.0%} of an example, so that the "
        f"learner remembers the examples and knows nothing between them; use a wider kernel, or scale the features"
    )


def _nearest(kernel: Kernel, points: Array, rows: np.ndarray) -> tuple[Array, Array]:
    """Return how much each of some points is felt at the other point that feels it most, and how far that is."""
    here = points[rows]
    scale = np.sqrt(np.maximum(kernel.diag(here), np.finfo(float).tiny))
    best, place = np.full(len(rows), -np.inf), np.zeros(len(rows), dtype=np.intp)
    for start in range(0, len(points), BLOCK):
        there = points[start : start + BLOCK]
        values = np.abs(kernel(here, there)) / scale[:, np.newaxis]
        values /= np.sqrt(np.maximum(kernel.diag(there), np.finfo(float).tiny))
        own = (rows >= start) & (rows < start + len(there))
        values[np.flatnonzero(own), rows[own] - start] = -np.inf
        largest = values.argmax(axis=1)
        better = values[np.arange(len(rows)), largest] > best
        best[better] = values[np.arange(len(rows)), largest][better]
        place[better] = largest[better] + start
    return best, np.linalg.norm(points[place] - here, axis=1)

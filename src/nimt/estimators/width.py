"""A width for the RBF kernel that fits the data: the median distance of two rows."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from nimt.arrays import Array

ROWS = 500  # their 124,750 distances determine the median well enough


def median_width(points: Array, weight: Array | None = None) -> float:
    """Return the median distance of two rows that differ, so that K falls to exp(-1) there; 1 if all are equal.

    Of more than 500 rows, 500 are drawn with a fixed seed. A row of weight 2 counts like two rows.

    Examples
    --------
    >>> median_width(np.array([[0.0], [1.0], [5.0]]))
    4.0
    """
    weight = np.ones(len(points)) if weight is None else weight
    if len(points) > ROWS:
        rows = np.random.default_rng(0).choice(len(points), ROWS, replace=False)
        points, weight = points[rows], weight[rows]
    distances = pdist(points)
    first, second = np.triu_indices(len(points), k=1)
    apart = distances > 0
    if not apart.any():
        return 1.0
    distances, pairs = distances[apart], (weight[first] * weight[second])[apart]
    order = np.argsort(distances, kind="stable")
    total = np.cumsum(pairs[order])
    return float(distances[order][np.searchsorted(total, total[-1] / 2.0)])

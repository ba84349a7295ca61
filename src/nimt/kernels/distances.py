"""A function of the distance, between the rows of two arrays: the arithmetic that all radial kernels share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import FLOAT, Array

FEW = 2  # coordinates up to which numpy takes as long as scipy, whose module for distances takes long to load
BLOCK = 2**15  # values computed at once: they stay in the processor's cache
FAR = 2.0**12  # in units of the scale: farther from zero, coordinates are subtracted before they are scaled
SHORT = 8  # numbers that Python looks at faster than numpy does
REPEATED = 4  # reads of a coordinate from which on it is copied to lie in order

Scale = float | tuple[float, ...]


def as_rows(points: ArrayLike) -> Array:
    """Return points as an array (n, d); a single point may be given as (d,)."""
    if type(points) is np.ndarray and points.ndim == 2 and points.dtype == FLOAT:
        return points
    return np.atleast_2d(np.asarray(points, dtype=np.float64))


def is_far(scaled: Array) -> bool:
    """Say whether scaled points are so far from zero that a difference of two of them has lost digits."""
    if scaled.size <= SHORT:
        return any(abs(x) > FAR for row in scaled.tolist() for x in row)
    return bool(np.abs(scaled).max() > FAR)


def evaluate(points: Array, others: Array | None, scale: Scale, values: Callable[[Array], Array]) -> Array:
    """Return values(|(x - y) / scale|^2) for every row x of `points` and y of `others`, or of `points` again.

    `values` may overwrite what it is given.

    Examples
    --------
    >>> evaluate(np.array([[0.0], [3.0]]), None, 1.0, np.sqrt)
    array([[0., 3.],
           [3., 0.]])
    """
    if others is not None and others.shape[1] != points.shape[1]:
        raise ValueError(f"points of dimension {points.shape[1]} and {others.shape[1]} have no distance")
    with np.errstate(over="ignore", invalid="ignore"):  # a square may become inf, at which a kernel has a value
        one = points if scale == 1.0 else points / scale
        other = one if others is None else others if scale == 1.0 else others / scale
        if not is_far(one if len(one) <= len(other) else other):  # digits are lost between two points that are both far
            return _evaluate(one, other, None, values)
        divisors = np.broadcast_to(np.asarray(scale, dtype=np.float64), points.shape[1])
        return _evaluate(points, points if others is None else others, divisors, values)


def _evaluate(one: Array, other: Array, divisors: Array | None, values: Callable[[Array], Array]) -> Array:
    if len(one) * len(other) <= BLOCK:
        return values(_squares(one, other, divisors))
    return _by_blocks(one, other, divisors, values, mirrored=other is one)


def _by_blocks(
    one: Array, other: Array, divisors: Array | None, values: Callable[[Array], Array], *, mirrored: bool
) -> Array:
    """Compute block after block of rows; of a symmetric matrix only what is right of the diagonal."""
    result = np.empty((len(one), len(other)))
    start = 0
    while start < len(one):
        first = start if mirrored else 0
        stop = start + max(1, BLOCK // (len(other) - first))
        block = values(_squares(one[start:stop], other[first:], divisors))
        result[start:stop, first:] = block
        if mirrored:
            result[stop:, start:stop] = block[:, stop - start :].T
        start = stop
    return result


def _squares(one: Array, other: Array, divisors: Array | None) -> Array:
    """Return |x - y|^2, the coordinates added in their order, as scipy adds them."""
    if divisors is None and one.shape[1] > FEW:
        from scipy.spatial.distance import cdist  # here, since it takes a third of a second to load

        return np.asarray(cdist(one, other, "sqeuclidean"))
    columns = other.T if one.shape[1] == 1 or len(one) < REPEATED else np.ascontiguousarray(other.T)
    total = _square(one[:, :1] - columns[0], divisors, 0)
    for axis in range(1, one.shape[1]):
        total += _square(one[:, axis : axis + 1] - columns[axis], divisors, axis)
    return total


def _square(gaps: Array, divisors: Array | None, axis: int) -> Array:
    if divisors is not None:
        gaps /= divisors[axis]
    gaps *= gaps
    return gaps

"""Values between the points of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.pools.pool import Grid

AT_THE_EDGE = 1e-9  # steps beyond the last point that count as rounding


def interpolate(grid: Grid, values: Array, points: Array, name: str = "the function") -> Array:
    """Return values between the points of a grid, linear along each axis; at its points they are the given ones.

    Parameters
    ----------
    grid : Grid
    values : array (n,) or (n, q)
        On the grid.
    points : array (m, d)
        A point outside the grid is refused: nothing is known there.
    name : str
        Of the function, for the refusal.

    Examples
    --------
    >>> from nimt.pools.pool import Grid
    >>> interpolate(Grid([0.0, 1.0], [0.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]), np.array([[0.5, 0.25]]))
    array([1.25])
    """
    if points.shape[1] != grid.dimension:
        raise InvalidInput(f"{name} is known on {grid!r}, and was asked for at points of dimension {points.shape[1]}")
    low = np.array([min(axis[0], axis[-1]) for axis in grid.axes])
    high = np.array([max(axis[0], axis[-1]) for axis in grid.axes])
    margin = AT_THE_EDGE * np.abs(np.array(grid.spacing))
    outside = np.flatnonzero(((points < low - margin) | (points > high + margin)).any(axis=1))
    if outside.size:
        raise InvalidInput(
            f"{name} is known on {grid!r}, from {low.tolist()} to {high.tolist()}, and "
            f"{points[outside[0]].tolist()} lies outside it"
        )
    from scipy.interpolate import RegularGridInterpolator  # a lesson on the grid itself does not need it

    wide = [number for number, axis in enumerate(grid.axes) if len(axis) > 1]
    if not wide:
        return np.repeat(values, len(points), axis=0)
    table = values.reshape(*(len(grid.axes[number]) for number in wide), *values.shape[1:])
    between = RegularGridInterpolator([grid.axes[number] for number in wide], table)
    return np.asarray(between(np.clip(points, low, high)[:, wide]), dtype=np.float64)

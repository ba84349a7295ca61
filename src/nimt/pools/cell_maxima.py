"""The largest value in a cell of a one-dimensional grid, from values at fixed nodes in it: no search, no calls."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from nimt.arrays import Array, Flags
from nimt.pools.base import Grid

DEGREE = 10  # of the polynomial in a cell
LOOKS = 129  # places at which the polynomial is looked at before its top is computed
RESOLVED = 1e-9  # of the largest value in a cell: how small its last two coefficients must be
CORRECTIONS = 2  # of Newton's method: from a look to six digits, and to all of them


class CellNodes:
    """Chebyshev's nodes in every cell of a grid with one axis; the ends of a cell are points of the grid.

    A smooth function is known in a whole cell by its values at these nodes, to nearly all digits. Whether it was smooth
    enough is seen from the coefficients of the polynomial, which must have faded out at the end.

    Parameters
    ----------
    grid : Grid with one axis

    Attributes
    ----------
    points : array (cells * 9, 1)
        The nodes within the cells; a caller keeps the function's values there.

    Examples
    --------
    >>> grid = Grid(np.linspace(0, 3, 13))
    >>> nodes = CellNodes(grid)
    >>> tops, heights, resolved = nodes.tops([6], np.sin(grid.points[:, 0]), np.sin(nodes.points[:, 0]))
    >>> tops.round(9), heights.round(12), resolved
    (array([[1.57079633]]), array([1.]), array([ True]))
    """

    def __init__(self, grid: Grid) -> None:
        self.edges: Array = grid.points[:, 0]
        self.nodes: Array = np.cos(np.pi * np.arange(DEGREE, -1, -1) / DEGREE)  # from -1 to 1
        low, high = self.edges[:-1, np.newaxis], self.edges[1:, np.newaxis]
        self.points: Array = ((low + high + (high - low) * self.nodes[1:-1]) / 2).reshape(-1, 1)
        self.places: Array = np.linspace(-1, 1, LOOKS)
        self.gap: float = 2 / (LOOKS - 1)
        self.to_coefficients: Array = np.asarray(np.linalg.inv(vandermonde(self.nodes)).T, dtype=np.float64)
        self.at_places: Array = vandermonde(self.places).T
        unit = np.eye(DEGREE + 1)
        slope = np.array([np.append(chebyshev.chebder(row), 0.0) for row in unit])
        self.slope: Array = slope  # coefficients (.., 11) @ slope are those of the derivative
        self.curvature: Array = slope @ slope

    def tops(self, starts: list[int], on_grid: Array, on_nodes: Array) -> tuple[Array, Array, Flags]:
        """Return where |function| is largest in the cells beside each start, its size there, and if that is reliable.

        Parameters
        ----------
        starts : list of int
            Indices of the grid.
        on_grid, on_nodes : array (n,), array (cells * 9,)
            The function's values, with their signs.

        Returns
        -------
        places (s, 1), sizes (s,), resolved (s,) of bool
        """
        here = np.array(starts)
        cells = np.clip(np.concatenate([here - 1, here]), 0, len(self.edges) - 2)
        rows = np.column_stack(
            [on_grid[cells], on_nodes.reshape(-1, DEGREE - 1)[cells], on_grid[cells + 1]]
        )  # the values in each cell, from end to end
        coefficients = rows @ self.to_coefficients
        largest = np.max(np.abs(rows), axis=1)
        smooth = np.max(np.abs(coefficients[:, -2:]), axis=1) <= RESOLVED * largest
        place, size = self._top(coefficients)
        low, high = self.edges[cells], self.edges[cells + 1]
        at = (low + high + (high - low) * place) / 2
        count = len(here)
        better = np.where(size[count:] > size[:count], count, 0) + np.arange(count)
        return at[better, np.newaxis], size[better], smooth[:count] & smooth[count:]

    def _top(self, coefficients: Array) -> tuple[Array, Array]:
        """Return where in [-1, 1] the size of each polynomial is largest, and that size."""
        looked = np.abs(coefficients @ self.at_places)
        highest = np.argmax(looked, axis=1)
        first, before = self.places[highest], looked[np.arange(len(looked)), highest]
        low, high = np.maximum(first - self.gap, -1.0), np.minimum(first + self.gap, 1.0)
        slope, curvature = coefficients @ self.slope, coefficients @ self.curvature
        place = first
        for _ in range(CORRECTIONS):
            basis = vandermonde(place)
            down, bend = (slope * basis).sum(axis=1), (curvature * basis).sum(axis=1)
            bend[bend == 0] = np.inf  # flat: it stays where it is
            place = np.minimum(np.maximum(place - down / bend, low), high)
        # at the place before the last correction, which moves it too little to change the size
        size = np.abs((coefficients * basis).sum(axis=1))
        return np.where(size >= before, place, first), np.maximum(size, before)


def vandermonde(places: Array) -> Array:
    """Return Chebyshev's polynomials at places in [-1, 1], shape (s, 11).

    Examples
    --------
    >>> vandermonde(np.array([0.5])).round(3)[0, :4]
    array([ 1. ,  0.5, -0.5, -1. ])
    """
    return np.asarray(np.cos(np.arccos(places)[:, np.newaxis] * np.arange(DEGREE + 1)))

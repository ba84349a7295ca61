"""The largest value in a cell of a one-dimensional grid, from values at fixed nodes in it: no search, no calls."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial import chebyshev

from nimt.arrays import Array, Flags, Indices
from nimt.pools.pool import Grid

DEGREE = 10  # of the polynomial in a cell
LOOKS = 129  # places at which the polynomial is looked at before its top is computed
GAP = 2 / (LOOKS - 1)  # between two of them
RESOLVED = 1e-9  # of the largest value in a cell: how small its last two coefficients must be
ORDERS = np.arange(DEGREE + 1)
LAST = slice(LOOKS + DEGREE - 1, LOOKS + DEGREE + 1)  # in a row of `to_all`: the last two coefficients,
BEND = slice(LOOKS + 2 * (DEGREE + 1), LOOKS + 3 * (DEGREE + 1))  # and those of the second derivative
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
    points : array (10 * cells + 1, 1)
        All nodes from end to end of the grid; a caller keeps the function's values there.

    Examples
    --------
    >>> grid = Grid(np.linspace(0, 3, 13))
    >>> nodes = CellNodes(grid)
    >>> tops, heights, resolved = nodes.tops([6], np.sin(nodes.points[:, 0]).take)
    >>> tops.round(9), heights.round(12), resolved
    (array([[1.57079633]]), array([1.]), array([ True]))
    """

    def __init__(self, grid: Grid) -> None:
        self.edges: Array = grid.points[:, 0]
        nodes = np.cos(np.pi * np.arange(DEGREE, -1, -1) / DEGREE)  # from -1 to 1
        self.middles: Array = (self.edges[:-1] + self.edges[1:]) / 2
        self.halves: Array = (self.edges[1:] - self.edges[:-1]) / 2
        cells = np.arange(len(self.edges))
        self.beside: Indices = np.clip(
            np.stack([cells - 1, cells]), 0, len(self.middles) - 1
        )  # left and right of a point
        inner = self.middles[:, np.newaxis] + self.halves[:, np.newaxis] * nodes[:-1]
        inner[:, 0] = self.edges[:-1]
        self.points: Array = np.append(inner, self.edges[-1])[:, np.newaxis]
        # a row of values in a cell (11,) @ these are the coefficients of its polynomial and of two derivatives of it,
        self.places: Array = np.linspace(-1, 1, LOOKS)
        self.at_places: Array = vandermonde(self.places)
        to_coefficients = np.linalg.inv(vandermonde(nodes)).T
        slope = np.array([np.append(chebyshev.chebder(row), 0.0) for row in np.eye(DEGREE + 1)])
        self.to_derivatives: Array = to_coefficients @ np.hstack([np.eye(DEGREE + 1), slope, slope @ slope])
        self.to_last: Array = np.ascontiguousarray(to_coefficients[:, -2:])  # the last two coefficients alone,
        self.to_looks: Array = to_coefficients @ self.at_places.T  # and the polynomial's values at the places
        self.to_all: Array = np.hstack([self.to_looks, self.to_derivatives])

    def tops(self, starts: list[int], values_at: Callable[[Indices], Array]) -> tuple[Array, Array, Flags]:
        """Return where |function| is largest in the cells beside each start, its size there, and if that is reliable.

        Parameters
        ----------
        starts : list of int
            Indices of the grid.
        values_at : callable(indices (2 s, 11)) -> array (2 s, 11)
            The function's values at these rows of `points`, with their signs.

        Returns
        -------
        places (s, 1), sizes (s,), resolved (s,) of bool
        """
        cells = self.beside[:, starts].ravel()
        rows = values_at((DEGREE * cells)[:, np.newaxis] + ORDERS)
        smooth = np.abs(rows @ self.to_last).max(axis=1) <= RESOLVED * np.abs(rows).max(axis=1)
        # both cells, because a maximum near the point between them may be in either
        place, size = self._top(rows)
        count = len(starts)
        better = np.where(size[count:] > size[:count], count, 0) + np.arange(count)
        cell = cells[better]
        at = self.middles[cell] + self.halves[cell] * place[better]
        at = np.minimum(np.maximum(at, self.edges[cell]), self.edges[cell + 1])  # rounding may lead out of a cell
        return at[:, np.newaxis], size[better], smooth[:count] & smooth[count:]

    def top(self, starts: list[int], values_at: Callable[[Indices], Array]) -> tuple[float, float] | None:
        """Return the highest of `tops` alone and its size, with few calls; None where one of them is not reliable."""
        cells = self.beside[:, starts].ravel()
        looked = values_at((DEGREE * cells)[:, np.newaxis] + ORDERS) @ self.to_all
        sizes = np.abs(looked)
        heights = np.maximum.reduce(sizes[:, :LOOKS], axis=1).tolist()
        last = np.maximum.reduce(sizes[:, LAST], axis=1).tolist()
        if any(small > RESOLVED * height for small, height in zip(last, heights, strict=True)):
            return None
        # between two looks a polynomial rises by at most GAP^2 / 8 times its second derivative
        highest = max(heights)
        rises = (GAP**2 / 8 * np.add.reduce(sizes[:, BEND], axis=1)).tolist()
        best, best_place, best_size = -1, 0.0, -1.0
        for row, (height, rise) in enumerate(zip(heights, rises, strict=True)):
            if height + rise >= highest:
                derivatives = looked[row, LOOKS:].reshape(3, DEGREE + 1)
                place, size = self._top_of_one(derivatives, int(sizes[row, :LOOKS].argmax()), height)
                if size > best_size:
                    best, best_place, best_size = int(cells[row]), place, size
        at = float(self.middles[best] + self.halves[best] * best_place)
        return min(max(at, float(self.edges[best])), float(self.edges[best + 1])), best_size

    def _top_of_one(self, derivatives: Array, look: int, before: float) -> tuple[float, float]:
        """Return what `_top` returns, for one polynomial."""
        first = place = float(self.places[look])
        low, high = max(first - GAP, -1.0), min(first + GAP, 1.0)
        value, basis = 0.0, self.at_places[look]
        for correction in range(CORRECTIONS):
            basis = basis if correction == 0 else np.cos(math.acos(place) * ORDERS)
            value, down, bend = (derivatives @ basis).tolist()
            if bend != 0:
                place = min(max(place - down / bend, low), high)
        return (place, abs(value)) if abs(value) >= before else (first, before)

    def _top(self, rows: Array) -> tuple[Array, Array]:
        """Return where in [-1, 1] the size of each polynomial is largest, by Newton's method, and that size."""
        looked = np.abs(rows @ self.to_looks)
        look = looked.argmax(axis=1)
        before = looked[np.arange(len(rows)), look]
        derivatives = (rows @ self.to_derivatives).reshape(-1, 3, DEGREE + 1)
        first = place = self.places[look]
        low, high = np.maximum(first - GAP, -1.0), np.minimum(first + GAP, 1.0)
        basis = self.at_places[look]
        for correction in range(CORRECTIONS):
            basis = basis if correction == 0 else vandermonde(place)
            value, down, bend = (derivatives @ basis[:, :, np.newaxis])[:, :, 0].T
            bend[bend == 0] = np.inf  # flat: it stays where it is
            place = np.minimum(np.maximum(place - down / bend, low), high)
        # at the place before the last correction, which moves it too little to change the size
        size = np.abs(value)
        return np.where(size >= before, place, first), np.maximum(size, before)


def vandermonde(places: Array) -> Array:
    """Return Chebyshev's polynomials at places in [-1, 1], shape (s, 11).

    Examples
    --------
    >>> vandermonde(np.array([0.5])).round(3)[0, :4]
    array([ 1. ,  0.5, -0.5, -1. ])
    """
    return np.asarray(np.cos(np.arccos(places)[:, np.newaxis] * ORDERS))

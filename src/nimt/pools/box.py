"""A box of points: examples anywhere in it, not only at the points of a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt import display
from nimt.arrays import Array, Flags, check_count, check_finite, real_array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid

T = TypeVar("T", bound=np.generic)

POINTS = 2**12  # of the quadrature grid, by default
AXIS = 281  # at most along one axis
STARTS = 4  # local maxima of the scan that are refined
FIRST_LOOK, LAST_LOOK = 0.5, 1e-4  # distances of the search, in cells of the grid
LOOKS = 50
AGREES = 1e-8  # how far, relatively, a size found without calls may be from the true one


class Box:
    """All points between two corners, as X of a lesson: the teacher may show any of them.

    The discrepancy is measured on a fixed uniform grid over the box, ends included, and the same grid is the scan with
    which the search for the largest |f - f*| begins. So the start, the target and the learner must be functions that
    can be evaluated anywhere. A pack of several examples may hold a point more than once: a maximum that lies on the
    grid, or that was found at the step before too, is offered as often.

    Parameters
    ----------
    bounds : pairs (low, high), one per axis; a single pair for one axis
    points : int or list of int, optional
        Grid points along each axis; by default 281, fewer in more dimensions (4096 in all).

    Examples
    --------
    >>> Box([(-1, 1), (0, 2)], points=5).grid
    Grid(5 x 5)
    """

    def __init__(self, bounds: ArrayLike, points: int | Sequence[int] | None = None) -> None:
        corners = real_array("bounds", bounds)
        corners = corners[np.newaxis] if corners.ndim == 1 else corners
        if corners.ndim != 2 or corners.shape[1] != 2 or not len(corners):
            raise InvalidInput(
                f"must be pairs (low, high), one per axis, got shape {np.shape(bounds)}", parameter="bounds"
            )
        check_finite("bounds", corners)
        if (wrong := np.flatnonzero(corners[:, 0] >= corners[:, 1])).size:
            raise InvalidInput(f"axis {wrong[0]} of the box runs from {corners[wrong[0], 0]} to {corners[wrong[0], 1]}")
        self.bounds: Array = corners
        self.points: tuple[int, ...] = self._check_points(points)

    def _check_points(self, points: int | Sequence[int] | None) -> tuple[int, ...]:
        if points is None:
            return (min(AXIS, max(3, int(POINTS ** (1 / self.dimension)))),) * self.dimension
        counts = tuple(points) if isinstance(points, Sequence) else (points,) * self.dimension
        if len(counts) != self.dimension:
            raise InvalidInput(f"points has {len(counts)} counts and the box {self.dimension} axes")
        for count in counts:
            check_count("points along an axis", count, at_least=3)
        return tuple(int(count) for count in counts)

    @property
    def dimension(self) -> int:
        return len(self.bounds)

    @cached_property
    def grid(self) -> Grid:
        """The quadrature grid."""
        return Grid(
            *(np.linspace(low, high, count) for (low, high), count in zip(self.bounds, self.points, strict=True))
        )

    @cached_property
    def cell(self) -> Array:
        """The distance between neighbours of the grid along each axis."""
        return np.array(self.grid.spacing)

    @cached_property
    def _lowest(self) -> Array:
        return self.bounds[:, 0].copy()

    def nearest(self, points: Array) -> NDArray[np.intp]:
        """Return the index in the grid that is nearest to each point."""
        steps = np.rint((points - self._lowest) / self.cell).astype(np.intp)
        return steps[:, 0] if len(self.points) == 1 else np.asarray(np.ravel_multi_index(tuple(steps.T), self.points))

    def describe(self) -> dict[str, Any]:
        """Return the parameters it is made from."""
        return {"bounds": self.bounds, "points": list(self.points)}

    def _repr_html_(self) -> str:
        rows = {
            f"axis {number}": f"from {low:g} to {high:g}, measured at {say_count(count, 'point')}"
            for number, ((low, high), count) in enumerate(zip(self.bounds, self.points, strict=True))
        }
        return display.cell("Box", display.pairs(rows))

    def __repr__(self) -> str:
        return f"Box({' x '.join(f'[{low:g}, {high:g}]' for low, high in self.bounds)}, measured on {self.grid!r})"


def highest(
    function: Callable[[Array], Array],
    box: Box,
    scan: Array,
    count: int = 1,
    tops: Callable[[list[int]], tuple[Array, Array, Flags]] | None = None,
    top: Callable[[list[int]], tuple[float, float] | None] | None = None,
) -> Array:
    """Return the points of the `count` highest local maxima of |function| over a box, the highest first.

    The highest few maxima of a scan are refined by a local search (`climb`). A maximum narrower than a cell can be
    missed.

    Parameters
    ----------
    function : callable on (n, d)
    box : Box
    scan : array (n,)
        The function's values on `box.grid`.
    count : int
        Fewer points are returned where there are fewer maxima.
    tops : callable(starts) -> places, sizes, resolved; optional
        Finds the maxima next to some points of the grid without calling the function (`CellNodes.tops`). Where it says
        that it cannot, or where the function has another size there, the local search is made.
    top : callable(starts) -> place, size; optional
        Finds the highest of them alone, faster (`CellNodes.top`).

    Examples
    --------
    >>> box = Box([(-2.0, 3.0)], points=21)
    >>> bump = lambda x: np.exp(-((x[:, 0] - 0.3) ** 2))
    >>> highest(bump, box, bump(box.grid.points)).round(6)
    array([[0.3]])
    """
    sizes = np.abs(scan)
    starts = local_maxima(sizes, box.grid, max(STARTS, count))
    if tops is None:
        places, heights = climb(function, box, box.grid.points[starts], sizes[starts])
        return places[_apart(places, heights, box, count)]
    if top is not None and count == 1 and (highest_of_them := top(starts)) is not None:
        found = np.array([[highest_of_them[0]]])
        if _agree(np.abs(function(found)), highest_of_them[1]).all():
            return found
    places, expected, resolved = tops(starts)
    if resolved.all():
        best = _apart(places, expected, box, count)
        found = places[best]
        if _agree(np.abs(function(found)), expected[best]).all():
            return found  # the same array, so that a caller can tell that it was asked for last
    heights = np.abs(function(places))
    searched = ~(resolved & _agree(heights, expected))
    if searched.any():
        points = box.grid.points[np.array(starts)[searched]]
        places[searched], heights[searched] = climb(function, box, points, sizes[starts][searched])
    return places[_apart(places, heights, box, count)]


def _agree(heights: Array, expected: Array | float) -> Flags:
    """Say which sizes found without calls are the true ones."""
    return np.abs(heights - expected) <= AGREES * heights


def _apart(places: Array, heights: Array, box: Box, count: int) -> list[int]:
    """Return which places are the `count` highest, the highest first: two starts may have reached the same maximum."""
    if count == 1:
        return [int(heights.argmax())]
    distance = 1e-3 * box.cell
    kept: list[int] = []
    for place in np.argsort(-heights, kind="stable"):
        if all((np.abs(places[place] - places[other]) > distance).any() for other in kept):
            kept.append(int(place))
    return kept[:count]


def local_maxima(sizes: Array, grid: Grid, count: int) -> list[int]:
    """Return the grid indices of the highest values that no direct neighbour exceeds, the highest first."""
    if grid.dimension == 1:
        return _maxima_on_a_line(sizes, count)
    table = sizes.reshape(grid.shape)
    top = np.ones(grid.shape, dtype=bool)
    for axis in range(table.ndim):
        ahead, behind = _along(table, axis, slice(1, None)), _along(table, axis, slice(None, -1))
        _along(top, axis, slice(None, -1))[...] &= ahead <= behind
        _along(top, axis, slice(1, None))[...] &= ahead >= behind
    return _highest_of(np.flatnonzero(top.ravel()), sizes, count)


def _maxima_on_a_line(sizes: Array, count: int) -> list[int]:
    """Return `local_maxima` of a grid with one axis, with few calls."""
    padded = np.empty(len(sizes) + 2)
    padded[0] = padded[-1] = -1.0
    padded[1:-1] = sizes
    rises = padded[1:] >= padded[:-1]
    falls = padded[1:] <= padded[:-1]
    return _highest_of((rises[:-1] & falls[1:]).nonzero()[0], sizes, count)


def _highest_of(found: NDArray[np.intp], sizes: Array, count: int) -> list[int]:
    chosen: list[int] = found[(-sizes[found]).argsort(kind="stable")[:count]].tolist()
    return chosen


def climb(function: Callable[[Array], Array], box: Box, starts: Array, sizes: Array) -> tuple[Array, Array]:
    """Climb from each start to a maximum of |function| near it; return the places (s, d) and the heights (s,).

    A pattern search in which |function| never falls: it is evaluated at both sides of a place along every axis and at
    the top of the parabola through these values. The best of these becomes the next place, and the distance is divided
    by 4 once a move is short. All starts are searched at once, so that the function is called a few times with many
    points.
    """
    places, heights = starts.copy(), sizes.copy()
    cell = box.cell
    reach = np.full(len(starts), FIRST_LOOK)
    axes = np.eye(box.dimension)
    for _ in range(LOOKS):
        steps = reach[:, np.newaxis, np.newaxis] * cell * np.concatenate([axes, -axes])
        sides = np.clip(places[:, np.newaxis] + steps, box.bounds[:, 0], box.bounds[:, 1])
        side_heights = sizes_of(function, sides)
        tops = parabola_tops(places, heights, sides, side_heights)
        seen = np.concatenate([places[:, np.newaxis], sides, tops[:, np.newaxis]], axis=1)
        seen_heights = np.column_stack([heights, side_heights, sizes_of(function, tops[:, np.newaxis])])
        best = np.argmax(seen_heights, axis=1)
        every = np.arange(len(starts))
        moved = np.max(np.abs(seen[every, best] - places) / cell, axis=1)
        places, heights = seen[every, best], seen_heights[every, best]
        reach = np.where(4 * moved > reach, reach, reach / 4)
        if (reach < LAST_LOOK).all():
            break
    return places, heights


def sizes_of(function: Callable[[Array], Array], points: Array) -> Array:
    """Return |function| at points (s, m, d), shape (s, m)."""
    return np.abs(function(points.reshape(-1, points.shape[-1]))).reshape(points.shape[:-1])


def parabola_tops(places: Array, heights: Array, sides: Array, side_heights: Array) -> Array:
    """Return the top of the parabola through a place and its two sides, axis by axis; the place where there is none."""
    ahead, behind = np.split(side_heights - heights[:, np.newaxis], 2, axis=1)
    d = places.shape[1]
    a = np.stack([sides[:, axis, axis] - places[:, axis] for axis in range(d)], axis=1)
    b = np.stack([places[:, axis] - sides[:, d + axis, axis] for axis in range(d)], axis=1)
    curvature = ahead * b + behind * a  # below 0 at a maximum; a side cut off by the box has length 0 and is not used
    slope = ahead * b**2 - behind * a**2
    shift = np.divide(-slope, 2 * curvature, out=np.zeros_like(slope), where=curvature < 0)
    return np.asarray(places + np.clip(shift, -b, a))


def _along(table: NDArray[T], axis: int, part: slice) -> NDArray[T]:
    """Return a part along one axis, all of the others."""
    return table[(slice(None),) * axis + (part,)]

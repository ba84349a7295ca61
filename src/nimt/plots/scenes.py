"""Functions on a pool, drawn so that they can be updated: curves, pixels or dots; in 3-D and more, f against f*."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.plots.style import OTHER, QUIET, TARGET
from nimt.pools.base import Grid, Pool

Indices = NDArray[np.int64]

MARGIN = 0.06  # share of the range of values that is left free above and below curves


class Scene(Protocol):
    """Axes with f* fixed and f^t updated; `moving` lists what must be drawn again, in drawing order."""

    moving: list[Artist]

    def show(self, values: Array, shown: Indices) -> None:
        """Draw f^t, and mark these points of the pool."""
        ...


def scene_of(ax: Axes, pool: Pool, target: Array, limits: tuple[float, float], colour: str) -> Scene:
    """Return the scene that fits the pool.

    Parameters
    ----------
    ax : matplotlib Axes
    pool : Grid or Points
    target : array (n,)
    limits : pair
        The smallest and largest value that will be drawn.
    colour : str
        Of the learner's curve.
    """
    if pool.dimension == 1:
        return CurveScene(ax, pool, target, limits, colour)
    if pool.dimension == 2:
        return MapScene(ax, pool, limits)
    return AgreementScene(ax, target, limits, colour)


class CurveScene:
    """f* and f^t as curves over a 1-D pool."""

    def __init__(self, ax: Axes, pool: Pool, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.x: Array = pool.points[:, 0]
        self.order: NDArray[np.intp] = np.argsort(self.x, kind="stable")
        self.target: Array = target
        ax.plot(self.x[self.order], target[self.order], color=TARGET, linewidth=1.1, linestyle=(0, (4, 1.6)))
        self.line: Line2D
        self.marks: Line2D
        (self.line,) = ax.plot([], [], color=colour)
        (self.marks,) = ax.plot([], [], "o", color="white", markeredgecolor=TARGET, markersize=5, zorder=3)
        room = MARGIN * (limits[1] - limits[0])
        ax.set_ylim(limits[0] - room, limits[1] + room)
        ax.margins(x=0.02)
        self.moving: list[Artist] = [self.line, self.marks]

    def show(self, values: Array, shown: Indices) -> None:
        self.line.set_data(self.x[self.order], values[self.order])
        self.marks.set_data(self.x[shown], self.target[shown])


class MapScene:
    """f^t as pixels of a 2-D grid, or as coloured dots; marks are rings."""

    def __init__(self, ax: Axes, pool: Pool, limits: tuple[float, float]) -> None:
        self.pool: Pool = pool
        self.is_grid: bool = isinstance(pool, Grid)
        shades: dict[str, Any] = {"vmin": limits[0], "vmax": limits[1]}
        first, second = pool.points.T
        self.ink: AxesImage | PathCollection
        self.places: Array
        if isinstance(pool, Grid):
            (down, across), (height, width) = pool.axes, pool.spacing
            extent = (
                across[0] - (width or 1) / 2, across[-1] + (width or 1) / 2,
                down[-1] + (height or 1) / 2, down[0] - (height or 1) / 2,
            )  # fmt: skip
            self.ink = ax.imshow(np.zeros(pool.shape), extent=extent, interpolation="nearest", aspect="auto", **shades)
            if _is_image(pool):
                ax.set_aspect("equal")
                ax.set(xticks=[], yticks=[])
            else:
                ax.set_ylim(min(ax.get_ylim()), max(ax.get_ylim()))
            self.places = np.column_stack([second, first])
        else:
            self.ink = ax.scatter(first, second, c=np.zeros(len(pool)), s=14, linewidths=0, **shades)
            self.places = np.column_stack([first, second])
        self.rings: list[PathCollection] = [
            ax.scatter([], [], s=30, facecolors="none", edgecolors=edge, linewidths=thickness, zorder=3)
            for edge, thickness in (("white", 2.2), (TARGET, 1.0))
        ]
        self.moving: list[Artist] = [self.ink, *ax.spines.values(), *self.rings]

    def show(self, values: Array, shown: Indices) -> None:
        self.ink.set_array(values.reshape(self.pool.shape) if self.is_grid else values)
        for ring in self.rings:
            ring.set_offsets(self.places[shown])


class AgreementScene:
    """f^t against f*, for points of three dimensions and more: where they are equal, dots lie on the diagonal."""

    def __init__(self, ax: Axes, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.target: Array = target
        ax.axline((limits[0], limits[0]), slope=1, color=QUIET, linewidth=0.8, linestyle=(0, (4, 1.6)))
        self.dots: PathCollection = ax.scatter([], [], s=8, color=colour, linewidths=0)
        self.rings: PathCollection = ax.scatter([], [], s=30, facecolors="none", edgecolors=OTHER, linewidths=1.0)
        room = MARGIN * (limits[1] - limits[0])
        ax.set(xlim=(limits[0] - room, limits[1] + room), ylim=(limits[0] - room, limits[1] + room))
        ax.set(xlabel="target f*", ylabel="learner f")
        ax.set_aspect("equal")
        self.moving: list[Artist] = [self.dots, self.rings]

    def show(self, values: Array, shown: Indices) -> None:
        places = np.column_stack([self.target, values])
        self.dots.set_offsets(places)
        self.rings.set_offsets(places[shown])


def _is_image(pool: Grid) -> bool:
    return all(np.array_equal(axis, np.arange(len(axis))) for axis in pool.axes)

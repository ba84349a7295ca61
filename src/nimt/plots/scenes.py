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
from nimt.lesson.lesson import Lesson
from nimt.plots.looks import Look, look_of
from nimt.plots.style import OTHER, QUIET, TARGET, class_colours
from nimt.pools.base import Grid, Pool, is_picture

Indices = NDArray[np.int64]

MARGIN = 0.06  # share of the range of values that is left free above and below curves


class Scene(Protocol):
    """Axes with f* fixed and f^t updated; `moving` lists what must be drawn again, in drawing order."""

    moving: list[Artist]

    def show(self, values: Array, shown: Indices) -> None:
        """Draw f^t, and mark these points of the pool."""
        ...


def scene_of(ax: Axes, lesson: Lesson, limits: tuple[float, float], colour: str) -> Scene:
    """Return the scene that fits the pool of a lesson.

    Parameters
    ----------
    ax : matplotlib Axes
    lesson : Lesson
    limits : pair
        The smallest and largest value that will be drawn.
    colour : str
        Of the learner's curve; with several outputs each has a colour of its own.
    """
    if lesson.pool.dimension == 1:
        return CurveScene(ax, lesson.pool, lesson.target, limits, colour)
    if lesson.pool.dimension == 2:
        return MapScene(ax, lesson.pool, look_of(lesson), limits)
    return AgreementScene(ax, lesson.target, limits, colour)


class CurveScene:
    """f* and f^t as curves over a 1-D pool, one pair for each output."""

    def __init__(self, ax: Axes, pool: Pool, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.x: Array = pool.points[:, 0]
        self.order: NDArray[np.intp] = np.argsort(self.x, kind="stable")
        self.target: Array = by_output(target)
        several = self.target.shape[1] > 1
        colours = class_colours(self.target.shape[1]) if several else [colour]
        self.lines: list[Line2D] = []
        self.marks: Line2D
        for output, ink in enumerate(colours):
            ax.plot(
                self.x[self.order], self.target[self.order, output], color=ink if several else TARGET, linewidth=1.1,
                linestyle=(0, (4, 1.6)),
            )  # fmt: skip
        for ink in colours:
            self.lines += ax.plot([], [], color=ink)
        (self.marks,) = ax.plot([], [], "o", color="white", markeredgecolor=TARGET, markersize=5, zorder=3)
        room = MARGIN * (limits[1] - limits[0])
        ax.set_ylim(limits[0] - room, limits[1] + room)
        ax.margins(x=0.02)
        self.moving: list[Artist] = [*self.lines, self.marks]

    def show(self, values: Array, shown: Indices) -> None:
        columns = by_output(values)
        for output, line in enumerate(self.lines):
            line.set_data(self.x[self.order], columns[self.order, output])
        self.marks.set_data(np.repeat(self.x[shown], len(self.lines)), self.target[shown].ravel())


class MapScene:
    """f^t as pixels of a 2-D grid, or as coloured dots; marks are rings."""

    def __init__(self, ax: Axes, pool: Pool, look: Look, limits: tuple[float, float]) -> None:
        self.pool: Pool = pool
        self.look: Look = look
        self.is_grid: bool = isinstance(pool, Grid)
        shades: dict[str, Any] = dict(zip(("vmin", "vmax"), look.limits or limits, strict=True))
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
            if is_picture(pool):
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
        shades = self.look.shades(values)
        if self.is_grid:
            self.ink.set_array(shades.reshape(*self.pool.shape, *shades.shape[1:]))
        elif shades.ndim == 1:
            self.ink.set_array(shades)
        else:
            self.ink.set_array(None)
            self.ink.set_facecolor(shades)  # type: ignore[union-attr,arg-type]
        for ring in self.rings:
            ring.set_offsets(self.places[shown])


class AgreementScene:
    """f^t against f*, for points of three dimensions and more: where they are equal, dots lie on the diagonal."""

    def __init__(self, ax: Axes, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.target: Array = by_output(target)
        ax.axline((limits[0], limits[0]), slope=1, color=QUIET, linewidth=0.8, linestyle=(0, (4, 1.6)))
        self.dots: PathCollection = ax.scatter([], [], s=8, color=colour, linewidths=0)
        self.rings: PathCollection = ax.scatter([], [], s=30, facecolors="none", edgecolors=OTHER, linewidths=1.0)
        room = MARGIN * (limits[1] - limits[0])
        ax.set(xlim=(limits[0] - room, limits[1] + room), ylim=(limits[0] - room, limits[1] + room))
        ax.set(xlabel="target f*", ylabel="learner f")
        ax.set_aspect("equal")
        self.moving: list[Artist] = [self.dots, self.rings]

    def show(self, values: Array, shown: Indices) -> None:
        places = np.stack([self.target, by_output(values)], axis=-1)  # (n, q, 2): every output is a dot
        self.dots.set_offsets(places.reshape(-1, 2))
        self.rings.set_offsets(places[shown].reshape(-1, 2))


def by_output(values: Array) -> Array:
    """Return values as (n, q), one column for each output."""
    return values[:, np.newaxis] if values.ndim == 1 else values

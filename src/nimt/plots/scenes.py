"""Functions on a pool, drawn so that they can be updated: curves, pixels or dots; in 3-D and more, f against f*.

Classes of points in 3-D and more are drawn as a table: which class the learner names for the points of each.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.classes import answers
from nimt.lesson.lesson import Lesson
from nimt.plots.looks import Look, class_words, look_of
from nimt.plots.style import OTHER, QUIET, TARGET, class_colours
from nimt.pools.pool import Grid, Pool

Indices = NDArray[np.int64]

MARGIN = 0.06  # share of the range of values that is left free above and below curves
MOST_DOTS = 5000  # more would hide each other
CELLS = 80  # along each axis, of a density
MOST_CLASSES, MOST_NUMBERED = 20, 6  # of a table of classes, and in large letters
LONGEST_WORD, ROOM_OF_WORDS = 12, 24  # letters
NODE = 34  # size of the dot of a node
DARK = 0.55  # share from which a cell has white letters


class Scene(Protocol):
    """Axes with f* fixed and f^t updated; `moving` lists what must be drawn again, in drawing order."""

    moving: list[Artist]

    def show(self, values: Array, shown: Indices) -> None:
        """Draw f^t, and mark these points of the pool."""
        ...


def limits_of(lesson: Lesson) -> tuple[float, float]:
    """Return the smallest and largest finite value to draw; a diverging lesson is cut at twice the target's range."""
    known = np.concatenate([lesson.target, lesson.initial])
    low, high = float(known.min()), float(known.max())
    if low == high:
        low, high = low - 1.0, high + 1.0
    room = (high - low) / 2
    everything = np.concatenate([lesson.final, *lesson.snapshots.values()])
    finite = everything[np.isfinite(everything)]
    if finite.size:
        low, high = max(min(low, float(finite.min())), low - room), min(max(high, float(finite.max())), high + room)
    return low, high


def within(values: Array, limits: tuple[float, float]) -> Array:
    """Return values in which those that are not finite are replaced by the limits."""
    return np.nan_to_num(values, nan=limits[1], posinf=limits[1], neginf=limits[0])


def name_axes(lesson: Lesson) -> tuple[str, str]:
    """Return the labels of the axes across and up, for a lesson on a line or a plane; "" of pictures and graphs."""
    names = lesson.pool.axis_names
    if lesson.pool.view == "curve":
        return (names[0] if names else "x", name_values(lesson))
    if lesson.pool.view in ("picture", "graph"):
        return ("", "")
    return (names[0], names[1]) if len(names) == 2 else ("x1", "x2")


def name_values(lesson: Lesson) -> str:
    """Return what the values of f are called: the target's name; "" of classes, whose values are no more than signs."""
    return "" if lesson.target.ndim > 1 or class_words(lesson) is not None else lesson.pool.target_name


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
    view = lesson.pool.view
    if view != "agreement":
        across, up = name_axes(lesson)
        ax.set(xlabel=across, ylabel=up)
    if view == "curve":
        return CurveScene(ax, lesson.pool, lesson.target, limits, colour)
    if view != "agreement":
        return MapScene(ax, lesson.pool, look_of(lesson), limits)
    words = class_words(lesson)
    if words is not None and len(words) <= MOST_CLASSES:
        return ConfusionScene(ax, lesson.target, words)
    many = lesson.target.size > MOST_DOTS
    scene = DensityScene(ax, lesson.target, limits) if many else AgreementScene(ax, lesson.target, limits, colour)
    if name_values(lesson):
        ax.set_xlabel(f"target f* ({name_values(lesson)})")
    return scene


def draw_edges(ax: Axes, pool: Pool) -> None:
    """Draw the edges of a graph below its nodes; the axes then say nothing."""
    if pool.view != "graph":
        return
    ax.add_collection(
        LineCollection(list(pool.positions[pool.edges]), colors=QUIET, linewidths=0.6, alpha=0.5, zorder=1)
    )
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.spines[:].set_visible(False)


class CurveScene:
    """f* and f^t as curves over a 1-D pool, one pair for each output."""

    def __init__(self, ax: Axes, pool: Pool, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.x: Array = pool.positions[:, 0]
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
        self.is_picture: bool = pool.view == "picture"
        shades: dict[str, Any] = dict(zip(("vmin", "vmax"), look.limits or limits, strict=True))
        first, second = pool.positions.T
        self.ink: AxesImage | PathCollection
        self.places: Array
        if isinstance(pool, Grid):
            edges = [
                (axis[0] - (step or 1) / 2, axis[-1] + (step or 1) / 2)
                for axis, step in zip(pool.axes, pool.spacing, strict=True)
            ]
            # a picture as it hangs; of a map x1 lies across and x2 up
            extent = (*edges[1], *edges[0][::-1]) if self.is_picture else (*edges[0], *edges[1])
            self.ink = ax.imshow(
                self._turn(np.zeros(pool.shape)), extent=extent, interpolation="nearest", aspect="auto",
                origin="upper" if self.is_picture else "lower", **shades,
            )  # fmt: skip
            if self.is_picture:
                ax.set_aspect("equal")
                ax.set(xticks=[], yticks=[])
            self.places = np.column_stack([second, first] if self.is_picture else [first, second])
        else:
            draw_edges(ax, pool)
            size = NODE if pool.view == "graph" else 14
            self.ink = ax.scatter(first, second, c=np.zeros(len(pool)), s=size, linewidths=0, zorder=2, **shades)
            self.places = np.column_stack([first, second])
        self.rings: list[PathCollection] = [
            ax.scatter([], [], s=30, facecolors="none", edgecolors=edge, linewidths=thickness, zorder=3)
            for edge, thickness in (("white", 2.2), (TARGET, 1.0))
        ]
        self.moving: list[Artist] = [self.ink, *ax.spines.values(), *self.rings]

    def show(self, values: Array, shown: Indices) -> None:
        shades = self.look.shades(values)
        if self.is_grid:
            self.ink.set_array(self._turn(shades.reshape(*self.pool.shape, *shades.shape[1:])))
        elif shades.ndim == 1:
            self.ink.set_array(shades)
        else:
            self.ink.set_array(None)
            self.ink.set_facecolor(shades)  # type: ignore[union-attr,arg-type]
        for ring in self.rings:
            ring.set_offsets(self.places[shown])

    def _turn(self, table: Array) -> Array:
        return table if self.is_picture else np.swapaxes(table, 0, 1)


class AgreementScene:
    """f^t against f*, for points of three dimensions and more: where they are equal, dots lie on the diagonal."""

    def __init__(self, ax: Axes, target: Array, limits: tuple[float, float], colour: str) -> None:
        self.target: Array = by_output(target)
        ax.axline((limits[0], limits[0]), slope=1, color=QUIET, linewidth=0.8, linestyle=(0, (4, 1.6)))
        self.dots: PathCollection = ax.scatter([], [], s=8, color=colour, linewidths=0)
        self.rings: PathCollection = ax.scatter([], [], s=30, facecolors="none", edgecolors=OTHER, linewidths=1.0)
        _square_axes(ax, limits)
        self.moving: list[Artist] = [self.dots, self.rings]

    def show(self, values: Array, shown: Indices) -> None:
        places = np.stack([self.target, by_output(values)], axis=-1)  # (n, q, 2): every output is a dot
        self.dots.set_offsets(places.reshape(-1, 2))
        self.rings.set_offsets(places[shown].reshape(-1, 2))


class DensityScene:
    """f^t against f* of many points: how many lie in each cell of the plane, since dots would hide each other."""

    def __init__(self, ax: Axes, target: Array, limits: tuple[float, float]) -> None:
        self.target: Array = by_output(target).ravel()
        low, high = _square_axes(ax, limits)
        self.edges: Array = np.linspace(low, high, CELLS + 1)
        most = np.log1p(self.target.size)
        self.ink: AxesImage = ax.imshow(
            np.zeros((CELLS, CELLS)), extent=(low, high, low, high), origin="lower", cmap="Oranges", vmin=0, vmax=most,
            interpolation="nearest",
        )  # fmt: skip
        line = ax.axline((limits[0], limits[0]), slope=1, color=QUIET, linewidth=0.8, linestyle=(0, (4, 1.6)))
        self.moving: list[Artist] = [self.ink, line, *ax.spines.values()]

    def show(self, values: Array, shown: Indices) -> None:
        counts = np.histogram2d(by_output(values).ravel(), self.target, bins=(self.edges, self.edges))[0]
        shades = np.ma.masked_equal(np.log1p(counts), 0.0)
        self.ink.set_data(shades)
        self.ink.set_clim(-0.4 * float(shades.max() or 1.0), float(shades.max() or 1.0))  # a single point is seen


class ConfusionScene:
    """Which class f^t names for the points of each class: counts, right answers on the diagonal."""

    def __init__(self, ax: Axes, target: Array, words: list[str]) -> None:
        self.target: Array = target
        self.count: int = len(words)
        self.classes: NDArray[np.intp] = answers(target, target)
        self.ink: AxesImage = ax.imshow(
            np.zeros((self.count, self.count)), cmap="Blues", vmin=0, vmax=1, aspect="auto"
        )  # square cells would be laid out over the words of the panel above
        places = range(self.count)
        self.texts: list[Text] = [
            ax.text(column, row, "", ha="center", va="center", fontsize=8.5 if self.count <= MOST_NUMBERED else 5)
            for row in places
            for column in places
        ]
        names = [word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}\u2026" for word in words]
        ax.set_xticks(places, names, rotation=0 if max(map(len, names)) * self.count <= ROOM_OF_WORDS else 60)
        ax.set_yticks(places, names)
        ax.set(xlabel="class the learner says", ylabel="class")
        ax.tick_params(length=0)
        self.moving: list[Artist] = [self.ink, *self.texts]

    def show(self, values: Array, shown: Indices) -> None:
        counts = np.zeros((self.count, self.count), dtype=np.int64)
        np.add.at(counts, (self.classes, answers(values, self.target)), 1)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        self.ink.set_data(shares)
        for text, count, share in zip(self.texts, counts.ravel(), shares.ravel(), strict=True):
            text.set_text(f"{count:,}" if count else "")
            text.set_color("white" if share > DARK else TARGET)


def _square_axes(ax: Axes, limits: tuple[float, float]) -> tuple[float, float]:
    """Give both axes, f* and f, the same limits, and return them."""
    room = MARGIN * (limits[1] - limits[0])
    low, high = limits[0] - room, limits[1] + room
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="target f*", ylabel="learner f")
    ax.set_aspect("equal")
    return low, high


def by_output(values: Array) -> Array:
    """Return values as (n, q), one column for each output."""
    return values[:, np.newaxis] if values.ndim == 1 else values

"""Decision regions of a learner on a plane: which class it names where, with the points and the examples shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, check_count
from nimt.classes import answers, check_classes
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.figures import draw_on
from nimt.plots.style import TARGET, class_colours

CELLS = 160  # along each axis
ROOM = 0.05  # share of the range of the points that is drawn beyond them
PALE = 0.28  # how much of its colour a region has, so that points can be seen on it
MOST_NAMED = 12


@dataclass(frozen=True, eq=False)
class Regions:
    """What `regions` draws.

    Attributes
    ----------
    x, y : arrays (columns,), (rows,)
        The middles of the cells.
    named : array (rows, columns) of int
        The class that the learner names there, by its place among the classes.
    points, classes : arrays (n, 2), (n,)
        The pool, and the class of the target at each point.
    shown : array (m,) of int
        The points of the pool that were shown.
    count : int
        How many classes there are.
    names : list of str
        What they are called: the words of a table, or class 0, class 1.
    """

    x: Array
    y: Array
    named: Indices
    points: Array
    classes: Indices
    shown: Indices
    count: int
    names: list[str]


def region_table(lesson: Lesson, cells: int = CELLS) -> Regions:
    """Return the numbers that `regions` draws: the taught learner asked at the cells of a plane."""
    check_count("cells", cells, at_least=2)
    if lesson.pool.dimension != 2:
        raise InvalidInput(f"regions are drawn on a plane, and the points have {lesson.pool.dimension} dimensions")
    check_classes(lesson.target)
    if lesson.learner is None:
        raise InvalidInput("the learner of this lesson is not loaded, so it cannot be asked between the points")
    points = lesson.pool.points
    low, high = points.min(axis=0), points.max(axis=0)
    room = ROOM * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[axis] - room[axis], high[axis] + room[axis], cells) for axis in (0, 1))
    mesh = np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)
    words = getattr(getattr(lesson.pool, "preparation", None), "classes", ())
    count = lesson.target.shape[1] if lesson.target.ndim == 2 else len(np.unique(lesson.target))
    return Regions(
        x=x,
        y=y,
        named=_name_classes(lesson.taught, mesh, lesson.target).reshape(cells, cells),
        points=points,
        classes=answers(lesson.target, lesson.target),
        shown=np.flatnonzero(lesson.picks).astype(np.intp),
        count=count,
        names=list(words) or [f"class {place}" for place in range(count)],
    )


@overload
def regions(lesson: Lesson, ax: None = None, cells: int = CELLS) -> Figure: ...
@overload
def regions(lesson: Lesson, ax: Axes, cells: int = CELLS) -> Axes: ...
def regions(lesson: Lesson, ax: Axes | None = None, cells: int = CELLS) -> Figure | Axes:
    """Draw which class the taught learner names where, the points by their class, and rings around those shown.

    Parameters
    ----------
    lesson : Lesson
        On points of a plane, with classes as target: one-hot rows, or whole numbers such as -1 and +1.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    cells : int
        Along each axis, at which the learner is asked.

    Returns
    -------
    Figure, or the Axes given

    Examples
    --------
    >>> import nimt
    >>> plane = nimt.Grid([-1.0, 0.0, 1.0], [-1.0, 1.0])
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), loss="crossentropy", learning_rate=1.0)
    >>> teacher = nimt.GreedyTeacher(score="loss", loss="crossentropy")
    >>> lesson = nimt.teach(learner, teacher, plane, nimt.classes.one_hot([0, 0, 1, 1, 2, 2]), max_iterations=50)
    >>> sorted(set(nimt.plots.region_table(lesson, cells=20).named.ravel().tolist()))
    [0, 1, 2]
    """
    table = region_table(lesson, cells)
    return draw_on(lambda ax: _draw(table, ax), ax, 4.6, 3.8)


def _draw(table: Regions, ax: Axes) -> None:
    colours = class_colours(table.count)
    across, up = table.points.T
    scale: dict[str, Any] = {"cmap": ListedColormap(colours), "vmin": -0.5, "vmax": table.count - 0.5}
    ax.pcolormesh(table.x, table.y, table.named, shading="nearest", alpha=PALE, linewidth=0, rasterized=True, **scale)
    for place in range(table.count - 1):  # the boundary of each class, which cells alone would leave ragged
        ax.contour(table.x, table.y, table.named > place, levels=[0.5], colors=["white"], linewidths=0.8)
    ax.scatter(across, up, c=table.classes, s=11, linewidths=0, zorder=2.5, **scale)
    ax.scatter(
        across[table.shown], up[table.shown], s=34, facecolors="none", edgecolors=TARGET, linewidths=0.9, zorder=3
    )
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour, markersize=4, label=table.names[place])
        for place, colour in enumerate(colours[:MOST_NAMED])
    ]
    ring = Line2D([], [], marker="o", linestyle="", color="none", markeredgecolor=TARGET, markersize=6, label="shown")
    ax.legend(
        handles=[*handles, ring], loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, borderaxespad=0.3,
        handletextpad=0.2, columnspacing=1.2,
    )  # fmt: skip


def _name_classes(learner: Any, mesh: Array, target: Array) -> Indices:
    """Return the class a learner names at each point, by its place among the classes."""
    said: NDArray[Any] = np.asarray(learner.predict(mesh))
    if said.ndim == target.ndim:
        return answers(said, target)
    known = np.asarray(getattr(learner, "classes_", np.arange(target.shape[1])))  # a classifier names classes itself
    return np.asarray(np.searchsorted(known, said), dtype=np.intp)

"""A lesson as panels: f^t and the examples shown, at some steps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nimt.arrays import Array, is_whole
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.style import OTHER, QUIET, STYLE, TARGET, inks
from nimt.pools.base import Grid, Pool

MOST_PANELS = 8  # drawn if no steps are given
COLUMNS = 4
FEW = 8  # up to this many examples get a large mark each


@dataclass(frozen=True, eq=False)
class Panel:
    """The numbers of one panel: f^t and f* at n points, and the examples (0 to k) shown to f^t.

    Attributes
    ----------
    points : array (n, d)
        Points on a line are in ascending order, others in the order of the pool.
    values, target : arrays (n,)
    shown, labels, values_shown : arrays (k, d), (k,), (k,)
        Where the examples lie, their labels, and f^t there.
    """

    step: int
    discrepancy: float
    points: Array
    values: Array
    target: Array
    shown: Array
    labels: Array
    values_shown: Array


def panel_table(lesson: Lesson, steps: Iterable[int] | None = None) -> list[Panel]:
    """Return the numbers that `panels` draws, one entry per step.

    Without `steps`: the start, every snapshot and the end, or eight of these, evenly spaced, if there are more.
    """
    if lesson.target.ndim > 1:
        raise InvalidInput(
            f"panels draw functions with one output, and this lesson has {lesson.target.shape[1]}: use "
            f"curve(lesson), or lesson.replay(path)"
        )
    kept = {0: lesson.initial, **lesson.snapshots, len(lesson): lesson.final}
    asked = _spread(sorted(kept)) if steps is None else list(steps)
    if not asked:
        raise InvalidInput("steps is empty: give at least one step, or leave steps out for all that were kept")
    for step in asked:
        if not is_whole(step) or step not in kept:
            known = ", ".join(str(t) for t in sorted(kept))
            raise InvalidInput(
                f"f^t was not kept at step {step!r}, only at {known}: teach with snapshots=[{step!r}, ...] to keep it"
            )
    return [_panel(lesson, int(step), kept[step]) for step in asked]


def panels(
    lesson: Lesson, steps: Iterable[int] | None = None, figure: Figure | SubFigure | None = None
) -> Figure | SubFigure:
    """Draw f^t beside f* at some steps, and mark the examples shown at these steps.

    On a 1-D pool functions are lines, and a stem leads from f^t at an example to its label. On a 2-D grid they are
    pictures (that of `Grid.like(image)` upright, row first), on other 2-D points coloured dots. Rings mark examples.

    Parameters
    ----------
    lesson : Lesson
        On a pool of one or two dimensions.
    steps : list of int, optional
        Steps whose f^t was kept: 0, the snapshots, the last. All of them by default, eight at most.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Figure or SubFigure
        The figure given, or the new one: `figure.savefig("panels.png")`.
    """
    dimension = lesson.pool.dimension
    if dimension > 2:
        raise InvalidInput(f"panels can be drawn on pools of 1 or 2 dimensions, this one has {dimension}: use curve")
    table = panel_table(lesson, steps)
    with mpl.rc_context(STYLE):
        if dimension == 1:
            return _draw_lines(table, lesson, figure)
        return _draw_maps(table, lesson.pool, figure)


def _panel(lesson: Lesson, step: int, values: Array) -> Panel:
    points = lesson.pool.points
    indices, labels = np.empty(0, np.int64), np.empty(0)
    if lesson.indices is not None and lesson.labels is not None and step < len(lesson):
        indices, labels = lesson.pack(step)
    shown = points[indices]
    if lesson.examples is not None and step < len(lesson):
        shown = lesson.examples[step]  # in a box: its grid holds only the points nearest to these
    order = np.argsort(points[:, 0], kind="stable") if points.shape[1] == 1 else np.arange(len(points))
    return Panel(
        step=step,
        discrepancy=float(lesson.discrepancy[step]),
        points=points[order],
        values=values[order],
        target=lesson.target[order],
        shown=shown,
        labels=labels,
        values_shown=values[indices],
    )


def _spread(steps: list[int]) -> list[int]:
    if len(steps) <= MOST_PANELS:
        return steps
    return [steps[i] for i in np.linspace(0, len(steps) - 1, MOST_PANELS).round().astype(int)]


def _draw_lines(table: list[Panel], lesson: Lesson, figure: Figure | SubFigure | None) -> Figure | SubFigure:
    rows, columns = _layout(len(table))
    figure = figure or Figure(figsize=(2.0 * columns + 0.5, 1.75 * rows + 0.55), layout="constrained")
    all_axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    method, (ink,) = lesson.method, inks([lesson.colour])
    for ax, panel in zip(all_axes, table, strict=False):
        x, at = panel.points[:, 0], panel.shown[:, 0]
        ax.plot(x, panel.target, color=TARGET, linewidth=1.1, linestyle=(0, (4, 1.6)), label="target f*")
        ax.plot(x, panel.values, color=ink.colour, label=f"learner, {method}", zorder=2.5)
        if len(at):  # nothing is shown to the last f^t
            ax.vlines(at, panel.values_shown, panel.labels, color=OTHER, linewidth=0.9 if len(at) <= FEW else 0.5)
            ax.plot(
                at, panel.labels, "o", color="white", markeredgecolor=TARGET, markeredgewidth=1.1,
                markersize=5.0 if len(at) <= FEW else 3.2, zorder=3, label="shown", clip_on=False,
            )  # fmt: skip
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        _title(ax, panel)
    _finish(all_axes, len(table), columns)
    entries = {label: line for ax in all_axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        list(entries.values()), list(entries), loc="outside upper left", ncols=3, borderpad=0.2, handlelength=2.0
    )
    return figure


def _draw_maps(table: list[Panel], pool: Pool, figure: Figure | SubFigure | None) -> Figure | SubFigure:
    rows, columns = _layout(len(table) + 1)
    width, height = _map_size(pool)
    figure = figure or Figure(figsize=(width * columns + 0.9, (height + 0.3) * rows + 0.2), layout="constrained")
    all_axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    shades = [table[0].target, *(panel.values for panel in table)]
    finite = np.concatenate([part[np.isfinite(part)] for part in shades])
    limits = {"vmin": finite.min(), "vmax": finite.max()}  # one scale, so that the panels can be compared
    inks_drawn = [_draw_map(ax, pool, values, limits) for ax, values in zip(all_axes, shades, strict=False)]
    all_axes[0].set_title("target f*", loc="left", color=TARGET)
    for ax, panel in zip(all_axes[1:], table, strict=False):
        _title(ax, panel)
        _mark(ax, panel.shown[:, ::-1] if _is_picture(pool) else panel.shown)
    _finish(all_axes, len(table) + 1, columns)
    bar = figure.colorbar(inks_drawn[-1], ax=list(all_axes), shrink=0.85, aspect=25, pad=0.02)
    bar.outline.set_visible(False)
    return figure


def _draw_map(ax: Axes, pool: Pool, values: Array, limits: dict[str, Any]) -> ScalarMappable:
    ax.set_aspect("equal" if _is_picture(pool) else "auto")
    if not isinstance(pool, Grid):
        return ax.scatter(pool.points[:, 0], pool.points[:, 1], c=values, s=10, linewidths=0, **limits)
    first, second = pool.axes
    table = values.reshape(pool.shape)
    if _is_picture(pool):
        ink = ax.pcolormesh(second, first, table, shading="nearest", rasterized=True, **limits)
        ax.set(ylim=(pool.shape[0] - 0.5, -0.5), xticks=[], yticks=[])
        return ink
    return ax.pcolormesh(first, second, table.T, shading="nearest", rasterized=True, **limits)


def _mark(ax: Axes, shown: Array) -> None:
    """Mark examples so that they are visible on light and dark colours: a few by rings, many by dots."""
    x, y = shown.T
    if len(shown) <= FEW:
        for edge, thickness in (("white", 2.6), (TARGET, 1.2)):
            ax.scatter(x, y, s=42, facecolors="none", edgecolors=edge, linewidths=thickness, zorder=3)
    else:
        ax.scatter(x, y, s=5, color=TARGET, edgecolors="white", linewidths=0.4, zorder=3)


def _is_picture(pool: Pool) -> bool:
    """Say whether the pool is the grid of an image's pixels, whose first axis points down."""
    return isinstance(pool, Grid) and all(np.array_equal(axis, np.arange(len(axis))) for axis in pool.axes)


def _map_size(pool: Pool) -> tuple[float, float]:
    """Return the size of one panel in inches: a picture keeps its proportions."""
    if not _is_picture(pool):
        return 2.0, 1.8
    rows, columns = pool.shape
    return 1.9, float(np.clip(1.9 * rows / columns, 0.6, 4.0))


def _layout(count: int) -> tuple[int, int]:
    columns = count if count <= COLUMNS else -(-count // -(-count // COLUMNS))
    return -(-count // columns), columns


def _title(ax: Axes, panel: Panel) -> None:
    ax.set_title(f"t = {panel.step:,}", loc="left")
    ax.set_title(f"M = {panel.discrepancy:.3g}", loc="right", color=QUIET, fontsize=8)


def _finish(all_axes: NDArray[Any], used: int, columns: int) -> None:
    """Hide empty axes, and label the ticks of the lowest axes of each column."""
    for place, ax in enumerate(all_axes):
        if place >= used:
            ax.set_visible(False)
        elif place + columns >= used:
            ax.tick_params(labelbottom=True)

"""A lesson as panels: f^t and the examples shown, at some steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nimt.arrays import Array, is_whole
from nimt.display import FigureStyle, FigureWidth
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.figures import NotebookFigure, check_form, choose_style, finish_inks, new_figure
from nimt.plots.looks import ValuesToDraw, class_words, look_of
from nimt.plots.scenes import NODE, by_output, draw_edges, limits_of, name_axes, name_values, scene_of, within
from nimt.plots.style import OTHER, QUIET, TARGET, WIDTHS, class_colours, inks
from nimt.pools.pool import Grid, Pool

MOST_PANELS = 8  # drawn if no steps are given
COLUMNS = 4
PANEL = 1.65  # inches, of a panel in a figure for a paper
GAP = 0.06  # inches, the least between two words
WIDE_PANEL = 2.25  # of one with words along its axes
MOST_NAMED = 6  # outputs that the legend names; more would fill the figure
FEW = 8  # up to this many examples get a large mark each


@dataclass(frozen=True, eq=False)
class Panel:
    """The numbers of one panel: f^t and f* at n points, and the examples (0 to k) shown to f^t.

    Attributes
    ----------
    points : array (n, d)
        Points on a line are in ascending order, others in the order of the pool.
    values, target : arrays (n,), or (n, q) for q outputs
    shown, labels, values_shown : arrays (k, d), (k,) or (k, q), and another like it
        Where the examples lie, their labels, and f^t there.
    indices : array (k,) of int
        Of the examples, in the pool.
    """

    step: int
    discrepancy: float
    points: Array
    values: Array
    target: Array
    shown: Array
    labels: Array
    values_shown: Array
    indices: NDArray[np.int64]


def panel_table(lesson: Lesson, steps: Iterable[int] | None = None) -> list[Panel]:
    """Return the numbers that `panels` draws, one entry per step.

    Without `steps`: the start, every snapshot and the end, or eight of these, evenly spaced, if there are more.
    """
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
    lesson: Lesson,
    steps: Iterable[int] | None = None,
    figure: Figure | SubFigure | None = None,
    cmap: str | None = None,
    *,
    width: FigureWidth | None = None,
    style: FigureStyle = "light",
) -> Figure | SubFigure:
    """Draw f^t beside f* at some steps, and mark the examples shown at these steps.

    On a 1-D pool functions are lines, and a stem leads from f^t at an example to its label. On a 2-D grid they are
    pictures (that of `Grid.like(image)` upright, row first), on other 2-D points coloured dots. Rings mark examples.

    In more dimensions f^t is drawn against f*, as dots, or of many points as a density; classes as a table of which
    class the learner names. A lesson that diverged is drawn as far as twice the range of the target.

    With several outputs there is one line for each in 1-D. In 2-D a picture with three outputs is drawn in colour,
    one-hot targets as regions of classes, and of any other function the size of the error |f^t - f*|.

    Parameters
    ----------
    lesson : Lesson
    steps : list of int, optional
        Steps whose f^t was kept: 0, the snapshots, the last. All of them by default, eight at most.
    figure : matplotlib Figure or SubFigure, optional
        Where to draw; a new figure by default.
    cmap : str, optional
        A colour map of matplotlib for functions on a plane; grey for pictures and viridis for others by default.
    width : {"column", "page"}, optional
        Of a new figure, in a paper with two columns: 3.25 or 6.75 inches. As many panels stand in a row as fit.
    style : {"light", "dark"}
        Of a new figure: dark for slides.

    Returns
    -------
    Figure or SubFigure
        The figure given, or the new one: `figure.savefig("panels.png")`.
    """
    table = panel_table(lesson, steps)
    check_form(width, style, is_new=figure is None)
    with choose_style(lesson, cmap, style):
        if lesson.pool.view == "agreement" or not all(np.isfinite(panel.values).all() for panel in table):
            draw = _draw_scenes
        else:
            draw = _draw_lines if lesson.pool.view == "curve" else _draw_maps
        drawn = draw(table, lesson, figure, width)
        if width is not None and isinstance(drawn, Figure):
            _part_titles(drawn)
        return finish_inks(drawn, style) if isinstance(drawn, NotebookFigure) else drawn


def _panel(lesson: Lesson, step: int, values: Array) -> Panel:
    points = lesson.pool.positions
    indices, labels = np.empty(0, np.int64), np.empty((0, *lesson.target.shape[1:]))
    if lesson.indices is not None and lesson.labels is not None and step < len(lesson):
        indices, labels = lesson.pack(step)
    shown = points[indices]
    if lesson.shown_points is not None and step < len(lesson):
        shown = lesson.shown_points[step]  # in a box: its grid holds only the points nearest to these
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
        indices=indices,
    )


def _spread(steps: list[int]) -> list[int]:
    if len(steps) <= MOST_PANELS:
        return steps
    return [steps[i] for i in np.linspace(0, len(steps) - 1, MOST_PANELS).round().astype(int)]


def _draw_lines(
    table: list[Panel], lesson: Lesson, figure: Figure | SubFigure | None, form: FigureWidth | None
) -> Figure | SubFigure:
    rows, columns = _layout(len(table), form)
    figure = figure or new_figure(WIDTHS[form] if form else 2.0 * columns + 0.5, 1.75 * rows + 0.55)
    all_axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    pairs = _line_inks(lesson)
    for ax, panel in zip(all_axes, table, strict=False):
        x = panel.points[:, 0]
        target, values = by_output(panel.target), by_output(panel.values)
        for output, (ink, of_target, name) in enumerate(pairs):
            dashed = "target f*" if output == 0 else None
            ax.plot(x, target[:, output], color=of_target, linewidth=1.1, linestyle=(0, (4, 1.6)), label=dashed)
            ax.plot(x, values[:, output], color=ink, label=name, zorder=2.5)
            at, labels, reached = _find_shown(panel, output, lesson.per_output)
            if not len(at):  # nothing is shown to the last f^t
                continue
            thickness, size = (0.9, 5.0) if len(at) <= FEW else (0.5, 3.2)
            ax.vlines(at, reached, labels, color=OTHER, linewidth=thickness)
            ax.plot(
                at, labels, "o", color="white", markeredgecolor=TARGET, markeredgewidth=1.1,
                markersize=size, zorder=3, label="shown" if output == 0 else None, clip_on=False,
            )  # fmt: skip
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        _title(ax, panel, lesson)
    _finish(all_axes, len(table), columns, lesson)
    entries = {label: line for ax in all_axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    most = min(len(entries), max(3, 1 + columns))
    _name(figure, list(entries.values()), most, handlelength=2.0)
    return figure


def _draw_scenes(
    table: list[Panel], lesson: Lesson, figure: Figure | SubFigure | None, form: FigureWidth | None
) -> Figure | SubFigure:
    """Draw what an animation draws: for many dimensions, and for values that are not finite."""
    rows, columns = _layout(len(table), form, WIDE_PANEL)
    figure = figure or new_figure(WIDTHS[form] if form else 2.45 * columns, 2.75 * rows + 0.35)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    limits, colour = limits_of(lesson), inks([lesson.colour])[0].colour
    for place, (ax, panel) in enumerate(zip(all_axes, table, strict=False)):
        scene_of(ax, lesson, limits, colour).show(within(panel.values, limits), panel.indices)
        _title(ax, panel, lesson)
        if place % columns:
            ax.set_ylabel("")  # the same at all panels of a row
            ax.tick_params(labelleft=False)
    for ax in all_axes[len(table) :]:
        ax.set_visible(False)
    return figure


def _find_shown(panel: Panel, output: int, per_output: bool) -> tuple[Array, Array, Array]:
    """Return where examples of an output were shown, their labels, and f there; its own if each output has some."""
    at, reached = panel.shown[:, 0], by_output(panel.values_shown)[:, output]
    if not per_output:
        return at, by_output(panel.labels)[:, output], reached
    each = len(at) // by_output(panel.target).shape[1]
    own = slice(output * each, (output + 1) * each)
    return at[own], panel.labels[own], reached[own]


def _line_inks(lesson: Lesson) -> list[tuple[str, str, str | None]]:
    """Return the colours of learner and target, and the name in the legend, for each output."""
    outputs = by_output(lesson.target).shape[1]
    if outputs == 1:
        return [(inks([lesson.colour])[0].colour, TARGET, f"learner, {lesson.method}")]
    named = outputs <= MOST_NAMED
    return [
        (colour, colour, f"output {output + 1}" if named else None)
        for output, colour in enumerate(class_colours(outputs))
    ]


def _draw_maps(
    table: list[Panel], lesson: Lesson, figure: Figure | SubFigure | None, form: FigureWidth | None
) -> Figure | SubFigure:
    pool, look = lesson.pool, look_of(lesson)
    beside = [table[0].target] if look.shows_target else []
    shades = [look.shades(values) for values in (*beside, *(panel.values for panel in table))]
    rows, columns = _layout(len(shades), form)
    width, height = _map_size(pool)
    figure = figure or new_figure(WIDTHS[form] if form else width * columns + 0.9, (height + 0.3) * rows + 0.2)
    all_axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    finite = np.concatenate([part[np.isfinite(part)] for part in shades])
    limits = {"vmin": finite.min(), "vmax": finite.max()}  # one scale, so that the panels can be compared
    inks_drawn = [_draw_map(ax, pool, values, limits) for ax, values in zip(all_axes, shades, strict=False)]
    if beside:
        all_axes[0].set_title("target f*", loc="left", color=TARGET)
    for ax, panel in zip(all_axes[len(beside) :], table, strict=False):
        _title(ax, panel, lesson)
        _mark(ax, panel.shown[:, ::-1] if pool.view == "picture" else panel.shown)
    _finish(all_axes, len(shades), columns, lesson)
    if look.bar is not None:
        title = look.bar or name_values(lesson)
        bar = figure.colorbar(inks_drawn[-1], ax=list(all_axes), shrink=0.85, aspect=25, pad=0.02, label=title)
        bar.outline.set_visible(False)
    words = class_words(lesson)
    if words is not None and len(words) <= MOST_NAMED and not isinstance(look, ValuesToDraw):
        handles = [
            Line2D([], [], marker="o", linestyle="", color=colour, markersize=4.5, label=word)
            for word, colour in zip(words, class_colours(len(words)), strict=True)
        ]
        _name(figure, handles, len(words), handletextpad=0.1)
    return figure


def _draw_map(ax: Axes, pool: Pool, shades: Array, limits: dict[str, Any]) -> ScalarMappable:
    ax.set_aspect("equal" if pool.view == "picture" else "auto")
    if not isinstance(pool, Grid):
        scale = limits if shades.ndim == 1 else {}  # red, green and blue need none
        draw_edges(ax, pool)
        size = NODE if pool.view == "graph" else 10
        across, up = pool.positions.T
        return ax.scatter(across, up, c=shades, s=size, linewidths=0, zorder=2, **scale)
    first, second = pool.axes
    table = shades.reshape(*pool.shape, *shades.shape[1:])
    if pool.view == "picture":
        ink = ax.pcolormesh(second, first, table, shading="nearest", rasterized=True, **limits)
        ax.set(ylim=(pool.shape[0] - 0.5, -0.5), xticks=[], yticks=[])
        return ink
    return ax.pcolormesh(first, second, np.swapaxes(table, 0, 1), shading="nearest", rasterized=True, **limits)


def _mark(ax: Axes, shown: Array) -> None:
    """Mark examples so that they are visible on light and dark colours: a few by rings, many by dots."""
    x, y = shown.T
    if len(shown) <= FEW:
        for edge, thickness in (("white", 2.6), (TARGET, 1.2)):
            ax.scatter(x, y, s=42, facecolors="none", edgecolors=edge, linewidths=thickness, zorder=3)
    else:
        ax.scatter(x, y, s=5, color=TARGET, edgecolors="white", linewidths=0.4, zorder=3)


def _map_size(pool: Pool) -> tuple[float, float]:
    """Return the size of one panel in inches: a picture keeps its proportions."""
    if pool.view != "picture":
        return 2.0, 1.8
    rows, columns = pool.shape
    return 1.9, float(np.clip(1.9 * rows / columns, 0.6, 4.0))


def _layout(count: int, form: FigureWidth | None, panel: float = PANEL) -> tuple[int, int]:
    most = COLUMNS if form is None else round(WIDTHS[form] / panel)
    columns = count if count <= most else -(-count // -(-count // most))
    return -(-count // columns), columns


def _name(figure: Figure | SubFigure, handles: Sequence[Artist], most: int, **form: float) -> None:
    """Name what is drawn above the panels, in as many columns as there is room for."""
    for columns in range(most, 0, -1):
        legend = figure.legend(handles=handles, loc="outside upper left", ncols=columns, borderpad=0.2, **form)
        if columns == 1 or legend.get_window_extent().width <= 0.96 * figure.bbox.width:  # the rest is its margin
            return
        legend.remove()


def _part_titles(figure: Figure) -> None:
    """Put the discrepancy below the step where the two would touch, in all panels alike."""
    figure.draw_without_rendering()  # the room of a panel is known when it is laid out
    titles = [[word for word in ax.get_children() if isinstance(word, Text) and word.get_text()] for ax in figure.axes]
    pairs = [words for words in titles if len(words) == 2]
    if any(right.get_window_extent().x0 - left.get_window_extent().x1 < GAP * figure.dpi for left, right in pairs):
        for left, right in pairs:
            left.set_text(f"{left.get_text()}\n")
            right.set(x=0.0, horizontalalignment="left")


def _title(ax: Axes, panel: Panel, lesson: Lesson) -> None:
    ax.set_title(f"t = {panel.step:,}", loc="left")
    ax.set_title(
        f"{lesson.measure.letter} = {lesson.measure.text(panel.discrepancy, digits=3)}",
        loc="right",
        color=QUIET,
        fontsize=8,
    )


def _finish(all_axes: NDArray[Any], used: int, columns: int, lesson: Lesson) -> None:
    """Hide empty axes, label the ticks of the lowest axes of each column, and name the axes that have names."""
    across, up = name_axes(lesson)
    for ax in all_axes[:used:columns]:
        ax.set_ylabel(up)
    for place, ax in enumerate(all_axes):
        if place >= used:
            ax.set_visible(False)
        elif place + columns >= used:
            ax.tick_params(labelbottom=True)
            ax.set_xlabel(across)

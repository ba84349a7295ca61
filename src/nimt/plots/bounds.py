"""Figures of the bounds of the theory beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.style import QUIET, STYLE, TARGET
from nimt.theory.convergence import READINGS, bounds_of
from nimt.theory.discrepancy_bounds import discrepancies_of, ratio_of
from nimt.theory.replaying import replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Table = dict[str, NDArray[Any]]

ROWS = 400  # of a table: more could not be seen in a figure
COLOURS = {"GFT": "#D55E00", "RFT": "#0072B2"}  # those of the teachers
STYLES = {"maximum": "--", "mean": ":", "sum": "-."}


def bounds_table(lesson: Lesson, *, distance: float | None = None, rows: int = ROWS) -> Table:
    """Return the columns that `draw_bounds` draws, at steps that are evenly spaced on a logarithmic axis.

    Parameters
    ----------
    lesson : Lesson
    distance : float, optional
        |f0 - f*|_H where you know it, as in `bounds`.
    rows : int
        The most rows; the first and the last step are always among them.

    Returns
    -------
    dict of columns
        Those of `Bounds.to_table`, and `ratio`, the greedy ratio averaged from the row before to this one.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [3.0, 4.0], max_iterations=100, tol=None)
    >>> table = bounds_table(lesson, rows=5)
    >>> table["step"]
    array([  1,   3,  10,  32, 100])
    """
    if len(lesson) == 0:
        raise InvalidInput("this lesson has no steps, so there is nothing to draw")
    again = replay(lesson)
    measured = discrepancies_of(again)
    columns = bounds_of(again, measured, distance=distance).to_table()
    steps = np.unique(np.geomspace(1, len(lesson), rows).round().astype(int))
    table = {name: column[steps - 1] for name, column in columns.items()}
    edges = np.concatenate([[0], steps])
    sums = np.concatenate([[0.0], np.cumsum(ratio_of(measured))])
    table["ratio"] = np.diff(sums[edges]) / np.diff(edges)
    return table


def draw_bounds(problems: Mapping[str, Mapping[str, Table]]) -> Figure:
    """Draw measured S and its bounds, and below them the greedy ratio and psi: one column of panels per problem.

    Parameters
    ----------
    problems : mapping of title -> mapping of teacher -> table
        The teacher is "RFT" or "GFT", the table one of `bounds_table`.
    """
    if not problems or not all(problems.values()):
        raise InvalidInput("draw_bounds needs at least one problem with at least one lesson")
    import matplotlib

    from nimt.plots.figures import new_figure

    with matplotlib.rc_context(STYLE):
        figure = new_figure(4.6 * len(problems), 8.0)
        grid = figure.subplots(3, len(problems), squeeze=False, sharex="col", height_ratios=(2.6, 1.0, 1.0))
        for (top, middle, bottom), (title, tables) in zip(grid.T, problems.items(), strict=True):
            top.set_title(title, loc="left")
            _draw_discrepancy(top, tables)
            _draw_ratio(middle, bottom, tables)
        for panel, name in zip(grid[:, 0], ("discrepancy S", "greedy ratio", "psi"), strict=True):
            panel.set_ylabel(name)
        handles, names = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2 * len(problems), frameon=False, fontsize=8)
    return figure


def _draw_discrepancy(panel: Axes, tables: Mapping[str, Table]) -> None:
    """Draw measured values thick, the bounds of the theorems thin, and the bound by distance black."""
    for teacher, table in tables.items():
        colour = COLOURS[teacher]
        step = table["step"]
        panel.plot(step, table["smallest_largest"], color=colour, linewidth=2.2, label=f"{teacher}: largest S")
        kind = "greedy" if teacher == "GFT" else "random"
        if kind == "random":  # for GFT the two lines coincide
            panel.plot(step, table["smallest_shown"], color=colour, linewidth=1.0, label=f"{teacher}: least S shown")
        for reading in READINGS:
            if f"{kind}_{reading}" in table:
                panel.plot(
                    step, table[f"{kind}_{reading}"], color=colour, linewidth=0.9, linestyle=STYLES[reading],
                    label=f"{teacher} bound, L(f0) a {reading}",
                )  # fmt: skip
    proved = next((table for table in tables.values() if "by_distance" in table), None)
    if proved is not None:
        panel.plot(proved["step"], proved["by_distance"], color=TARGET, linewidth=1.1, label="bound by distance in H")
    panel.set_xscale("log")
    panel.set_yscale("log")
    # a random example where the learner is right has S near 0, which would stretch the axis
    floor = min(float(table["smallest_largest"].min()) for table in tables.values())
    ceiling = max(float(column.max()) for line in panel.get_lines() if (column := np.asarray(line.get_ydata())).size)
    if 0 < floor < ceiling < np.inf:
        panel.set_ylim(floor / 3, ceiling * 3)


def _draw_ratio(ratio: Axes, sums: Axes, tables: Mapping[str, Table]) -> None:
    for teacher, table in tables.items():
        colour = COLOURS[teacher]
        ratio.plot(table["step"], table["ratio"], color=colour)
        sums.plot(table["step"], table["psi"], color=colour)
    longest = max((table["step"] for table in tables.values()), key=lambda step: int(step[-1]))
    ratio.axhline(1.0, color=QUIET, linewidth=0.8, linestyle=":")
    ratio.set_ylim(0.0, 1.08)
    sums.plot(longest, longest, color=QUIET, linewidth=0.8, linestyle=":")
    middle = longest[len(longest) // 2]
    sums.annotate(
        "t", (middle, middle), (-6, 3), textcoords="offset points", ha="right", va="bottom", fontsize=8, color=QUIET
    )
    sums.set_yscale("log")
    sums.set_xlabel("step t")

"""A forecast as a picture, with the lesson's own curve over it: first the table, then the ink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.measures import as_measure
from nimt.plots.curves import Curve, curve_table
from nimt.plots.figures import draw_on
from nimt.plots.style import OTHER, QUIET, TARGET
from nimt.theory.forecasting import Forecast


@dataclass(frozen=True, eq=False)
class ForecastTable:
    """What `forecast` draws: the forecast curve, its tolerance, step, interval and proved bounds, and the lesson."""

    step: NDArray[np.int64]
    discrepancy: Array
    tolerance: float
    itd: int | None
    interval: tuple[int, int | None]
    bounds: tuple[int, int | None]
    axis: str
    lesson: Curve | None


def forecast_table(found: Forecast, lesson: Lesson | None = None) -> ForecastTable:
    """Return the numbers that `forecast` draws."""
    measure = as_measure(found.measure)
    if lesson is not None and lesson.measure.name != measure.name:
        raise InvalidInput(
            f"the forecast measures {measure.name!r} and the lesson {lesson.measure.name!r}: compare like with like"
        )
    measured = None if lesson is None else curve_table(lesson)
    curve = found.curve
    return ForecastTable(
        curve.step,
        curve.discrepancy,
        found.tol,
        found.itd,
        found.interval,
        found.bounds,
        measure.axis or measure.name,
        measured,
    )


@overload
def forecast(found: Forecast, lesson: Lesson | None = None, ax: None = None) -> Figure: ...
@overload
def forecast(found: Forecast, lesson: Lesson | None = None, *, ax: Axes) -> Axes: ...
def forecast(found: Forecast, lesson: Lesson | None = None, ax: Axes | None = None) -> Figure | Axes:
    """Draw a forecast: M over t, the interval of the step it names, the proved bounds; and the lesson if there is one.

    Parameters
    ----------
    found : Forecast
    lesson : Lesson, optional
        The same lesson as it was taught.
    ax : matplotlib Axes, optional

    Returns
    -------
    Figure, or the Axes given

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.01)
    >>> found = nimt.forecast(learner, nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0], tol=1e-2)
    >>> nimt.plots.forecast(found).axes[0].get_xlabel()
    'step'
    """
    table = forecast_table(found, lesson)
    return draw_on(lambda ax: _draw(table, ax), ax, 5.8, 3.4)


def _draw(table: ForecastTable, ax: Axes) -> None:
    seen = table.step > 0
    if table.lesson is not None:
        name = (
            table.lesson.method
            if table.lesson.itd is None
            else f"{table.lesson.method}: {say_count(table.lesson.itd, 'step')}"
        )
        ax.plot(table.lesson.step[1:], table.lesson.discrepancy[1:], color=table.lesson.colour or OTHER, label=name)
    name = "forecast" if table.itd is None else f"forecast: {say_count(table.itd, 'step')}"
    ax.plot(table.step[seen], table.discrepancy[seen], color=TARGET, linewidth=1.2, linestyle=(0, (4, 2)), label=name)
    low, high = table.interval
    if table.itd is not None and high is not None and high > low:
        ax.axvspan(max(low, 1), high, color=QUIET, alpha=0.25, linewidth=0, label=f"{low:,} to {high:,}")
    _draw_bounds(ax, table)
    ax.axhline(table.tolerance, color=QUIET, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    ax.annotate(
        f"tolerance\n{table.tolerance:g}", (1, table.tolerance), xycoords=("axes fraction", "data"), xytext=(4, 0),
        textcoords="offset points", ha="left", va="center", color=QUIET, fontsize=7.5,
    )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_xlabel("step")
    ax.set_ylabel(table.axis)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, borderaxespad=0.3, borderpad=0.2, handlelength=2.2,
        columnspacing=1.4,
    )  # fmt: skip


def _draw_bounds(ax: Axes, table: ForecastTable) -> None:
    if table.bounds[0] == table.bounds[1]:
        return  # an exact forecast needs none
    for bound, says in zip(table.bounds, ("no lesson is shorter", "no greedy one is longer"), strict=True):
        if bound:
            ax.axvline(bound, color=QUIET, linewidth=0.9)
            ax.annotate(
                f"{bound:,}: {says}", (bound, 0.1), (-3, 0), xycoords=("data", "axes fraction"),
                textcoords="offset points", rotation=90, ha="right", va="bottom", fontsize=7, color=QUIET,
            )  # fmt: skip

"""What the figures share: a canvas, curves of the discrepancy, panels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.lesson.lesson import Lesson
from nimt.plots.figures import new_figure
from nimt.plots.style import GREEDY, OTHER, STYLE, TARGET, inks
from nimt.pools.pool import Grid, Pool

F = TypeVar("F")  # what an experiment found
D = TypeVar("D")  # a figure with its caption

CURVE_POINTS = 400
DASHES = (0, (4, 1.6))
WIDE = {"GFT-0.05": 3.2, "whole": 3.2}  # drawn below the curves that nearly cover it
DISCREPANCY = "discrepancy M(f$^t$, f*)"
LEARNER = GREEDY


@dataclass(frozen=True, eq=False)
class LossCurve:
    """A curve of the discrepancy, with as many points as a page can show."""

    name: str
    steps: NDArray[np.intp]
    values: Array
    colour: str | None = None


def apply_style(draw: Callable[[F], Iterable[D]]) -> Callable[[F], Iterator[D]]:
    """Run a drawing function with the style of nimt, and leave matplotlib's settings as they were."""

    def within(found: F) -> Iterator[D]:
        with mpl.rc_context(STYLE):
            drawn = list(draw(found))
        return iter(drawn)

    within.__doc__ = draw.__doc__
    return within


def canvas(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, with constrained layout."""
    figure = new_figure(width, height)
    FigureCanvasAgg(figure)
    return figure


def curves_of(lessons: Mapping[str, Lesson]) -> list[LossCurve]:
    """Return the curves of lessons by name: dense at first, then evenly spaced; the last step is kept."""
    curves = []
    for name, lesson in lessons.items():
        last = len(lesson)
        spread = np.concatenate([np.linspace(0, last, CURVE_POINTS), np.geomspace(1, last + 1, CURVE_POINTS) - 1])
        steps = np.unique(spread.round().astype(np.intp))
        curves.append(LossCurve(name, steps, lesson.discrepancy[steps], lesson.colour))
    return curves


def draw_curves(ax: Axes, curves: Sequence[LossCurve], *, scale: float = 1.0, **options: Any) -> None:
    """Draw the curves, one colour per method; curves of the same colour differ in their line style."""
    drawn = inks((curve.colour for curve in curves), (curve.name for curve in curves))
    for curve, ink in zip(curves, drawn, strict=True):
        ax.plot(
            curve.steps, scale * curve.values, color=ink.colour, linestyle=ink.dashes, label=curve.name,
            linewidth=WIDE.get(curve.name, 1.5), zorder=2.0 if curve.name in WIDE else 2.5, **options,
        )  # fmt: skip


def draw_line_panel(ax: Axes, x: Array, target: Array, values: Array, shown: int | None, title: str) -> None:
    """Draw f*, f^t, and a stem at the example shown."""
    ax.plot(x, target, color=TARGET, linewidth=1.1, linestyle=DASHES, label="target f*")
    ax.plot(x, values, color=LEARNER, label="learner f$^t$")
    if shown is not None:
        ax.vlines(x[shown], values[shown], target[shown], color=OTHER, linewidth=0.9)
        draw_example(ax, x[shown], target[shown])
    ax.set_title(title, loc="left")


def draw_example(ax: Axes, x: float, y: float, *, size: float = 5) -> None:
    """Draw the example shown as a ring, above everything else."""
    ax.plot(
        x, y, "o", color="white", markeredgecolor=TARGET, markersize=size, zorder=4,
        label="example shown", clip_on=False,
    )  # fmt: skip


def legend_above(figure: Figure | SubFigure, ax: Axes, columns: int) -> None:
    """Draw the legend of one panel above all panels."""
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=columns)


def find_shown_at(lesson: Lesson, step: int) -> int | None:
    """Return the pool index of the example shown at a step, None after the last."""
    if lesson.indices is None or step >= len(lesson):
        return None
    return int(lesson.indices[step, 0])


def step_title(step: int) -> str:
    return f"t = {step:,}"


def bare(ax: Axes) -> None:
    """Remove the ticks and keep a thin frame, for pictures."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.4)


def as_image(pool: Pool, values: Array) -> Array:
    """Return values on a grid in the grid's shape."""
    assert isinstance(pool, Grid)
    return values.reshape(pool.shape)


def thousands(ax: Axes) -> None:
    """Label the steps as 10k, 20k."""
    ax.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")

"""What the digit, cheetah and face experiments share: pictures as functions, and their figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from nimt.arrays import Array
from nimt.datasets import Picture
from nimt.kernels import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import PaperSetting, frames
from nimt.paper.figure_style import (
    LossCurve,
    as_image,
    bare,
    canvas,
    curves_of,
    draw_curves,
    legend_above,
    step_title,
    thousands,
)
from nimt.paper.methods import GREEDY, WHOLE, teacher_of
from nimt.plots.style import QUIET
from nimt.pools.pool import Grid

STEPS = 60_000
CHECKPOINTS = (0, 1000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000)
BAND = "#F0E442"  # the paper's yellow region, in Okabe and Ito's yellow
LEVELS = 14
CLIPPED = (0.005, 0.995)  # the quantiles that the colour scale spans


@dataclass(frozen=True, eq=False)
class PictureLessons:
    """Lessons by method, all with one target, and the pictures they were made from."""

    lessons: dict[str, Lesson]
    pictures: tuple[Picture, ...]


def teach_picture(
    setting: PaperSetting,
    method: str,
    target: Array,
    initial: ArrayLike,
    *,
    draw_at: Sequence[int],
    learning_rate: float = 0.01,
    width: float = 0.5,
    other_target: Array | None = None,
) -> Lesson:
    """Teach a picture by one method in 60,000 steps."""
    learner = KernelLearner(rbf(width), learning_rate=learning_rate, initial=initial)
    teacher = teacher_of(method, other_target)
    return setting.teach(method, learner, teacher, Grid.like(target), target, steps=STEPS, draw_at=draw_at)


def rows_of(lessons: Mapping[str, Lesson], methods: Sequence[str]) -> dict[str, dict[int, Array]]:
    """Return the table of a figure of pictures: f^t in the grid's shape, by method and step."""
    return {
        method: {step: as_image(lessons[method].pool, values) for step, values in frames(lessons[method]).items()}
        for method in methods
    }


def picture_rows(
    rows: Mapping[str, Mapping[int, Array]], target: Array, draw_one: Callable[[Axes, Array], None], *, side: float
) -> Figure:
    """Draw one row of panels per method, the target at its end; `draw_one(ax, picture)` draws a panel."""
    columns = max(len(row) for row in rows.values()) + 1
    figure = canvas(side * columns + 0.3, side * len(rows) + 0.3)
    axes = figure.subplots(len(rows), columns, squeeze=False, subplot_kw={"xticks": [], "yticks": []})
    for number, (line, (method, row)) in enumerate(zip(axes, rows.items(), strict=True)):
        titles = [*(step_title(step) for step in row), "target f*"]
        for ax, picture, title in zip(line, (*row.values(), target), titles, strict=False):
            draw_one(ax, picture)
            if number == 0:
                ax.set_title(title)
        line[0].text(-0.06, 0.5, method, transform=line[0].transAxes, rotation=90, ha="right", va="center", fontsize=9)
    return figure


def draw_image(ax: Axes, picture: Array, limits: tuple[float, float], colours: str = "gray_r") -> None:
    ax.imshow(picture, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="nearest")
    bare(ax)


def draw_contours(ax: Axes, picture: Array, limits: tuple[float, float], colours: str = "cividis_r") -> None:
    """Draw filled level lines between the limits, row 0 at the top."""
    ax.contourf(picture, levels=np.linspace(*limits, LEVELS), cmap=colours, extend="both").set_rasterized(True)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    bare(ax)


def loss_figure(
    lessons: Mapping[str, Lesson], *, bottom: float, enlarged: float, place: tuple[float, float, float, float]
) -> Figure:
    """Draw M x 100 by method, the region of GFT-k in yellow; an inset at `place` enlarges the beginning."""
    curves = curves_of(lessons)
    figure = canvas(6.4, 4.0)
    ax = figure.subplots()
    _draw_losses(ax, curves)
    last = max(int(curve.steps[-1]) for curve in curves)
    ax.set_xlim(0, last)
    ax.set_ylim(bottom=bottom)
    ax.set_xlabel("step t")
    ax.set_ylabel("discrepancy M(f$^t$, f*) × 100")
    thousands(ax)
    inset = ax.inset_axes(place)
    _draw_losses(inset, curves)
    seen = np.concatenate([curve.values[curve.steps <= enlarged * last] for curve in curves])
    inset.set_xlim(0, enlarged * last)
    inset.set_ylim(98 * seen.min(), 102 * seen.max())
    ax.set_ylim(top=max(ax.get_ylim()[1], inset.get_ylim()[1]))  # the frame of what is enlarged lies within the axes
    inset.xaxis.set_major_locator(MaxNLocator(3))
    inset.yaxis.set_major_locator(MaxNLocator(4))
    inset.tick_params(labelsize=6.5)
    thousands(inset)
    for spine in inset.spines.values():
        spine.set_visible(True)
        spine.set_color(QUIET)
    # without lines from corner to corner, which would cross the curves
    (left, right), (low, high) = inset.get_xlim(), inset.get_ylim()
    ax.add_patch(Rectangle((left, low), right - left, high - low, fill=False, edgecolor=QUIET, linewidth=0.8))
    legend_above(figure, ax, 4)
    return figure


def _draw_losses(ax: Axes, curves: Sequence[LossCurve]) -> None:
    by_name = {curve.name: curve for curve in curves}
    first, last = by_name[GREEDY], by_name[WHOLE]
    upper = np.interp(first.steps, last.steps, last.values)
    ax.fill_between(
        first.steps, 100 * first.values, 100 * upper, color=BAND, alpha=0.35, linewidth=0, label="GFT-k, k in (0, 1)"
    )
    draw_curves(ax, curves, scale=100.0)

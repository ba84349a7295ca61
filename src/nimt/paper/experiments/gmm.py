"""A posterior density taught in one dimension: the paper's Gaussian mixture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from matplotlib.axes import Axes

from nimt.datasets import Picture
from nimt.datasets.formulas import mixture, mixture_pool, mixture_start
from nimt.kernels import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import (
    DISCREPANCY,
    LossCurve,
    apply_style,
    canvas,
    curves_of,
    draw_curves,
    draw_line_panel,
    find_shown_at,
    legend_above,
    step_title,
    thousands,
)
from nimt.paper.methods import GREEDY, WHOLE, teacher_of
from nimt.plots.style import QUIET

TOLERANCE = 1e-4
STEPS = 10_000
DRAWN = (0, 150, 450, 1000)
METHODS = (GREEDY, "GFT-0.05", "GFT-0.5", "RFT-1", "RFT-0.05", WHOLE)
PUBLISHED_ITD = 3056
PUBLISHED = {
    0: 0.00750093897,
    150: 0.00465033857,
    450: 0.00264329386,
    1000: 0.00117632736,
    2000: 0.000329791993,
    3000: 0.000106231344,
}
PUBLISHED_EXAMPLES = {0: -10.0, 150: 2.0, 450: -2.7, 1000: -0.9}


def learner(width: float = 0.5) -> KernelLearner:
    """Return the learner of the mixture."""
    return KernelLearner(rbf(width), learning_rate=0.01, initial=mixture_start)


def run(setting: PaperSetting, pictures: tuple[Picture, ...] = ()) -> dict[str, Lesson]:
    """Teach the mixture by every method."""
    return {
        method: setting.teach(
            method, learner(), teacher_of(method), mixture_pool(), mixture,
            steps=STEPS, tol=TOLERANCE, draw_at=DRAWN if method == GREEDY else (),
            record="all" if method == GREEDY else "picks",
        )
        for method in METHODS
    }  # fmt: skip


def lessons(found: dict[str, Lesson]) -> list[PaperLesson]:
    """Return the table of the lessons."""
    known: dict[str, dict[str, Any]] = {GREEDY: {"published": PUBLISHED, "published_itd": PUBLISHED_ITD}}
    return [
        PaperLesson(name=name, lesson=lesson, checkpoints=(*PUBLISHED, STEPS), **known.get(name, {}))
        for name, lesson in found.items()
    ]


def quantities(found: dict[str, Lesson]) -> list[Quantity]:
    """Return where the examples of GFT-1 lay at the published steps."""
    lesson = found[GREEDY]
    x = lesson.pool.points[:, 0]
    return [
        Quantity(f"x of the example shown at t = {step:,}", round(float(x[index]), 6), published)
        for step, published in PUBLISHED_EXAMPLES.items()
        if (index := find_shown_at(lesson, step)) is not None
    ]


@apply_style
def draw(found: dict[str, Lesson]) -> Iterator[PaperFigure]:
    """Draw the panels of GFT-1 and the curves of all methods beside them."""
    lesson = found[GREEDY]
    figure = canvas(9.6, 3.9)
    left, right = figure.subfigures(1, 2, width_ratios=[1.45, 1], squeeze=False)[0]
    panels = left.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, step in zip(panels, lesson.snapshots, strict=False):
        values = lesson.snapshots[step]
        draw_line_panel(
            ax, lesson.pool.points[:, 0], lesson.target, values, find_shown_at(lesson, step), step_title(step)
        )
    for ax in panels[2:]:
        ax.set_xlabel("x")
    legend_above(left, panels[0], 3)
    ax = right.subplots()
    draw_losses(ax, curves_of(found), lesson.itd)
    legend_above(right, ax, 3)
    yield PaperFigure(
        "gmm",
        figure,
        "A Gaussian mixture taught to a learner that starts at N(-10, 1). Left: GFT-1; the stem leads from the "
        "learner's value at the example shown to its label. Right: the discrepancy by method; the dotted line is "
        "the tolerance, the dot is where GFT-1 meets it.",
    )


def draw_losses(ax: Axes, curves: list[LossCurve], itd: int | None) -> None:
    draw_curves(ax, curves)
    ax.axhline(TOLERANCE, color=QUIET, linewidth=0.8, linestyle=":")
    if itd is not None:
        ax.plot(itd, curves[0].values[-1], "o", color=ax.lines[0].get_color(), markersize=4, clip_on=False)
        ax.annotate(f"ITD {itd:,}", (itd, TOLERANCE), xytext=(5, -4), textcoords="offset points", va="top", fontsize=8)
    ax.set_yscale("log")
    ax.set_ylim(bottom=6e-5)
    ax.set_xlabel("step t")
    ax.set_ylabel(DISCREPANCY)
    thousands(ax)


def notes(found: dict[str, Lesson]) -> list[str]:
    """Say what differs from the paper, and why."""
    return [
        "The text states the kernel exp(-|(x - x')/2|^2); every published curve was made with width 0.5, "
        "exp(-(|x - x'|/0.5)^2), and so is this one. The experiment kernel-width shows both.",
        "The paper shows GFT-1 only; the curves of the other methods are ours, with the same learner and tolerance.",
        "M divides by n outside the root, so the tolerance 1e-4 means a root mean square of 1.7e-3 on 280 points.",
    ]


EXPERIMENT = Experiment(
    name="gmm",
    title="A Gaussian mixture",
    paper="Figure 2 (a)",
    about="The target is the density 1/3 N(-2, 1) + 2/3 N(2, 1) on 280 points from -14 to 14; the learner begins with "
    "N(-10, 1), which hardly overlaps it. Square loss, learning rate 0.01, RBF kernel of width 0.5; the lesson "
    "ends when M falls below 1e-4.",
    run=run,
    lessons=lessons,
    quantities=quantities,
    draw=draw,
    notes=notes,
    cost=2.0,
)

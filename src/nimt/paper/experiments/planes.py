"""A plane taught nonparametrically, from a bowl below and a bowl above it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from nimt.datasets import Picture
from nimt.datasets.formulas import bowl, plane, plane_pool
from nimt.kernels import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, frames
from nimt.paper.figure_style import LEARNER, apply_style, as_image, canvas
from nimt.paper.methods import GREEDY, teacher_of
from nimt.paper.surfaces import Room, Surface
from nimt.plots.style import OTHER

TOLERANCE = 1e-4
STEPS = 60_000
DRAWN = (0, 1000, 3000, 10_000)
BOWLS = {"from the downward bowl": -1.0, "from the upward bowl": 1.0}
PUBLISHED = {"from the downward bowl": {10_000: 0.167554134}, "from the upward bowl": {10_000: 0.118039394}}
PUBLISHED_ITD = {"from the downward bowl": 44_443, "from the upward bowl": 42_219}


def run(setting: PaperSetting, pictures: tuple[Picture, ...] = ()) -> dict[str, Lesson]:
    """Teach the plane from both bowls."""
    teach = partial(setting.teach, steps=STEPS, tol=TOLERANCE, draw_at=DRAWN)
    return {
        name: teach(
            name,
            KernelLearner(rbf(0.5), learning_rate=0.01, initial=bowl(sign)),
            teacher_of(GREEDY),
            plane_pool(),
            plane,
        )
        for name, sign in BOWLS.items()
    }


def lessons(found: dict[str, Lesson]) -> list[PaperLesson]:
    """Return the table of the lessons."""
    return [
        PaperLesson(
            name=name, lesson=lesson, checkpoints=DRAWN, published=PUBLISHED[name], published_itd=PUBLISHED_ITD[name]
        )
        for name, lesson in found.items()
    ]


@apply_style
def draw(found: dict[str, Lesson]) -> Iterator[PaperFigure]:
    """Draw one row of surfaces per bowl, with the plane in each panel."""
    columns = max(len(frames(lesson)) for lesson in found.values())
    figure = canvas(2.0 * columns, 4.4)
    for part, (name, lesson) in zip(figure.subfigures(len(found), 1, squeeze=False)[:, 0], found.items(), strict=True):
        part.suptitle(name, x=0.01, ha="left", fontsize=9, fontweight="bold")
        row = part.subplots(1, columns, squeeze=False)[0]
        everything = np.concatenate([lesson.initial, lesson.target])
        low, high = float(everything.min()), float(everything.max())
        room = Room((0, 9), (0, 9), (low, high), azimuth=-60, elevation=22, height=0.8)
        goal = Surface(as_image(lesson.pool, lesson.target), OTHER, 0.55)
        for number, (ax, (step, values)) in enumerate(zip(row, frames(lesson).items(), strict=False)):
            room.open(ax, ("$x_1$", "$x_2$", "z") if number == 0 else (), (low, high))
            room.show(ax, [goal, Surface(as_image(lesson.pool, values), LEARNER)])
            ax.set_title(f"t = {step:,}", fontsize=9)
        for ax in row[len(frames(lesson)) :]:
            ax.set_axis_off()
    yield PaperFigure(
        "planes",
        figure,
        "GFT-1 teaches the plane z = x1 + x2 - 8 (grey) to a learner (orange) that begins with a bowl, downward above "
        "and upward below. In the last column M has fallen below 1e-4 and the two coincide.",
    )


def notes(found: dict[str, Lesson]) -> list[str]:
    """Say what differs from the paper, and why."""
    return [
        "The bowls are symmetric, so many points are equally far off and which of them is shown depends on rounding: M "
        "agrees to about five digits, and the ITD may differ by a few steps.",
    ]


EXPERIMENT = Experiment(
    name="planes",
    title="A plane from two bowls",
    paper="Figure 7 (c), (d)",
    about="The plane z = x1 + x2 - 8 is taught as a function on a grid of 10 x 10 points to a learner that begins with "
    "-(x1 - 5)^2 - (x2 - 5)^2, and to one that begins with the same bowl turned over. Square loss, learning rate 0.01, "
    "RBF kernel of width 0.5, tolerance 1e-4.",
    run=run,
    lessons=lessons,
    draw=draw,
    notes=notes,
    cost=2.0,
)

"""The paper's first figure, made from lessons: a path of parameters, and a surface that changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from nimt.arrays import Array
from nimt.datasets import Picture
from nimt.kernels import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.linear_learner import LinearLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Quantity, frames
from nimt.paper.figure_style import LEARNER, apply_style, as_image, canvas
from nimt.paper.methods import GREEDY, teacher_of
from nimt.paper.surfaces import Room, Surface
from nimt.plots.style import TARGET
from nimt.pools.pool import Grid

WEIGHTS_START = (-1.2, 0.9, -0.8)
WEIGHTS_GOAL = (1.0, -0.5, 0.9)
PATH_STEPS = 150
PATH_RATE = 0.05
SURFACE_STEPS = 600
SURFACE_RATE = 0.1
SURFACE_DRAWN = (0, 60, 200)


@dataclass(frozen=True, eq=False)
class Spaces:
    """A parametric lesson with its path of weights (T + 1, 3), and a nonparametric one."""

    parametric: Lesson
    path: Array
    nonparametric: Lesson


def hills(points: Array) -> Array:
    """f*: two hills."""
    return hill(points, (0.8, 0.7)) + 0.7 * hill(points, (-0.8, -0.6))


def hollow(points: Array) -> Array:
    """f0: a hill and a hollow elsewhere."""
    return 0.8 * hill(points, (-0.7, 0.9)) - 0.5 * hill(points, (0.9, -0.8))


def hill(points: Array, centre: tuple[float, float]) -> Array:
    return np.asarray(np.exp(-((points - np.array(centre)) ** 2).sum(axis=1) / 0.6))


def weights_of(lesson: Lesson) -> Array:
    """Return the weights of a linear learner after every step, computed from its values on the pool."""
    features = np.column_stack([lesson.pool.points, np.ones(len(lesson.pool))])
    values = np.stack([lesson.snapshots[step] for step in range(len(lesson) + 1)], axis=1)
    return np.asarray(np.linalg.lstsq(features, values, rcond=None)[0].T)


def run(setting: PaperSetting, pictures: tuple[Picture, ...] = ()) -> Spaces:
    """Run both lessons."""
    small = Grid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9))
    parametric = setting.teach(
        "parametric", LinearLearner(WEIGHTS_START, learning_rate=PATH_RATE), teacher_of(GREEDY), small,
        LinearLearner(WEIGHTS_GOAL), steps=PATH_STEPS, draw_at=range(PATH_STEPS + 1),
    )  # fmt: skip
    wide = Grid(np.linspace(-2, 2, 33), np.linspace(-2, 2, 33))
    nonparametric = setting.teach(
        "nonparametric", KernelLearner(rbf(0.5), learning_rate=SURFACE_RATE, initial=hollow), teacher_of(GREEDY), wide,
        hills, steps=SURFACE_STEPS, draw_at=(*SURFACE_DRAWN, SURFACE_STEPS),
    )  # fmt: skip
    return Spaces(parametric, weights_of(parametric), nonparametric)


def lessons(found: Spaces) -> list[PaperLesson]:
    """Return the table of the lessons."""
    return [
        PaperLesson(name="parametric", lesson=found.parametric, checkpoints=(0, PATH_STEPS)),
        PaperLesson(name="nonparametric", lesson=found.nonparametric, checkpoints=(0, SURFACE_STEPS)),
    ]


def quantities(found: Spaces) -> list[Quantity]:
    """Return the distance of the weights from w* at the start and at the end."""
    distance = np.linalg.norm(found.path - np.array(WEIGHTS_GOAL), axis=1)
    return [
        Quantity("|w - w*| at the start", float(distance[0])),
        Quantity("|w - w*| at the end", float(distance[-1])),
    ]


@apply_style
def draw(found: Spaces) -> Iterator[PaperFigure]:
    """Draw the path of w beside the surfaces."""
    figure = canvas(9.6, 4.1)
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.35], squeeze=False)[0]
    left.suptitle("(a) parametric: a point moves", x=0.03, ha="left", fontsize=10)
    right.suptitle("(b) nonparametric: a surface moves", x=0.03, ha="left", fontsize=10)
    draw_path(left.subplots(), found.path)
    lesson = found.nonparametric
    shown = [(f"$f^{{{step}}}$", values) for step, values in list(frames(lesson).items())[:3]]
    shown.append(("target f*", lesson.target))
    low, high = min(part.min() for _, part in shown), max(part.max() for _, part in shown)
    room = Room((-2, 2), (-2, 2), (float(low), float(high)), azimuth=-60, elevation=35, height=0.6)
    for ax, (title, values) in zip(right.subplots(2, 2).ravel(), shown, strict=False):
        room.open(ax)
        room.show(ax, [Surface(as_image(lesson.pool, values), "viridis")])
        ax.set_title(title)
    yield PaperFigure(
        "spaces",
        figure,
        "Two lessons by GFT-1. (a) A linear learner is a point w in three dimensions; every example moves it on "
        "towards w*. (b) A kernel learner is a whole surface, and an example moves it around one place.",
    )


def draw_path(ax: Axes, path: Array) -> None:
    everything = np.vstack([path, WEIGHTS_GOAL])
    low, high = everything.min(axis=0) - 0.3, everything.max(axis=0) + 0.3
    x, y, z = ((float(a), float(b)) for a, b in zip(low, high, strict=True))
    room = Room(x, y, z, azimuth=-125, elevation=22, height=0.9)
    room.open(ax, ("$w_1$", "$w_2$", "$w_3$"))
    floor = np.column_stack([path[:, :2], np.full(len(path), low[2])])
    room.path(ax, floor, color="#C8C8C8", linewidth=1.0)
    room.path(ax, path, color=LEARNER, marker=".", markersize=4, linewidth=1.0)
    for name, point, side, ink in (("$w^0$", path[0], -8, LEARNER), ("$w^*$", np.array(WEIGHTS_GOAL), 8, TARGET)):
        at = room.spot(point)
        ax.plot(*at, "o", color=ink, markersize=6, zorder=4)
        ax.annotate(
            name, at, xytext=(side, 6), textcoords="offset points", ha="right" if side < 0 else "left", fontsize=11
        )


def notes(found: Spaces) -> list[str]:
    """Say what differs from the paper, and why."""
    return ["The paper's first figure is a sketch; here both lessons were run, with settings of ours."]


EXPERIMENT = Experiment(
    name="spaces",
    title="Two kinds of spaces",
    paper="Figure 1",
    about="What a lesson moves: three numbers where the learner is linear, a function where it is not. The linear "
    "learner has a learning rate of 0.05 on 81 points; the kernel learner one of 0.1 and an RBF kernel of width 0.5 on "
    "1,089 points.",
    run=run,
    lessons=lessons,
    quantities=quantities,
    draw=draw,
    notes=notes,
    cost=1.0,
)

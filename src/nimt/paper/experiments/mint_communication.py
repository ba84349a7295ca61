"""What communication is worth: targets that are mixtures of the starts, exactly and up to noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nimt import datasets
from nimt.datasets import Picture
from nimt.paper.drawing import canvas, legend_above, styled
from nimt.paper.experiment import Drawn, Experiment, Setting
from nimt.paper.several_outputs import MIXED, SHARED, Ways, draw_ways, learner, steps_by_level, tables
from nimt.pools.base import Grid
from nimt.teachers.communicating import Communicating
from nimt.teachers.greedy import GreedyTeacher

STEPS = 650_000
LEVELS = (0.05, 0.02)
NOISE, SEED = 0.05, 1
EXCHANGED = np.roll(np.eye(3), 1, axis=0)  # red, green and blue each become the one before


def pictures(folder: Path | None) -> tuple[Picture, ...]:
    """Return the photo that ships with nimt."""
    return (datasets.astronaut(),)


def run(setting: Setting, pictures: tuple[Picture, ...]) -> Ways:
    """Teach the photo with its colours exchanged to a learner that starts with the photo, with and without noise."""
    start = pictures[0].values.reshape(-1, 3)
    pool = Grid.like(pictures[0].values[..., 0])
    exact = start @ EXCHANGED.T
    noisy = exact + NOISE * np.random.default_rng(SEED).normal(size=exact.shape)
    lessons = {}
    for name, target in {"": exact, " with noise": noisy}.items():
        for way, teacher in {SHARED: GreedyTeacher(), MIXED: Communicating(GreedyTeacher(), until=1)}.items():
            title = f"{way}{name}"
            lessons[title] = setting.teach(title, learner(start), teacher, pool, target, steps=STEPS)
    return Ways(lessons, (), pictures, LEVELS)


@styled
def draw(found: Ways) -> Iterator[Drawn]:
    """Draw the curves."""
    figure = canvas(6.4, 3.9)
    ax = figure.subplots()
    draw_ways(ax, found)
    ax.set_ylim(bottom=5e-3)
    legend_above(figure, ax, 2)
    yield Drawn(
        "mint-communication",
        figure,
        "A photo with its colours exchanged, taught to a learner that starts with the photo. One mixture before the "
        "first step makes an exact copy, whose error is below the figure; with noise it leaves the noise to be taught.",
    )


def notes(found: Ways) -> list[str]:
    """Say what the figures depend on."""
    return [
        "One mixture is made, before the first step. The error it leaves is the part of f* outside the span of the "
        "starts, which has to be taught by examples as without it.",
        "What communication saves depends on how far the starts are from the target: here the distance of a photo from "
        "itself with exchanged colours.",
    ]


EXPERIMENT = Experiment(
    name="mint-communication",
    title="Targets that are mixtures of the starts",
    paper="the communication of MINT",
    about="The learner starts with red, green and blue of a photo; the target is the photo with its colours exchanged, "
    "exactly and with noise of standard deviation 0.05. Square loss, learning rate 0.01, RBF kernel of width 0.5.",
    pictures=pictures,
    run=run,
    lessons=tables,
    quantities=steps_by_level,
    draw=draw,
    notes=notes,
    cost=30.0,
)

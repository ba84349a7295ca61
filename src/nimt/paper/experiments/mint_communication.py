"""What communication is worth: targets that are mixtures of the starts, exactly and up to noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nimt import datasets
from nimt.datasets import Picture
from nimt.paper.experiment import Experiment, PaperFigure, PaperSetting
from nimt.paper.figure_style import apply_style, canvas, legend_above
from nimt.paper.several_outputs import EACH, MIXED, Ways, draw_ways, learner, steps_by_level, tables
from nimt.pools.pool import Grid
from nimt.teachers.communicating import Communicating
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.per_output import PerOutput

STEPS = 1_030_000
LEVELS = (0.2, 0.1, 0.05, 0.02)
NOISE, SEED = 0.05, 0


def pictures(folder: Path | None) -> tuple[Picture, ...]:
    """Return the photo that ships with nimt."""
    return (datasets.astronaut(),)


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> Ways:
    """Teach mixtures of the colours of a photo to a learner that starts with the photo, with and without noise."""
    start = pictures[0].values.reshape(-1, 3)
    pool = Grid.like(pictures[0].values[..., 0])
    rng = np.random.default_rng(SEED)
    exact = start @ rng.normal(size=(3, 3)).T
    noisy = exact + NOISE * rng.normal(size=exact.shape)
    each = PerOutput(GreedyTeacher())
    lessons = {}
    for name, target in {"": exact, " with noise": noisy}.items():
        for way, teacher in {EACH: each, MIXED: Communicating(each, until=1)}.items():
            title = f"{way}{name}"
            lessons[title] = setting.teach(title, learner(start), teacher, pool, target, steps=STEPS)
    return Ways(lessons, (), pictures, LEVELS)


@apply_style
def draw(found: Ways) -> Iterator[PaperFigure]:
    """Draw the curves."""
    figure = canvas(6.4, 3.9)
    ax = figure.subplots()
    draw_ways(ax, found)
    ax.set_ylim(5e-3, 0.8)
    legend_above(figure, ax, 2)
    yield PaperFigure(
        "mint-communication",
        figure,
        "Mixtures of the colours of a photo, taught to a learner that starts with the photo. One mixture before the "
        "first step makes an exact copy, whose error is below the figure; with noise it leaves the noise to be taught.",
    )


def notes(found: Ways) -> list[str]:
    """Say what the figures depend on."""
    return [
        "One mixture is made, before the first step. The error it leaves is the part of f* outside the span of the "
        "starts, which has to be taught by examples as without it.",
        "What communication saves depends on how far the starts are from the target: here the mixtures have random "
        "weights (normal, of both signs), so they look little like the photo.",
    ]


EXPERIMENT = Experiment(
    name="mint-communication",
    title="Targets that are mixtures of the starts",
    paper="the communication of MINT",
    about="The learner starts with red, green and blue of a photo; the target has three mixtures of them, with weights "
    "drawn from a normal distribution, exactly and with noise of standard deviation 0.05. Square loss, learning rate "
    "0.01, RBF kernel of width 0.5.",
    pictures=pictures,
    run=run,
    lessons=tables,
    quantities=steps_by_level,
    draw=draw,
    notes=notes,
    cost=30.0,
)

"""Two grey pictures taught at once, as two outputs, from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nimt import datasets
from nimt.datasets import Picture, standardise
from nimt.paper.experiment import Experiment, PaperFigure, PaperSetting, frames
from nimt.paper.figure_style import apply_style, bare, canvas, legend_above, step_title
from nimt.paper.several_outputs import SHARED, Ways, draw_ways, steps_by_level, tables, teach_ways
from nimt.pools.pool import Grid

STEPS, EVERY = 90_000, 10_000
DRAWN = (0, 10_000, 90_000)
LEVELS = (0.9, 0.8, 0.7)
BRIGHTNESS = (0.299, 0.587, 0.114)  # of red, green and blue


def pictures(folder: Path | None) -> tuple[Picture, ...]:
    """Return the astronaut in grey, and the cat."""
    photo = datasets.astronaut()
    grey = Picture(
        standardise(-(photo.values @ np.array(BRIGHTNESS))), "astronaut",
        f"{photo.source} In grey, inverted and standardised.",
        False, photo.licence,
    )  # fmt: skip
    return grey, datasets.cat()


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> Ways:
    """Teach both pictures in every way."""
    first, second = (picture.values for picture in pictures)
    pool, target = Grid.like(first), np.column_stack([first.ravel(), second.ravel()])
    found = teach_ways(setting, pool, target, 0.0, steps=STEPS, every=EVERY, draw_at=DRAWN)
    return Ways(*found, pictures, LEVELS)


@apply_style
def draw(found: Ways) -> Iterator[PaperFigure]:
    """Draw both pictures as they are learned, and the curves."""
    lesson = found.lessons[SHARED]
    kept = frames(lesson)
    figure = canvas(9.6, 3.6)
    left, right = figure.subfigures(1, 2, width_ratios=[1.4, 1], squeeze=False)[0]
    rows = left.subplots(2, len(kept) + 1, squeeze=False)
    for output, row in enumerate(rows):
        shown = {"target f*": lesson.target} | {step_title(step): values for step, values in kept.items()}
        for ax, (title, values) in zip(row, shown.items(), strict=True):
            ax.imshow(values[:, output].reshape(lesson.pool.shape), cmap="gray_r", vmin=-2, vmax=2)
            bare(ax)
            if output == 0:
                ax.set_title(title, loc="left")
    ax = right.subplots()
    draw_ways(ax, found)
    legend_above(right, ax, 1)
    yield PaperFigure(
        "mint-pictures",
        figure,
        "Two grey pictures taught at once from nothing with shared examples, and the error by way; dotted lines are "
        "the levels of the table.",
    )


def notes(found: Ways) -> list[str]:
    """Say what differs from the published notebooks, and why."""
    return [
        "The published pictures are a tiger and a cheetah, whose licences are not known; an astronaut and a cat "
        "stand in.",
        "The published code has one learner per picture; here these are the two outputs of one learner, which is the "
        "same: outputs share the kernel and nothing else.",
        "A picture cut into parts, each taught to a learner of its own, is not here: on a grid a part is a limited "
        "pool.",
    ]


EXPERIMENT = Experiment(
    name="mint-pictures",
    title="Two pictures at once",
    paper="the two grey pictures of MINT",
    about="The two outputs are two grey pictures of 92 x 92 pixels, standardised, the learner starts at 0. Square "
    "loss, learning rate 0.01, RBF kernel of width 0.5, 90,000 steps.",
    pictures=pictures,
    run=run,
    lessons=tables,
    quantities=steps_by_level,
    draw=draw,
    notes=notes,
    cost=5.0,
)

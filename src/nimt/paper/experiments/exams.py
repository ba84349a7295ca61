"""Linear learners taught by a teacher who sees them, hears their answers, hears nothing, or draws at random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.datasets import Picture
from nimt.learners.linear_learner import LinearLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import apply_style, canvas, legend_above
from nimt.paper.weight_distances import compare_curve, draw_distances, weight_distances
from nimt.pools.pool import Points
from nimt.teachers.exam import ExamTeacher
from nimt.teachers.observed import Observed
from nimt.teachers.omniscient import OmniscientTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.teacher import Teacher

LEARNERS, DIMENSIONS, POOL = 50, 3, 200
STEPS = 100
TAU = 0.01
NOISE = 1e-3**0.5  # sigma
FIRST = 1.0412  # the published mean distance before the first step

OMNISCIENT, ANSWERS, SILENT, RANDOM = "omniscient", "belief with answers", "belief, no answers", "random"
PUBLISHED = {
    OMNISCIENT: {0: 1.0412, 10: 0.5271, 50: 0.1135, 100: 0.0000},
    ANSWERS: {0: 1.0412, 10: 0.5737, 50: 0.1254, 100: 0.0023},
    SILENT: {0: 1.0412, 10: 0.7527, 50: 0.3492, 100: 0.1738},
    RANDOM: {0: 1.0412, 10: 0.9340, 50: 0.5963, 100: 0.3564},
}


@dataclass(frozen=True, eq=False)
class Class:
    """Points, the weights wanted, the first weights of all learners, and their variance before they are known."""

    points: Array
    target: Array
    starts: Array
    variance: float

    @classmethod
    def draw(cls) -> Class:
        """Return a class whose mean distance is the published one."""
        rng = np.random.default_rng(0)
        points, target = rng.normal(size=(POOL, DIMENSIONS)), rng.normal(size=DIMENSIONS)
        starts = rng.normal(size=(LEARNERS, DIMENSIONS))
        scale = FIRST / np.linalg.norm(starts - target, axis=1).mean()
        return cls(points, scale * target, scale * starts, float(scale**2))


@dataclass(frozen=True, eq=False)
class Examined:
    """The lessons of the first learner by teacher, and the mean of |w - w*| over all learners."""

    lessons: dict[str, Lesson]
    curves: dict[str, Array]


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> Examined:
    """Teach every learner by every teacher."""
    group = Class.draw()
    labels = group.points @ group.target
    teachers: dict[str, Teacher] = {
        OMNISCIENT: OmniscientTeacher(),
        ANSWERS: Observed(ExamTeacher(prior=group.variance, noise=NOISE), noise=NOISE),
        SILENT: ExamTeacher(prior=group.variance, ask="never"),
        RANDOM: RandomTeacher(),
    }
    learners = LEARNERS if setting.iterations is None else 2
    found = Examined({}, {})
    for name, teacher in teachers.items():
        lessons = [
            setting.teach(
                f"{name}, learner {number + 1}",
                LinearLearner(start, learning_rate=TAU / 2, intercept=False),  # its step has the factor 2
                teacher, Points(group.points), labels, steps=STEPS, draw_at=range(STEPS + 1), seed=number,
            )
            for number, start in enumerate(group.starts[:learners])
        ]  # fmt: skip
        found.lessons[name] = lessons[0]
        found.curves[name] = np.mean([weight_distances(each, group.points, group.target) for each in lessons], axis=0)
    return found


def tables(found: Examined) -> list[PaperLesson]:
    """Return the lessons of the first learner."""
    return [PaperLesson(name=f"{name}, learner 1", lesson=lesson) for name, lesson in found.lessons.items()]


def quantities(found: Examined) -> list[Quantity]:
    """Return the mean distances at the published steps."""
    differs = "the published points, first weights and loss are not known, and these are others"
    return [
        quantity
        for name, curve in found.curves.items()
        for quantity in compare_curve(f"mean |w - w*|, {name}", curve, PUBLISHED[name], PUBLISHED[name], differs)
    ]


@apply_style
def draw(found: Examined) -> Iterator[PaperFigure]:
    """Draw the mean distance over the steps, and the published ones as points."""
    figure = canvas(6.4, 3.9)
    ax = figure.subplots()
    colours = {name: lesson.colour for name, lesson in found.lessons.items()}
    draw_distances(ax, found.curves, colours, PUBLISHED, "mean |w - w*|")
    legend_above(figure, ax, 4)
    yield PaperFigure(
        "exams",
        figure,
        "Mean distance of the weights. Points are the published means, of other points and first weights; what was "
        "published as 0 is not drawn.",
    )


def notes(found: Examined) -> list[str]:
    """Say what is known of the published setting, and what is chosen here."""
    return [
        "Known of the published table: 50 learners, three weights, tau 0.01, sigma^2 0.001, and the means. Not known, "
        "and chosen here: the points (200, normal), w* and first weights (normal, scaled to the published mean "
        "distance), the square loss with the step tau (y - f) x, and a belief that begins with the variance of the "
        "first weights. The first distance and the kind of step were fitted to the published start and random row, so "
        "that these two show nothing. The order of the teachers can be compared, and single values cannot.",
        "The published omniscient lessons are at 0.0000 after 100 steps, from 0.1135 after 50. Steps of this kind "
        "shrink the distance by a factor, and are slower then: the published ones are not of this kind throughout.",
        "Answers have noise of the standard deviation sigma. Each learner has its own seed.",
    ]


EXPERIMENT = Experiment(
    name="exams",
    title="A teacher who hears answers only",
    paper="not in the paper: the 3-D table of SMTL",
    about="50 linear learners with three weights, one example per step, 100 steps. The error is the mean of |w - w*|.",
    run=run,
    lessons=tables,
    quantities=quantities,
    draw=draw,
    notes=notes,
    cost=20.0,
)

"""Functions with several outputs, taught in three ways: shared examples, examples of each output, and communicating."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes

from nimt.arrays import Array
from nimt.datasets import Picture
from nimt.kernels import rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import InitialFunction
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import LossCurve, curves_of, draw_curves, thousands
from nimt.plots.style import QUIET
from nimt.pools.pool import Pool
from nimt.teachers.communicating import Communicating
from nimt.teachers.greedy import GreedyTeacher

SHARED = "shared examples"
EACH = "examples of each output"
MIXED = "communicating"
WIDTH, RATE = 0.5, 0.01


@dataclass(frozen=True, eq=False)
class Ways:
    """What was found: lessons by name, those of single outputs, the curve of these together, and the pictures."""

    lessons: Mapping[str, Lesson]
    alone: Sequence[Lesson] = ()
    pictures: tuple[Picture, ...] = ()
    levels: tuple[float, ...] = field(default=())

    @property
    def curves(self) -> dict[str, Array]:
        """The root mean square error after each step, by way."""
        found = {name: rms(lesson.discrepancy, lesson.target) for name, lesson in self.lessons.items()}
        if self.alone:
            found[EACH] = rms(together(self.alone), self.lessons[SHARED].target)
        return found


def learner(initial: InitialFunction) -> KernelLearner:
    """Return the learner of every experiment here."""
    return KernelLearner(rbf(WIDTH), learning_rate=RATE, initial=initial)


def teach_ways(
    setting: PaperSetting,
    pool: Pool,
    target: Array,
    start: Array | float,
    *,
    steps: int,
    every: int,
    draw_at: Sequence[int],
) -> tuple[dict[str, Lesson], list[Lesson]]:
    """Teach by shared examples and communicating, and each output by itself."""
    whole = {SHARED: GreedyTeacher(), MIXED: Communicating(GreedyTeacher(), every=every)}
    lessons = {
        name: setting.teach(name, learner(start), teacher, pool, target, steps=steps, draw_at=draw_at)
        for name, teacher in whole.items()
    }
    # side by side these are the lesson of PerOutput(GreedyTeacher()), whose outputs do not affect each other
    alone = [
        setting.teach(
            f"output {output + 1}", learner(start if np.ndim(start) == 0 else np.asarray(start)[:, output]),
            GreedyTeacher(), pool, target[:, output], steps=steps, draw_at=draw_at,
        )
        for output in range(target.shape[1])
    ]  # fmt: skip
    return lessons, alone


def together(lessons: Sequence[Lesson]) -> Array:
    """Return the discrepancy of lessons of single outputs that are taken step by step together."""
    shortest = min(len(lesson.discrepancy) for lesson in lessons)
    return np.asarray(np.sqrt(sum(lesson.discrepancy[:shortest] ** 2 for lesson in lessons)))


def rms(discrepancy: Array, target: Array) -> Array:
    """Return the root mean square over points and outputs, from the paper's sqrt(sum (f - f*)^2) / n."""
    return np.asarray(discrepancy * np.sqrt(len(target) / target[0].size))


def first_below(curve: Array, level: float) -> int | None:
    """Return the first step at which a curve is below a level.

    Examples
    --------
    >>> first_below(np.array([0.3, 0.2, 0.1]), 0.15), first_below(np.array([0.3]), 0.15)
    (2, None)
    """
    below = np.flatnonzero(curve < level)
    return int(below[0]) if below.size else None


def steps_by_level(found: Ways) -> list[Quantity]:
    """Return the steps of every way to every level of the root mean square error, where it was reached."""
    return [
        Quantity(f"steps to RMS {level:g}, {name}", steps)
        for level in found.levels
        for name, curve in found.curves.items()
        if (steps := first_below(curve, level)) is not None
    ]


def tables(found: Ways) -> list[PaperLesson]:
    """Return the table of the lessons."""
    named = dict(found.lessons) | {f"output {number} alone": each for number, each in enumerate(found.alone, start=1)}
    return [PaperLesson(name=name, lesson=lesson, checkpoints=(0, len(lesson))) for name, lesson in named.items()]


def draw_ways(ax: Axes, found: Ways) -> None:
    """Draw the root mean square error of every way, and the levels."""
    drawn = []
    for name, values in found.curves.items():
        lesson = found.lessons.get(name, found.lessons[next(iter(found.lessons))])
        steps = curves_of({name: lesson})[0].steps
        steps = steps[steps < len(values)]
        drawn.append(LossCurve(name, steps, values[steps]))
    draw_curves(ax, drawn)
    for level in found.levels:
        ax.axhline(level, color=QUIET, linewidth=0.8, linestyle=":")
    ax.set_yscale("log")
    ax.set_xlabel("step t")
    ax.set_ylabel("root mean square of f$^t$ - f*")
    thousands(ax)

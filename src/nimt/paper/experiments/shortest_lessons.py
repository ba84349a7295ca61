"""How few steps: greedy, random and responsive teaching, exact decrease, and planned lessons, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nimt.datasets import Picture, formulas
from nimt.kernels import Kernel, rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Drawn, Experiment, PaperLesson, PaperSetting, Quantity
from nimt.paper.figure_style import apply_style, canvas, legend_above
from nimt.planning.shortest_lesson import shortest
from nimt.pools.pool import Grid, Points, Pool
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.responsive import ResponsiveTeacher
from nimt.teachers.teacher import Teacher

STEPS = 60_000
RATE = 0.01
RATES = (0.05, 0.2, 0.4)  # among which the best of a teacher is looked for
TRIAL = "sine"  # the lesson of a run with few steps
DRAWN = "line"


@dataclass(frozen=True, eq=False)
class Case:
    """A lesson that all teachers give."""

    pool: Pool
    target: Any
    tol: float
    start: Any = 0.0
    kernel: Kernel = field(default_factory=lambda: rbf(width=0.5))

    def learner(self, rate: float) -> KernelLearner:
        return KernelLearner(self.kernel, learning_rate=rate, initial=self.start)

    def teachers(self, rate: float) -> list[Teacher]:
        decrease = GreedyTeacher(score="decrease", kernel=self.kernel, learning_rate=rate)
        return [GreedyTeacher(), RandomTeacher(), decrease, ResponsiveTeacher()]


def cases() -> dict[str, Case]:
    """Return the lessons by name."""
    points = np.random.default_rng(1).uniform(-1, 1, (200, 2))
    mixture = formulas.mixture_pool(), formulas.mixture
    return {
        "mixture": Case(*mixture, 1e-4, formulas.mixture_start),
        "sine": Case(Grid(np.arange(-3, 3, 0.1)), np.sin, 1e-3),
        "line": Case(formulas.line_pool(), formulas.line(1.0, 1.0), 4e-3, formulas.two_bumps),
        "2-D scattered": Case(Points(points), lambda x: np.sin(3 * x[:, 0]) * x[:, 1], 2e-3),
        "mixture, width 2": Case(*mixture, 1e-3, formulas.mixture_start, rbf(width=2.0)),
    }


@dataclass(frozen=True, eq=False)
class Shortest:
    """The lessons at the rate 0.01 by case and teacher, the proved bounds, and the best steps over the rates."""

    lessons: dict[str, dict[str, Lesson]]
    fewest: dict[str, int]
    best: dict[str, dict[str, tuple[float, int]]]


def run(setting: PaperSetting, pictures: tuple[Picture, ...]) -> Shortest:
    """Give every case by every teacher, and by a plan; at other rates the numbers of steps are enough."""
    trial = setting.iterations is not None
    found = Shortest({}, {}, {})
    for name, case in cases().items():
        if trial and name != TRIAL:
            continue
        tol = 20 * case.tol if trial else case.tol  # the smaller the tolerance, the longer a plan takes
        plan = shortest(case.learner(RATE), case.pool, case.target, tol=tol, starts=1 if trial else None)
        given: dict[str, Any] = {"steps": STEPS, "tol": tol}
        found.lessons[name] = {
            teacher.name: setting.teach(
                f"{name}: {teacher.name}", case.learner(RATE), teacher, case.pool, case.target, **given
            )
            for teacher in (*case.teachers(RATE), plan.teacher)
        }
        found.fewest[name] = plan.fewest
        found.best[name] = {} if trial else best_rates(setting, name, case)
    return found


def best_rates(setting: PaperSetting, name: str, case: Case) -> dict[str, tuple[float, int]]:
    """Return for every teacher the rate with the fewest steps, and these."""
    steps: dict[str, list[tuple[int, float]]] = {}
    for rate in RATES:
        plan = shortest(case.learner(rate), case.pool, case.target, tol=case.tol, starts=1)
        for teacher in (*case.teachers(rate), plan.teacher):
            title = f"{name}: {teacher.name} at {rate:g}"
            lesson = setting.teach(
                title, case.learner(rate), teacher, case.pool, case.target, steps=STEPS, tol=case.tol
            )
            if lesson.itd is not None:
                steps.setdefault(teacher.name, []).append((lesson.itd, rate))
    return {teacher: (min(tried)[1], min(tried)[0]) for teacher, tried in steps.items()}


def tables(found: Shortest) -> list[PaperLesson]:
    """Return the lessons at the rate 0.01."""
    return [
        PaperLesson(name=f"{name}: {teacher}", lesson=lesson)
        for name, lessons in found.lessons.items()
        for teacher, lesson in lessons.items()
    ]


def quantities(found: Shortest) -> list[Quantity]:
    """Return the bounds, and the fewest steps over the rates."""
    proved = [Quantity(f"{name}: no lesson has fewer steps, rate 0.01", count) for name, count in found.fewest.items()]
    best = [
        Quantity(f"{name}: {teacher}, best rate {rate:g}", steps)
        for name, teachers in found.best.items()
        for teacher, (rate, steps) in teachers.items()
    ]
    return proved + best


@apply_style
def draw(found: Shortest) -> Iterator[Drawn]:
    """Draw M over the steps for one lesson."""
    name = DRAWN if DRAWN in found.lessons else TRIAL
    figure = canvas(6.4, 3.9)
    ax = figure.subplots()
    for teacher, lesson in found.lessons[name].items():
        ax.plot(lesson.discrepancy, label=teacher, lw=1.2)
    ax.set_yscale("log")
    ax.set_xlim(0, 1.1 * max(len(lesson) for lesson in list(found.lessons[name].values())[2:]))
    ax.set_xlabel("t")
    ax.set_ylabel("M")
    legend_above(figure, ax, 5)
    yield Drawn(
        "shortest",
        figure,
        f"The lesson {name!r} at rate 0.01. The planned lesson is behind at first, and is the first to arrive.",
    )


def notes(found: Shortest) -> list[str]:
    """Say what the figures depend on."""
    behind = [
        f"{name} ({teacher} at its best rate {best[teacher][1]:,}, GFT-1 {best['GFT-1'][1]:,})"
        for name, best in found.best.items()
        for teacher in ("responsive", "shortest")
        if teacher in best and "GFT-1" in best and best[teacher][1] >= best["GFT-1"][1]
    ]
    lost = "; ".join(behind) or "none of these"
    return [
        "GFT-1 and RFT-1 look at f - f* only; responsive learns the response from its first three examples; decrease "
        "and shortest are told the kernel and the learning rate.",
        f"The best rate is looked for among {', '.join(f'{rate:g}' for rate in RATES)}. Not fewer steps than GFT-1 "
        f"there: {lost}.",
        "Random lessons are of one seed.",
    ]


EXPERIMENT = Experiment(
    name="shortest",
    title="How few steps",
    paper="not in the paper",
    about="Five lessons, each to a tolerance: with true labels GFT-1 takes about twice as many steps as a planned "
    "lesson. Square loss, learning rate 0.01, RBF kernel of width 0.5 unless said.",
    run=run,
    lessons=tables,
    quantities=quantities,
    draw=draw,
    notes=notes,
    cost=200.0,
)

"""How few steps: greedy, random and responsive teaching, exact decrease, and planned lessons, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nimt.datasets import Picture, cat, first_eight, formulas, mean_zero
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, linear, rbf
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.paper.experiment import Experiment, PaperFigure, PaperLesson, PaperSetting, Parts, Quantity
from nimt.paper.figure_style import apply_style, canvas, legend_above
from nimt.planning.shortest_lesson import shortest
from nimt.plots.style import inks
from nimt.pools.pool import Grid, Points, Pool
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.responsive import ResponsiveTeacher
from nimt.teachers.sequence import SequenceTeacher
from nimt.teachers.teacher import Teacher
from nimt.theory.lesson_start import lesson_start
from nimt.theory.step_bounds import bounds_before

STEPS = 200_000
RATE = 0.01
RATES = (0.05, 0.2, 0.4)  # among which the best of a teacher is looked for, over the largest K(x, x)
TRIAL = "sine"  # the lesson of a run with few steps
DRAWN = "line"


@dataclass(frozen=True, eq=False)
class Case:
    """A lesson that all teachers give.

    Attributes
    ----------
    most : int
        Steps after which a lesson that has not arrived is ended.
    planned : tuple of float
        The rates at which a lesson is planned: plans of pictures take minutes.
    """

    pool: Pool
    target: Any
    tol: float
    start: Any = 0.0
    kernel: Kernel = field(default_factory=lambda: rbf(width=0.5))
    most: int = STEPS
    planned: tuple[float, ...] = (RATE, *RATES)

    @property
    def rates(self) -> dict[float, float]:
        """The learning rate for each of RATES."""
        height = float(self.kernel.diag(self.pool.points).max())
        return {RATE: RATE} | {rate: rate / height for rate in RATES}

    def learner(self, rate: float) -> KernelLearner:
        return KernelLearner(self.kernel, learning_rate=rate, initial=self.start)

    def teachers(self, rate: float) -> list[Teacher]:
        decrease = GreedyTeacher(score="decrease", kernel=self.kernel, learning_rate=rate)
        return [GreedyTeacher(), RandomTeacher(), decrease, ResponsiveTeacher()]


def on_mixture(tol: float, **told: Any) -> Case:
    return Case(formulas.mixture_pool(), formulas.mixture, tol, formulas.mixture_start, **told)


def on_scattered() -> Case:
    points = np.random.default_rng(1).uniform(-1, 1, (200, 2))
    return Case(Points(points), lambda x: np.sin(3 * x[:, 0]) * x[:, 1], 2e-3)


def in_ten_dimensions() -> Case:
    draw = np.random.default_rng(1)
    points, weights = draw.uniform(-1, 1, (100, 10)), draw.normal(size=10)
    return Case(Points(points), lambda x: x @ weights, 1e-5, kernel=linear(0.0))


def on_noise() -> Case:
    draw = np.random.default_rng(1)
    rows = draw.uniform(-1, 1, (250, 2))
    noisy = np.sin(rows[:, 0]) * np.cos(rows[:, 1]) + 0.1 * draw.normal(size=250)
    return Case(Points(rows), noisy, 0.1107 / np.sqrt(250), most=20_000, planned=(RATE,))


def on_cat(tol: float, width: float) -> Case:
    small = cat().values.reshape(46, 2, 46, 2).mean(axis=(1, 3))
    return Case(Grid.like(small), small, tol, kernel=rbf(width=width), planned=())


def on_digit() -> Case:
    zero = mean_zero().values
    return Case(Grid.like(zero), zero, 2.36e-4, first_eight().values, planned=(RATE,))


CASES: dict[str, Callable[[], Case]] = {
    "mixture": lambda: on_mixture(1e-4),
    "mixture, 1e-5": lambda: on_mixture(1e-5, planned=(RATE,)),
    "sine": lambda: Case(Grid(np.arange(-3, 3, 0.1)), np.sin, 1e-3),
    "line": lambda: Case(formulas.line_pool(), formulas.line(1.0, 1.0), 4e-3, formulas.two_bumps),
    "2-D scattered": on_scattered,
    "linear kernel, 10-D": in_ten_dimensions,
    "boundary, square loss": lambda: Case(formulas.boundary_pool(), formulas.boundary, 1e-3, formulas.boundary_start),
    "mixture, width 2": lambda: on_mixture(1e-3, kernel=rbf(width=2.0)),
    "noise": on_noise,
    "cat 46 x 46, width 2": lambda: on_cat(8e-3, 2.0),
    "digit 8 to 0": on_digit,
    "cat 46 x 46": lambda: on_cat(4.2e-3, 0.5),
}  # built where they are taught: pictures take a moment to read


@dataclass(frozen=True, eq=False)
class Shortest:
    """The lessons at the rate 0.01 by case and teacher, the proved bounds, and the best steps over the rates."""

    lessons: dict[str, dict[str, Lesson]]
    fewest: dict[str, int]
    best: dict[str, dict[str, tuple[float, int]]]


def teach_case(setting: PaperSetting, pictures: tuple[Picture, ...], name: str) -> Shortest | None:
    """Give a case by every teacher, and by a plan; at other rates the numbers of steps are enough.

    A run with few steps has one case only, None for the others.
    """
    trial = setting.iterations is not None
    if trial and name != TRIAL:
        return None
    case = CASES[name]()
    if trial:  # the smaller the tolerance, the longer a plan takes
        case = replace(case, tol=20 * case.tol)
    plan = plan_at(setting, name, case, RATE, 1 if trial else None)
    lessons = {
        teacher.name: give(setting, f"{name}: {teacher.name}", case, RATE, teacher)
        for teacher in (*case.teachers(RATE), *([] if plan is None else [plan]))
    }
    best = {} if trial else best_rates(setting, name, case)
    return Shortest({name: lessons}, {name: bound_of(case)}, {name: best})


def assemble(given: dict[str, Shortest | None], pictures: tuple[Picture, ...]) -> Shortest:
    """Return all cases as one."""
    found = Shortest({}, {}, {})
    for one in given.values():
        if one is not None:
            found.lessons.update(one.lessons)
            found.fewest.update(one.fewest)
            found.best.update(one.best)
    return found


def bound_of(case: Case) -> int:
    """Return the number of steps below which no lesson at the rate 0.01 arrives."""
    learner = case.learner(case.rates[RATE])
    start = lesson_start(learner, GreedyTeacher(), case.pool, case.target, tol=case.tol)
    fewest, _ = bounds_before(start, greedy=False)
    return fewest


def plan_at(setting: PaperSetting, name: str, case: Case, rate: float, starts: int | None) -> Teacher | None:
    """Return the planned lesson at a rate, None where none is looked for or found; a stopped run keeps it."""
    if rate not in case.planned:
        return None

    def make() -> dict[str, Any]:
        if setting.tell is not None:
            setting.tell(f"{name}: planning at {rate:g}", 0, 1)
        learner = case.learner(case.rates[rate])
        try:
            plan = shortest(learner, case.pool, case.target, tol=case.tol, starts=starts)
        except InvalidInput:  # as for noise
            return {}
        return {"shown": np.asarray(plan.teacher.indices).tolist()}

    found = make() if setting.keeper is None else setting.keeper.keep_value(f"{name} {rate}", make)
    return SequenceTeacher(found["shown"], title="shortest") if found else None


def give(setting: PaperSetting, title: str, case: Case, rate: float, teacher: Teacher) -> Lesson:
    learner = case.learner(case.rates[rate])
    return setting.teach(title, learner, teacher, case.pool, case.target, steps=case.most, tol=case.tol)


def best_rates(setting: PaperSetting, name: str, case: Case) -> dict[str, tuple[float, int]]:
    """Return for every teacher the rate with the fewest steps, and these."""
    steps: dict[str, list[tuple[int, float]]] = {}
    for rate in RATES:
        plan = plan_at(setting, name, case, rate, 1)
        for teacher in (*case.teachers(case.rates[rate]), *([] if plan is None else [plan])):
            lesson = give(setting, f"{name}: {teacher.name} at {rate:g}", case, rate, teacher)
            if lesson.itd is not None:
                steps.setdefault(teacher.name, []).append((lesson.itd, case.rates[rate]))
    return {teacher: (min(tried)[1], min(tried)[0]) for teacher, tried in steps.items()}


def overview(found: Shortest) -> list[list[str]]:
    """Return one table of all lessons: steps at rate 0.01, then at the best rate of each teacher."""
    names = list(dict.fromkeys(teacher for lessons in found.lessons.values() for teacher in lessons))
    rows = [["lesson", *names, "at least"]]
    for case, lessons in found.lessons.items():
        row = [case]
        for name in names:
            lesson, best = lessons.get(name), found.best[case].get(name)
            steps = "-" if lesson is None else "never" if lesson.itd is None else f"{lesson.itd:,}"
            row.append(steps if best is None else f"{steps}; {best[1]:,} at {best[0]:.2g}")
        rows.append([*row, f"{found.fewest[case]:,}"])
    return rows


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
def draw(found: Shortest) -> Iterator[PaperFigure]:
    """Draw M over the steps for one lesson."""
    name = DRAWN if DRAWN in found.lessons else TRIAL
    figure = canvas(6.4, 3.9)
    ax = figure.subplots()
    lessons = found.lessons[name]
    drawn = inks((lesson.colour for lesson in lessons.values()), lessons)
    for (teacher, lesson), ink in zip(lessons.items(), drawn, strict=True):
        ax.plot(lesson.discrepancy, color=ink.colour, linestyle=ink.dashes, label=teacher, lw=1.2)
    ax.set_yscale("log")
    ax.set_xlim(0, 1.1 * max(len(lesson) for lesson in list(lessons.values())[3:]))
    ax.set_xlabel("t")
    ax.set_ylabel("M")
    legend_above(figure, ax, 5)
    yield PaperFigure(
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
        f"The best rate is looked for among {', '.join(f'{rate:g}' for rate in RATES)}, over the largest K(x, x). Not "
        f"fewer steps than GFT-1 there: {lost}.",
        "Random lessons are of one seed. Pictures are planned at rate 0.01 only or not at all, since their plans take "
        "minutes. 'never': the tolerance was not reached within the steps of the lesson.",
        "The points of the lessons 'linear kernel, 10-D' and 'noise' are ours.",
    ]


PARTS = Parts(names=tuple(CASES), teach=teach_case, assemble=assemble)
EXPERIMENT = Experiment(
    name="shortest",
    title="How few steps",
    paper="not in the paper",
    about="Ten lessons with a target in reach and two others, each to a tolerance: with true labels GFT-1 takes about "
    "twice as many steps as a planned lesson. Square loss, learning rate 0.01, RBF kernel of width 0.5 unless said.",
    run=PARTS.run,
    parts=PARTS,
    lessons=tables,
    quantities=quantities,
    overview=overview,
    draw=draw,
    notes=notes,
    cost=2000.0,
)

"""Which teacher? Compare them on the mixture, with --all on the boundary, a digit and a picture too.

python examples/which_teacher.py --all --out out
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import nimt
from nimt.datasets import formulas as problems
from nimt.plots.style import GREEDY, QUIET, STYLE

KERNEL = nimt.rbf(width=0.5)
HEADER = ("learner and teacher", "steps", "distinct points", "labels from", "to", "seconds")
FACTORS = 2.0 ** np.arange(-3, 7)  # radii to try, in multiples of the default


@dataclass(frozen=True, eq=False)
class Problem:
    """What is taught, from where, and how near the learner has to come."""

    title: str
    pool: nimt.Grid
    start: Any
    target: Any
    tol: float
    budget: int
    seeds: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    def gradient_learner(self) -> nimt.KernelLearner:
        return nimt.KernelLearner(KERNEL, initial=self.start, **{"learning_rate": 0.01} | self.options)


def hills() -> Problem:
    return Problem(
        "1-D mixture, 280 points, tolerance 1e-4",
        problems.mixture_pool(),
        problems.mixture_start,
        problems.mixture,
        tol=1e-4,
        budget=10_000,
        seeds=5,
    )


def boundary() -> Problem:
    return Problem(
        "boundary, hinge loss, rate 0.001, 200 points, tolerance 1e-3",
        problems.boundary_pool(),
        problems.boundary_start,
        problems.boundary,
        tol=1e-3,
        budget=10_000,
        seeds=5,
        options={"loss": "hinge", "learning_rate": 0.001},
    )


def digit() -> Problem:
    start, target = nimt.datasets.first_eight().values, nimt.datasets.mean_zero().values
    return Problem("digit 8 to 0, 28 x 28, tolerance 2.36e-4", nimt.Grid.like(target), start, target, 2.36e-4, 100_000)


def picture() -> Problem:
    target = nimt.datasets.cat().values.reshape(46, 2, 46, 2).mean(axis=(1, 3))
    return Problem("a cat from nothing, 46 x 46, tolerance 1e-3", nimt.Grid.like(target), 0.0, target, 1e-3, 100_000)


def comparisons(problem: Problem) -> Iterator[tuple[str, nimt.runs.Comparison]]:
    """Teach by every teacher: first the paper's learner, then one that projects."""
    rules = {"max_iterations": problem.budget, "tol": problem.tol}
    pool, target = problem.pool, problem.target
    teachers = {
        "random (RFT-1)": nimt.RandomTeacher(),
        "soft, temperature 0.1": nimt.teachers.SoftTeacher(temperature=0.1),
        "greedy (GFT-1)": nimt.GreedyTeacher(),
        "greedy, packs of 5": nimt.GreedyTeacher(k=5),
        "synthesis": nimt.SynthesisTeacher(),
        "synthesis, labels in range": nimt.SynthesisTeacher(label_range="target"),
        "synthesis, radius x 8": nimt.SynthesisTeacher(radius=8 * default_radius(problem)),
    }
    with warnings.catch_warnings():  # the hinge stops moving: the page says so
        warnings.simplefilter("ignore", nimt.errors.ResponseWarning)
        yield "gradient", nimt.compare(problem.gradient_learner(), teachers, pool, target, seeds=problem.seeds, **rules)
    teachers = {
        "random": nimt.RandomTeacher(),
        "greedy (f)": nimt.GreedyTeacher(),
        "greedy, packs of 5": nimt.GreedyTeacher(k=5),
        "diverse packs of 5": nimt.GreedyTeacher(k=5, diverse=True, kernel=KERNEL),
        "P": nimt.teachers.InterpolationTeacher("P", kernel=KERNEL),
        "f*P": nimt.teachers.InterpolationTeacher("f*P", kernel=KERNEL),
        "f/P": nimt.teachers.InterpolationTeacher("f/P", kernel=KERNEL),
    }
    if len(pool) > 1000:  # nearly every point becomes a centre, whichever teacher chooses, and that takes minutes
        teachers = {name: teacher for name, teacher in teachers.items() if name.startswith("greedy")}
    learner = nimt.learners.OrthogonalLearner(KERNEL, initial=problem.start)
    yield (
        "projecting",
        nimt.compare(learner, teachers, pool, target, seeds=problem.seeds, **rules | {"max_iterations": 5000}),
    )


RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.34, 0.4, 0.44, 0.46, 0.48, 0.49, 0.5)
FAIR_HEADER = ("method", "rate", "tolerance", "steps", "examples")


def fair(problem: Problem, tolerances: tuple[float, ...]) -> list[list[str]]:
    """Return each method at the learning rate 0.01 and at its own best rate, in steps and in examples."""
    size = len(problem.pool)
    methods: dict[str, tuple[Any, int]] = {
        "random (RFT-1)": (nimt.RandomTeacher(), 1),
        "greedy (GFT-1)": (nimt.GreedyTeacher(), 1),
        "synthesis, default radius": (nimt.SynthesisTeacher(), 1),
        "synthesis, free labels": (nimt.SynthesisTeacher(radius=1e9), 1),
    }
    lines = []
    for tol in tolerances:
        for name, (teacher, pack) in methods.items():
            steps = {rate: steps_at(problem, teacher, rate, tol) for rate in RATES}
            best = min(steps, key=lambda rate: steps[rate])
            lines += [
                [name, f"{rate:g}{' (best)' if rate == best else ''}", f"{tol:g}", counted(steps[rate]),
                 counted(pack * steps[rate])]
                for rate in dict.fromkeys((RATES[0], best))
            ]  # fmt: skip
        rate, steps = best_whole(problem, tol)
        lines.append(["whole", f"{rate:.4g} (best)", f"{tol:g}", counted(steps), counted(size * steps)])
    return lines


def steps_at(problem: Problem, teacher: Any, rate: float, tol: float) -> float:
    """Return the steps to a tolerance at a learning rate; of a teacher that draws, the mean of five seeds."""
    learner = problem.gradient_learner().set_params(learning_rate=rate)
    seeds = 5 if isinstance(teacher, nimt.RandomTeacher) else 1
    taught = [
        nimt.teach(learner, teacher, problem.pool, problem.target, tol=tol, max_iterations=problem.budget, seed=seed,
                   record="picks").itd
        for seed in range(seeds)
    ]  # fmt: skip
    return float(np.mean([np.inf if steps is None else steps for steps in taught]))


def best_whole(problem: Problem, tol: float) -> tuple[float, int]:
    """Return the best rate of showing everything, by forecasts, which are exact for it."""
    task = (nimt.GreedyTeacher(k=1.0), problem.pool, problem.target)
    found = {}
    for rate in len(problem.pool) * np.geomspace(0.05, 1.0, 120):
        forecast = nimt.forecast(problem.gradient_learner().set_params(learning_rate=float(rate)), *task, tol=tol)
        if forecast.itd is not None:
            found[float(rate)] = forecast.itd
    best = min(found, key=lambda rate: found[rate])
    return best, found[best]


def counted(steps: float) -> str:
    return "not reached" if np.isinf(steps) else f"{steps:,.0f}"


def default_radius(problem: Problem) -> float:
    lesson = nimt.teach(
        problem.gradient_learner(), nimt.GreedyTeacher(), problem.pool, problem.target, max_iterations=0, tol=None
    )
    return float(np.max(np.abs(lesson.initial - lesson.target)))


def table(problem: Problem) -> list[list[str]]:
    """Return the lines to print; what draws at random is the mean of its seeds, labels are those of the first."""
    lines = []
    for learner, comparison in comparisons(problem):
        for row in comparison.rows():
            lesson = comparison.lessons[row.name][0]
            budget = lesson.settings["max_iterations"]
            steps = f"not in {budget:,} (M {row.discrepancy:.1e})" if row.steps is None else f"{row.steps:,.0f}"
            low, high = lesson.labels.min(), lesson.labels.max()
            lines.append([f"{learner}: {row.name}", steps, f"{row.distinct:,.0f}", f"{low:.2f}", f"{high:.2f}",
                          f"{row.seconds:.2f}"])  # fmt: skip
    return lines


def as_markdown(title: str, lines: list[list[str]], header: tuple[str, ...] = HEADER) -> str:
    """Return the table as Markdown, with aligned columns."""
    widths = [max(len(row[column]) for row in [list(header), *lines]) for column in range(len(header))]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]

    def line(cells: Any) -> str:
        first, *others = cells
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    return "\n".join([f"**{title}**", "", line(header), line(rules), *map(line, lines), ""])


def steps_by_radius(problem: Problem) -> tuple[np.ndarray, np.ndarray, int]:
    """Return radii, the steps synthesis needs with each, and those of GFT-1."""
    rules = {"tol": problem.tol, "max_iterations": problem.budget}
    radii = FACTORS * default_radius(problem)
    teachers = [nimt.SynthesisTeacher(radius=radius) for radius in radii] + [nimt.GreedyTeacher()]
    *steps, greedy = (
        nimt.teach(problem.gradient_learner(), teacher, problem.pool, problem.target, **rules).itd
        for teacher in teachers
    )
    return radii, np.array(steps), greedy


def draw(radii: np.ndarray, steps: np.ndarray, greedy: int) -> Figure:
    """Draw steps to tolerance against the radius."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.4), layout="constrained")
        ax = figure.subplots()
        ax.loglog(radii, steps, "o-", color=nimt.SynthesisTeacher().colour, markersize=4)
        rises = np.append(np.diff(steps) > 0, False)  # numbers go below the line where it rises, and above it elsewhere
        for radius, count, below in zip(radii, steps, rises, strict=True):
            place = (0, -12) if below else (5, 5)
            ax.annotate(f"{count:,}", (radius, count), place, textcoords="offset points", fontsize=7.5)
        ax.margins(x=0.08, y=0.1)
        ax.axhline(greedy, color=GREEDY)
        ax.annotate(f"GFT-1: {greedy:,}", (1, greedy), (0, 4), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", color=GREEDY)  # fmt: skip
        default = radii[list(FACTORS).index(1.0)]
        ax.axvline(default, color=QUIET, linewidth=0.8, linestyle=(0, (2, 2)))
        ax.annotate("default: the largest |f0 - f*|", (default, 0.02), (4, 0), xycoords=("data", "axes fraction"),
                    textcoords="offset points", color=QUIET, fontsize=7.5)  # fmt: skip
        ax.grid(axis="y")
        ax.set(xlabel="radius: how far a label may be from the learner's prediction", ylabel="steps to the tolerance")
        ax.set_title("Synthesised labels on the 1-D mixture, tolerance 1e-4", loc="left")
        return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure and the tables")
    parser.add_argument("--rates", action="store_true", help="each method at its own best learning rate too")
    parser.add_argument("--all", action="store_true", help="the boundary, the digit and the picture too: minutes")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    problems = [hills()] + ([boundary(), digit(), picture()] if options.all else [])
    printed = []
    for problem in problems:
        printed.append(as_markdown(problem.title, table(problem)))
        print(printed[-1], flush=True)
    if options.rates:
        for problem, tolerances in ((hills(), (2e-3, 1e-4, 3e-5)), (digit(), (2.36e-4,)), (picture(), (1e-3,))):
            title = f"{problem.title.partition(', tolerance')[0]}, each method at its best rate"
            printed.append(as_markdown(title, fair(problem, tolerances), FAIR_HEADER))
            print(printed[-1], flush=True)
    (options.out / "which-teacher.txt").write_text("\n".join(printed), encoding="utf-8")
    draw(*steps_by_radius(hills())).savefig(options.out / "radius.png", dpi=130)
    print(f"The figure is in {options.out / 'radius.png'}")


if __name__ == "__main__":
    main()

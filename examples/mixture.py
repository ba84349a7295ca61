"""Teach a learner the paper's Gaussian mixture with three teachers, print a table, and draw what happened.

python examples/mixture.py --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import nimt
from nimt.plots.style import STYLE

TEACHERS = {
    "RFT-1": nimt.RandomTeacher(k=1),
    "GFT-1": nimt.GreedyTeacher(k=1),
    "GFT-0.05": nimt.GreedyTeacher(k=0.05),
}


def normal(x: np.ndarray, mean: float) -> np.ndarray:
    """Return the density of a normal distribution with standard deviation 1."""
    return np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi)


def target(x: np.ndarray) -> np.ndarray:
    """Return f*, a density with two maxima: N(-2, 1) / 3 + 2 N(2, 1) / 3."""
    return normal(x, -2) / 3 + normal(x, 2) * 2 / 3


def start(x: np.ndarray) -> np.ndarray:
    """Return f0, a density with one maximum far from those of f*: N(-10, 1)."""
    return normal(x, -10)


def run(max_iterations: int, console: Console) -> dict[str, nimt.Lesson]:
    """Teach three copies of one learner, each by its own teacher."""
    x = nimt.Grid(np.arange(-14, 14, 0.1))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), loss="square", learning_rate=0.01, initial=start)
    snapshots = [step for step in (0, 150, 450, 1000) if step <= max_iterations]
    columns = (TextColumn("{task.description:<9}"), BarColumn(), TextColumn("{task.fields[m]}"), TimeElapsedColumn())
    lessons = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        for name, teacher in TEACHERS.items():
            bar = bars.add_task(name, total=max_iterations, m="")

            def show(progress: nimt.session.Progress, bar: int = bar) -> None:
                bars.update(bar, completed=progress.step, m=f"M = {progress.discrepancy:.6f}")

            lessons[name] = nimt.teach(
                learner, teacher, x, target,
                tol=1e-4, max_iterations=max_iterations, snapshots=snapshots, callback=show,
            )  # fmt: skip
    return lessons


def table_of(lessons: dict[str, nimt.Lesson]) -> Table:
    """Return the table to print."""
    table = Table(title="280 points, RBF width 0.5, learning rate 0.01, tolerance 1e-4", title_justify="left")
    for heading in ("teacher", "shown per step", "steps", "ITD", "M at the end", "seconds"):
        table.add_column(heading, justify="left" if heading == "teacher" else "right")
    for name, lesson in lessons.items():
        table.add_row(
            name,
            str(lesson.indices.shape[1]),
            f"{len(lesson):,}",
            "-" if lesson.itd is None else f"{lesson.itd:,}",
            f"{lesson.discrepancy[-1]:.6f}",
            f"{lesson.elapsed:.1f}",
        )
    return table


def draw(lessons: dict[str, nimt.Lesson]) -> Figure:
    """Draw panels of the greedy lesson, and below them the curves of all three lessons."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.5, 5.2), layout="constrained")
        above, below = figure.subfigures(2, 1, height_ratios=[1, 1.25], hspace=0.04)
    greedy = lessons["GFT-1"]
    nimt.plots.panels(greedy, sorted(greedy.snapshots), above)
    with mpl.rc_context(STYLE):
        axes = below.subplots()
    nimt.runs.Comparison.of(lessons).plot(axes)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--max-iterations", type=int, default=10_000, help="the most steps per teacher")
    options = parser.parse_args()
    console = Console()
    lessons = run(options.max_iterations, console)
    console.print(table_of(lessons))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "mixture.png"
    draw(lessons).savefig(path, dpi=150)
    console.print(f"The figure is in {path}", soft_wrap=True)


if __name__ == "__main__":
    main()

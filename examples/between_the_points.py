"""Teach the mixture on a grid and in a box, where an example may lie anywhere, and draw what each was shown.

python examples/between_the_points.py --out out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from mixture import start, target

import nimt
from nimt.plots.style import QUIET, STYLE

GRID = nimt.Grid(np.linspace(-14, 14, 29))  # coarser than the kernel is wide: what it teaches does not reach across
BOX = nimt.Box((-14, 14), points=29)


def lessons(steps: int) -> dict[str, nimt.Lesson]:
    """Teach on both, by the same teacher, for the same number of steps."""
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=start)
    places = {"on a grid": GRID, "in a box": BOX}
    return {
        name: nimt.teach(learner, nimt.SynthesisTeacher(), X, target, max_iterations=steps, tol=None)
        for name, X in places.items()
    }


def points_shown(lesson: nimt.Lesson) -> np.ndarray:
    """Return x of every example."""
    return lesson.pool.points[lesson.indices[:, 0], 0] if lesson.shown_points is None else lesson.shown_points[:, 0, 0]


def error_everywhere(lesson: nimt.Lesson) -> tuple[np.ndarray, np.ndarray]:
    """Return |f - f*| of the taught learner on a scan ten times as fine as the grid."""
    x = np.linspace(-14, 14, 561)[:, np.newaxis]
    return x[:, 0], np.abs(lesson.learner.predict(x) - target(x)[:, 0])


def draw(taught: dict[str, nimt.Lesson]) -> Figure:
    """Draw where the examples lay, step by step, and below it the error that is left between the points."""
    ink = nimt.SynthesisTeacher().colour
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.5, 4.8), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, (name, lesson) in zip(axes.T, taught.items(), strict=True):
            above, below = column
            above.plot(points_shown(lesson), np.arange(len(lesson)), ".", color=ink, markersize=3)
            above.set_title(name, loc="left")
            above.set_title(f"{len(np.unique(points_shown(lesson)))} different points", loc="right", color=QUIET)
            x, left = error_everywhere(lesson)
            below.semilogy(x, np.maximum(left, 1e-7), color=ink, linewidth=1.0)
            below.set_title(f"largest {left.max():.2g}", loc="right", color=QUIET)
            below.set_xlabel("x")
        axes[0, 0].set_ylabel("step")
        axes[1, 0].set_ylabel("|f - f*| at the end")
        return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--steps", type=int, default=400, help="examples that each learner is shown")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    taught = lessons(options.steps)
    for name, lesson in taught.items():
        _, left = error_everywhere(lesson)
        print(f"{name:>9}: M on the grid {lesson.discrepancy[-1]:.2e}, largest error anywhere {left.max():.2e}, "
              f"{lesson.elapsed:.1f} s")  # fmt: skip
    path = options.out / "between_the_points.png"
    draw(taught).savefig(path, dpi=130)
    print(f"The figure is in {path}")


if __name__ == "__main__":
    main()

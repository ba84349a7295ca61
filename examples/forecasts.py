"""Forecast lessons and then teach them: how near the forecasts come, and the proved bounds around both.

python examples/forecasts.py --out out
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nimt
from nimt.datasets import formulas

HEADER = (
    "lesson",
    "whole",
    "taught",
    "RFT-1",
    "mean taught",
    "ratio",
    "inside",
    "lower",
    "GFT-1",
    "taught",
    "ratio",
    "upper",
)


@dataclass(frozen=True, eq=False)
class Task:
    """A lesson to forecast and to teach."""

    name: str
    pool: Any
    target: Any
    tol: float
    start: Any = 0.0
    width: float = 0.5
    share: float | None = None
    rate: Any = 0.01

    def learner(self, rate: Any = None) -> nimt.KernelLearner:
        return nimt.KernelLearner(nimt.rbf(self.width), learning_rate=rate or self.rate, initial=self.start)

    def forecast(self, teacher: Any, rate: Any = None) -> nimt.theory.Forecast:
        return nimt.forecast(self.learner(rate), teacher, self.pool, self.target, tol=self.tol)

    def teach(self, teacher: Any, budget: int, rate: Any = None, seed: int = 0) -> nimt.Lesson:
        return nimt.teach(
            self.learner(rate), teacher, self.pool, self.target,
            tol=self.tol, max_iterations=budget, seed=seed, record="picks",
        )  # fmt: skip


DRAWN_STEPS, MOST_SEEDS = 400_000, 60  # short lessons vary the most, and are given the most often


def tasks() -> Iterator[Task]:
    mixture = (formulas.mixture_pool(), formulas.mixture)
    zero, eight = nimt.datasets.mean_zero().values, nimt.datasets.first_eight().values
    cat = nimt.datasets.cat().values.reshape(46, 2, 46, 2).mean(axis=(1, 3))
    rng = np.random.default_rng(1)
    flat, deep = rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, (300, 5))
    yield Task("mixture", *mixture, 1e-4, formulas.mixture_start)
    yield Task("digit", nimt.Grid.like(zero), zero, 2.36e-4, eight)
    yield Task("cat, 46 x 46", nimt.Grid.like(cat), cat, 4.2e-3)
    yield Task("plane", formulas.plane_pool(), formulas.plane, 1e-4, formulas.bowl(-1.0))
    yield Task("line", formulas.line_pool(), formulas.line(1.0, 1.0), 4e-3, formulas.two_bumps)
    yield Task("sine", nimt.Grid(np.arange(-3, 3, 0.1)), np.sin, 1e-3)
    yield Task("2-D scattered", flat, lambda x: np.sin(3 * x[:, 0]) * x[:, 1], 2e-3)
    yield Task("5-D scattered", deep, lambda x: np.sin(x.sum(axis=1)), 2e-3, width=1.0)
    yield Task("mixture, width 2", *mixture, 1e-3, formulas.mixture_start, width=2.0)
    yield Task("digit, pool 0.8", nimt.Grid.like(zero), zero, 5e-3, eight, share=0.8)
    yield Task("mixture, schedule", *mixture, 1e-4, formulas.mixture_start, rate=lambda t: 0.01 / np.sqrt(1 + t / 100))


def line(task: Task, seeds: int) -> list[str]:
    """Return one line of the table: the whole pool at the rate 0.5, where it can be taught in no time."""
    everything = nimt.GreedyTeacher(k=1.0, pool=task.share)
    whole = task.forecast(everything, rate=0.5)
    taught = task.teach(everything, 2 * (whole.itd or 1) + 10, rate=0.5)
    random = nimt.RandomTeacher(pool=None if task.share is None else _points(task))
    mean = task.forecast(random)
    seeds = int(np.clip(DRAWN_STEPS / (mean.itd or 1), seeds, MOST_SEEDS))
    draws = np.array([task.teach(random, 4 * (mean.itd or 1), seed=seed).itd or np.nan for seed in range(seeds)])
    low, high = mean.interval
    inside = int(np.count_nonzero((draws >= low) & (draws <= (high or np.inf))))
    greedy = nimt.GreedyTeacher(pool=task.share)
    found = task.forecast(greedy)
    lesson = task.teach(greedy, 4 * (found.itd or 1))
    lower, upper = found.bounds
    assert lesson.itd is not None and found.itd is not None and mean.itd is not None
    assert lower <= min(lesson.itd, draws.min()) and (upper is None or lesson.itd <= upper)
    return [
        task.name, f"{whole.itd:,}", f"{taught.itd:,}", f"{mean.itd:,}", f"{draws.mean():,.0f}",
        f"{mean.itd / draws.mean():.3f}", f"{inside} of {seeds}", f"{lower:,}", f"{found.itd:,}", f"{lesson.itd:,}",
        f"{found.itd / lesson.itd:.3f}", "" if upper is None else f"{upper:,}",
    ]  # fmt: skip


def _points(task: Task) -> np.ndarray:
    """Return the limited pool of seed 0, so that every seed draws from the same points."""
    stream, _, _ = np.random.default_rng(0).spawn(3)
    return np.sort(stream.choice(len(task.pool), size=int(task.share * len(task.pool)), replace=False))


def table(seeds: int, names: tuple[str, ...] = ()) -> str:
    """Return the table as text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nimt.errors.StepSizeWarning)
        rows = [list(HEADER), *(line(task, seeds) for task in tasks() if not names or task.name in names)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    return "\n".join(" ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    parser.add_argument("--seeds", type=int, default=3, help="lessons of the random teacher, at least")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(table(options.seeds))
    task = next(tasks())
    found = task.forecast(nimt.GreedyTeacher())
    nimt.plots.forecast(found, task.teach(nimt.GreedyTeacher(), 9000)).savefig(options.out / "forecast.png", dpi=130)
    print(f"\n{found}\n\nThe figure is in {options.out / 'forecast.png'}")


if __name__ == "__main__":
    main()

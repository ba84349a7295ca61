"""Teach the 1-D mixture and the digit by RFT and GFT, and draw bounds and measured S: docs/images/theory.png."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import nimt
from nimt import theory
from nimt.datasets import formulas as problems
from nimt.plots.bounds import bounds_table, draw_bounds

TEACHERS = {"RFT": nimt.RandomTeacher(k=1), "GFT": nimt.GreedyTeacher(k=1)}


def mixture_tables(steps: int) -> dict[str, dict[str, np.ndarray]]:
    """Teach the mixture; its norm in H is known in closed form, its Gram matrix is singular to rounding."""
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=problems.mixture_start)
    weights = np.array([1, -1 / 3, -2 / 3]) / np.sqrt(2 * np.pi)
    distance = theory.gaussian_norm(0.5, weights, [-10.0, -2.0, 2.0], [np.sqrt(2)] * 3)
    lessons = {
        name: nimt.teach(learner, one, problems.mixture_pool(), problems.mixture, max_iterations=steps, tol=None)
        for name, one in TEACHERS.items()
    }
    return {name: bounds_table(lesson, distance=distance) for name, lesson in lessons.items()}


def picture_tables(start: np.ndarray, target: np.ndarray, steps: int) -> dict[str, dict[str, np.ndarray]]:
    """Teach one picture from another, given as arrays of one shape."""
    learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01, initial=start)
    pool = nimt.Grid.like(target)
    lessons = {
        name: nimt.teach(learner, one, pool, target, max_iterations=steps, tol=None) for name, one in TEACHERS.items()
    }
    return {name: bounds_table(lesson) for name, lesson in lessons.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/theory.png"))
    parser.add_argument("--mixture-steps", type=int, default=5000)
    parser.add_argument("--digit-steps", type=int, default=60_000)
    asked = parser.parse_args()
    eight, zero = nimt.datasets.first_eight().values, nimt.datasets.mean_zero().values
    figure = draw_bounds(
        {
            "1-D mixture, 280 points": mixture_tables(asked.mixture_steps),
            "digit 8 to 0, 784 pixels": picture_tables(eight, zero, asked.digit_steps),
        }
    )
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(asked.out, dpi=95)


if __name__ == "__main__":
    main()

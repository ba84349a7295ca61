"""Write a teacher of your own and compare it with the two of the paper.

python examples/own_teacher.py --out out
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nimt


@dataclass(frozen=True, eq=False)
class CuriousTeacher(nimt.Teacher):
    """Draw an example at random, with a probability that grows with the error there: between RFT and GFT."""

    power: float = 1.0  # 0 is RFT; larger values come closer to GFT

    def select(self, view: nimt.teachers.View) -> nimt.Selection:
        scores = np.abs(view.predictions - view.target) ** self.power
        return view.show(view.rng.choice(len(view), p=scores / scores.sum()), scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the figure")
    options = parser.parse_args()

    x = nimt.Grid(np.linspace(-3, 3, 200))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    teachers = {
        "RFT-1": nimt.RandomTeacher(),
        "curious": CuriousTeacher(),
        "curious, power 4": CuriousTeacher(power=4),
        "GFT-1": nimt.GreedyTeacher(),
    }
    lessons = {
        name: nimt.teach(
            learner, teacher, x, lambda p: np.sin(3 * p) * np.exp(-(p**2) / 4), tol=1e-3, max_iterations=5000
        )
        for name, teacher in teachers.items()
    }
    for name, lesson in lessons.items():
        print(f"{name:<17} {lesson.itd:>4} steps")
    options.out.mkdir(parents=True, exist_ok=True)
    nimt.runs.Comparison.of(lessons).plot().savefig(options.out / "own_teacher.png", dpi=150)


if __name__ == "__main__":
    main()

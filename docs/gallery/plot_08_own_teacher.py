"""
A teacher of your own
=====================

A teacher is one method. This one shows the two points with the largest errors of either sign.
"""

from dataclasses import dataclass

import numpy as np

import nimt


@dataclass(frozen=True, eq=False)
class BothSigns(nimt.Teacher):
    """Show where the learner is most too low, and where it is most too high."""

    def select(self, view):
        error = view.predictions - view.target
        return view.show(np.array([error.argmin(), error.argmax()]), np.abs(error))


x = nimt.Grid(np.linspace(-3, 3, 121))
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
comparison = nimt.compare(
    learner,
    {"both signs": BothSigns(), "greedy, k = 2": nimt.GreedyTeacher(k=2)},
    x,
    np.sin,
    max_iterations=1000,
    tol=1e-3,
)
for row in comparison.rows():
    print(f"{row.name:14} {row.steps:4.0f} steps")
comparison.plot()

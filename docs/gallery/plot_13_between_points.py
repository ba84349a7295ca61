"""
Examples between the points
===========================

In a ``Box`` a teacher may show any place, not only the points of a grid.
"""

import numpy as np

import nimt

learner = nimt.KernelLearner(nimt.rbf(width=0.4), learning_rate=0.3)
lesson = nimt.teach(
    learner,
    nimt.GreedyTeacher(),
    nimt.Box((-3.0, 3.0), points=61),
    lambda x: np.sin(2 * x[:, 0]),
    max_iterations=40,
    tol=None,
    snapshots=[0, 3, 10, 40],
)
print("the first places:", lesson.shown_points[:3, 0, 0].round(3))
nimt.plots.panels(lesson)

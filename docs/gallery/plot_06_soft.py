"""
Between random and greedy
=========================

A soft teacher draws its examples with a probability that grows with the error: at a high temperature it is random, at a
low one greedy. Five seeds each; the bands reach from the fastest to the slowest lesson.
"""

import numpy as np

import nimt

x = nimt.Grid(np.linspace(-3, 3, 121))
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
teachers = {
    "random": nimt.RandomTeacher(),
    "soft, 0.2": nimt.teachers.SoftTeacher(temperature=0.2),
    "soft, 0.02": nimt.teachers.SoftTeacher(temperature=0.02),
    "greedy": nimt.GreedyTeacher(),
}
comparison = nimt.compare(learner, teachers, x, np.sin, max_iterations=1500, tol=1e-3, seeds=5)
for row in comparison.rows():
    print(f"{row.name:11} {row.steps:5.0f} steps")
comparison.plot()

"""
A decision boundary
===================

Labels -1 and +1 on the plane, a logistic learner, and a teacher that shows the point with the largest loss.
"""

import matplotlib.pyplot as plt
import numpy as np

import nimt

axis = np.linspace(-2, 2, 41)
pool = nimt.Grid(axis, axis)
x, y = pool.points.T
labels = np.where(x**2 + (y - np.sqrt(np.abs(x))) ** 2 < 1.5, 1.0, -1.0)
learner = nimt.KernelLearner(nimt.rbf(width=0.3), loss="logistic", learning_rate=1.0)
steps = [5, 40, 400]
lesson = nimt.teach(
    learner,
    nimt.GreedyTeacher(score="loss", loss="logistic"),
    pool,
    labels,
    max_iterations=400,
    tol=None,
    snapshots=steps,
)
figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
for panel, step in zip(panels, steps, strict=True):
    values = lesson.snapshots[step]
    panel.contourf(axis, axis, values.reshape(41, 41).T, levels=[-100, 0, 100], colors=["#cfe2f3", "#fbe0cd"])
    panel.contour(axis, axis, labels.reshape(41, 41).T, levels=[0], colors="black", linewidths=0.8)
    shown = pool.points[lesson.indices[:step, 0]]
    panel.plot(*shown.T, ".", color="0.3", markersize=3)
    panel.set_title(f"{step} steps: {np.mean(np.sign(values) == labels):.1%} right", fontsize=9)
    panel.set_aspect("equal")
figure

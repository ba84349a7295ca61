"""
Several outputs at once
=======================

A target may have several outputs; an example then carries the whole label. Here a closed curve in the plane is
taught, one point of it per step.
"""

import matplotlib.pyplot as plt
import numpy as np

import nimt

angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
heart = np.stack(
    [16 * np.sin(angle) ** 3, 13 * np.cos(angle) - 5 * np.cos(2 * angle) - 2 * np.cos(3 * angle) - np.cos(4 * angle)],
    axis=1,
)
learner = nimt.KernelLearner(nimt.rbf(width=0.15), learning_rate=0.3)
steps = [0, 10, 30, 100, 300]
lesson = nimt.teach(
    learner, nimt.GreedyTeacher(), nimt.Grid(angle), heart, max_iterations=300, tol=None, snapshots=steps
)

figure, panels = plt.subplots(1, len(steps), figsize=(10, 2.3), sharex=True, sharey=True, layout="constrained")
for panel, step in zip(panels, steps, strict=True):
    panel.plot(*heart.T, "k--", linewidth=0.8)
    panel.plot(*lesson.snapshots[step].T, color="tab:red")
    panel.set_title(f"{step} steps", fontsize=9)
    panel.set_aspect("equal")
figure

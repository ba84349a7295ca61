"""
Which example is chosen, and what it does
=========================================

One greedy step, looked at closely: the teacher shows the point with the largest error, and the learner's function moves
there and, by its kernel, around there.
"""

import matplotlib.pyplot as plt
import numpy as np

import nimt

x = nimt.Grid(np.linspace(-3, 3, 121))
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.4)
walk = nimt.steps(learner, nimt.GreedyTeacher(), x, np.sin, max_iterations=3, tol=None)

figure, panels = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True, layout="constrained")
places = x.points[:, 0]
before = walk.values
for panel, (step, selection, discrepancy) in zip(panels, walk, strict=True):
    shown = places[selection.indices[0]]
    panel.plot(places, np.sin(places), "k--", linewidth=1)
    panel.plot(places, before, color="0.6")
    panel.plot(places, walk.values, color="tab:orange")
    panel.plot(shown, np.sin(shown), "o", color="tab:orange")
    panel.set_title(f"step {step}: x = {shown:.2f}, then M = {discrepancy:.3f}", fontsize=9)
    before = walk.values
figure

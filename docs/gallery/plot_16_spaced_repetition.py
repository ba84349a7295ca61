"""
Spaced repetition
=================

A learner that forgets two percent of what it knows per step, and a greedy teacher. Nobody tells the teacher to repeat:
what was learned fades, its error grows, and when it is the largest the example is shown again. What is larger fades
faster, and is repeated more often.
"""

import matplotlib.pyplot as plt
import numpy as np

import nimt

points = np.arange(6.0)
size = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 4.0])
learner = nimt.KernelLearner(nimt.rbf(width=0.2), learning_rate=0.4, forgetting=0.02)
steps = list(range(121))
lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, size, tol=None, max_iterations=120, snapshots=steps)
shown = lesson.indices[:, 0]
known = np.array([lesson.snapshots[step] for step in steps]) / size

figure, (when, what) = plt.subplots(2, 1, sharex=True, figsize=(7.0, 5.0), layout="constrained")
colours = plt.get_cmap("viridis")(np.linspace(0.05, 0.85, len(points)))
for point, colour in enumerate(colours):
    at = np.flatnonzero(shown == point)
    when.plot(at, np.full(len(at), point), "|", color=colour, markersize=11, markeredgewidth=1.6)
    what.plot(steps, known[:, point], color=colour, lw=1.2)
when.set(ylabel="shown", ylim=(-0.6, 5.6), yticks=points, yticklabels=[f"target {value:g}" for value in size])
what.set(xlabel="step", ylabel="f / target", ylim=(0, 1.05))
for axes in (when, what):
    axes.spines[["top", "right"]].set_visible(False)
print(f"shown {np.bincount(shown).tolist()} times; it knows {known[-1].mean():.0%} of the target in the mean")
figure

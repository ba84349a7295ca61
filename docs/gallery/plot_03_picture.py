"""
A picture, one pixel per step
=============================

A picture is a function on a grid of pixels. The learner starts at 0; each step shows the pixel with the largest error.
"""

import nimt

picture = nimt.datasets.cat().values
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.2)
lesson = nimt.teach(
    learner,
    nimt.GreedyTeacher(),
    nimt.Grid.like(picture),
    picture,
    max_iterations=30_000,
    measure="rms",
    tol=0.15,
    snapshots=[0, 2_000, 5_000, 10_000],
)
print(f"{lesson.itd:,} steps; {(lesson.picks > 0).mean():.0%} of the pixels were shown")
nimt.plots.panels(lesson)

# %%
# The whole lesson, to play or to move through:
lesson.replay("cat.html")

"""
A learner that fits everything it has seen
==========================================

An ``OrthogonalLearner`` interpolates all examples so far, as kernel interpolation with greedy centres does. Its first
thirty examples are as good as thousands of small steps.
"""

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.learners.OrthogonalLearner(nimt.rbf(width=0.5), initial=problem.initial)
lesson = nimt.teach(
    learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-4, max_iterations=100, snapshots=[5, 10, 20]
)
print(f"{lesson.itd} examples")
nimt.plots.panels(lesson)

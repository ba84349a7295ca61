"""
Packs: several examples per step
================================

A step is the mean over its pack. So at one learning rate a larger pack saves no steps, and costs many more examples:
here packs of one point, of 5 % and of all of the points.
"""

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=problem.initial)
comparison = nimt.compare(
    learner,
    [nimt.GreedyTeacher(), nimt.GreedyTeacher(k=0.05), nimt.GreedyTeacher(k=1.0)],
    problem.pool,
    problem.target,
    max_iterations=20_000,
    tol=1e-4,
)
for row in comparison.rows():
    print(f"{row.name:9} {row.steps:6,.0f} steps {row.examples:9,.0f} examples")
comparison.plot()

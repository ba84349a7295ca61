"""
Made labels: ten times fewer steps
==================================

A teacher that may make its labels can put the learner right where it points, whatever the learning rate. It watches how
the learner responds, and needs to know neither the rate nor the loss.
"""

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=problem.initial)
comparison = nimt.compare(
    learner,
    [nimt.SynthesisTeacher(), nimt.GreedyTeacher()],
    problem.pool,
    problem.target,
    max_iterations=4000,
    tol=1e-4,
)
for row in comparison.rows():
    print(f"{row.name:12} {row.steps:6,.0f} steps")
comparison.plot()

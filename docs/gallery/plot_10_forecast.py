"""
How long will it take?
======================

A forecast says how many steps a lesson will take before it runs, with bounds that are proved. The lesson is drawn
beside it.
"""

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=problem.initial)
found = nimt.forecast(learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-4)
print(found)
lesson = nimt.teach(learner, nimt.GreedyTeacher(), problem.pool, problem.target, tol=1e-4, max_iterations=10_000)
print(f"taught: {lesson.itd:,} steps")
nimt.plots.forecast(found, lesson)

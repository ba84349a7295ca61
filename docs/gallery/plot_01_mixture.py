"""
Greedy and random teachers
==========================

A learner starts with a density that has one maximum and is taught one that has two [Zhang23, Sec. 5.1]. The greedy
teacher shows the point with the largest error, the random teacher any point.
"""

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=problem.initial)
lessons = {
    teacher.name: nimt.teach(
        learner, teacher, problem.pool, problem.target, tol=1e-4, max_iterations=10_000, snapshots=[100, 400, 1_000]
    )
    for teacher in (nimt.GreedyTeacher(), nimt.RandomTeacher())
}
for name, lesson in lessons.items():
    print(f"{name}: {lesson.itd:,} steps")

# %%
# The discrepancy M of both lessons over the steps:
nimt.runs.Comparison.of(lessons).plot()

# %%
# The greedy lesson at five of its steps, and as a replay that you can move through with the slider or the arrow keys:
lessons["GFT-1"].replay("mixture.html")
nimt.plots.panels(lessons["GFT-1"])

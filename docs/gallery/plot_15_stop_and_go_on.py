"""
Stop, and go on
===============

A lesson can be stopped at any moment, by Ctrl-C, a time limit or a power cut, and goes on from its checkpoint. The
result is the same, bit for bit.
"""

import tempfile
from pathlib import Path

import numpy as np

import nimt

problem = nimt.sources.read_problem("gmm", "gmm:start")
learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01, initial=problem.initial)
lesson = (learner, nimt.RandomTeacher(k=3), problem.pool, problem.target)
whole = nimt.teach(*lesson, max_iterations=3000, tol=None)

with tempfile.TemporaryDirectory() as folder:
    place = Path(folder) / "checkpoint.npz"
    stopped = nimt.teach(*lesson, max_iterations=3000, tol=None, checkpoint=place, callback=lambda progress: True)
    print(f"stopped after {len(stopped)} steps" if len(stopped) < 3000 else "it was over before it could be stopped")
    gone_on = nimt.resume(place)
print("the same to the last bit:", np.array_equal(whole.final, gone_on.final))
nimt.plots.curve(gone_on)

"""Peak memory of one large lesson, measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
import nimt

def megabytes(name):
    for line in open("/proc/self/status"):
        if line.startswith(name):
            return int(line.split()[1]) / 1024

side, steps = int(sys.argv[1]), int(sys.argv[2])
def teach(image, steps):
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5)
    return nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(image), image, max_iterations=steps)

teach(np.eye(9), 5)  # loads and compiles everything
image = np.random.default_rng(0).normal(size=(side, side))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # reset the peak
before = megabytes("VmRSS")
lesson = teach(image, steps)
print(megabytes("VmHWM") - before)
"""


def peak_of_a_large_picture(side, steps):
    """Return the megabytes a lesson needs at its peak above the picture it is given (Linux only)."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(side), str(steps)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)

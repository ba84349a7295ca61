"""The defaults of a lesson: the same in Python, on the command line, in TOML files and in the studio.

This module loads nothing, so that the help of the program can tell them at once.
"""

TEACHER = "greedy"
K = 1  # examples per step
LOSS = "square"
LEARNING_RATE = "auto"
WIDTH = 0.5  # of the kernel, that of the paper; Python has none, the command line takes another for a table
MAX_ITERATIONS = 20_000
TOL = "auto"
MEASURE = "paper"
SEED = 0
SEEDS = 5  # of comparisons and sweeps
ENGINE = "auto"

"""One greedy example per step with kernels that reach many points of a grid: `python -m benchmarks --only wide`."""

from __future__ import annotations

import numpy as np

import nimt
from benchmarks import baselines, bounds
from benchmarks.results import RATE, picture, timed

SIZES = ((256, 8, 10.7), (256, 32, 89.3), (512, 16, 113))  # the last: a third of the time that a step took before
COMPARED = 10  # steps of the baselines


def wide(bench):
    for side, width, goal in ((128, 8, 10.7),) if bench.quick else SIZES:
        image = picture(side)
        steps = 2000 if bench.quick else 20_000
        taught(image, width, COMPARED)  # compiles, once
        ours = min(taught(image, width, steps).elapsed for _ in range(2)) / steps
        pool, target = nimt.Grid.like(image), image.ravel()
        given = (pool.points, target, COMPARED, RATE, width)
        slow, curve = timed(lambda given=given: baselines.columns_each_step(*given), 2)
        notes = {"NumPy": slow}
        baselines.numba_columns(*given)
        notes["a plain numba loop"], _ = timed(lambda given=given: baselines.numba_columns(*given), 2)
        notes["scikit-learn's kernel"], _ = timed(lambda given=given: baselines.sklearn_columns(*given), 2)
        if not bench.quick and baselines.has_torch():
            notes["torch"], _ = timed(lambda given=given: baselines.torch_rows(*given), 2)
        said = ", ".join(f"{name} {1e6 * seconds / COMPARED:,.0f} us" for name, seconds in notes.items())
        reach = min(side, round(6.1 * width))
        reached = min(side * side, round(np.pi * reach**2))
        bench.row(f"GFT-1, {side}x{side}, width {width}, one step", f"<= {goal} us", 1e6 * ours,
                  lesson=taught(image, width, COMPARED), curve=curve, note=said,
                  bound=bounds.passes(reached))  # fmt: skip


def taught(image, width, steps):
    learner = nimt.KernelLearner(nimt.rbf(width), learning_rate=RATE)
    rules = {"max_iterations": steps, "tol": None}
    return nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(image), image, **rules)

"""How the cost of a step and the memory grow with the number of points: `python -m benchmarks --only growing`."""

from __future__ import annotations

import time

import numpy as np

import nimt
from benchmarks.results import RATE

NEAR = 1000  # scattered points in reach, whatever their number
CELLS = 48  # that a step reaches into, about
SHORT = 20  # steps of the reference loop that a curve is compared with


def on_grid(d, width):
    def made(n):
        axes = [np.arange(float(round(n ** (1 / d))))] * d
        return nimt.Grid(*axes), np.random.default_rng(0).normal(size=len(axes[0]) ** d), nimt.rbf(width)

    return made


def scattered(d):
    def made(n):
        rng = np.random.default_rng(0)
        points = rng.random((n, d))
        ball = {2: np.pi, 3: 4 * np.pi / 3}[d]
        reach = (NEAR / n / ball) ** (1 / d)
        return points, rng.normal(size=n), nimt.rbf(reach / np.sqrt(-np.log(1e-16)))

    return made


def in_many_dimensions(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 8)), rng.normal(size=n), nimt.rbf(3.0)


KINDS = {
    "grid in 1-D, 25 cells in reach": (on_grid(1, 2.0), 7, 0.3, 100_000),
    "grid in 2-D, 29 cells in reach": (on_grid(2, 0.5), 7, 0.3, 100_000),
    "grid in 3-D, 33 cells in reach": (on_grid(3, 0.35), 7, 0.3, 100_000),
    f"scattered in 2-D, {NEAR} in reach": (scattered(2), 7, 0.3, 2000),
    f"scattered in 3-D, {NEAR} in reach": (scattered(3), 7, 0.3, 2000),
    "scattered in 8-D, all in reach": (in_many_dimensions, 6, 1.1, 20),
}


def growing(bench):
    """Add a row for each kind of pool: the exponent e of n^e that fits the microseconds per step."""
    found = {}
    for kind, (make, largest, goal, steps) in KINDS.items():
        costs, sizes = {}, {}
        for power in range(3, min(largest, 5 if bench.quick else 7) + 1):
            pool, target, kernel = make(10**power)
            learner = nimt.KernelLearner(kernel, learning_rate=RATE)
            rules = {"tol": None, "record": "picks", "max_iterations": steps}
            costs[len(target)] = 1e6 * min(per_step(learner, pool, target, steps) for _ in range(2))
            sizes[len(target)] = nimt.plan(learner, nimt.GreedyTeacher(), pool, target, **rules).bytes / len(target)
            if power == 3:
                short = {"tol": None, "max_iterations": SHORT}
                compared = nimt.teach(learner, nimt.GreedyTeacher(), pool, target, **short)
                loop = nimt.teach(learner, nimt.GreedyTeacher(), pool, target, engine="reference", **short)
        exponent = np.polyfit(np.log(list(costs)), np.log(list(costs.values())), 1)[0]
        largest = max(costs)
        note = ", ".join(f"{n:.0e}: {cost:.2g} us, {sizes[n]:.0f} bytes per point" for n, cost in costs.items())
        axes = np.shape(pool)[1] + 2 if isinstance(pool, np.ndarray) else 2
        ends = (min(costs), largest)
        bench.row(f"a step grows as n^e, {kind}, n = 10^3 to {largest:.0e}", f"<= {goal} = e", exponent,
                  note=note, lesson=compared, curve=loop.discrepancy,
                  bound=lambda ends=ends, axes=axes: say_memory(ends, axes))  # fmt: skip
        found[kind] = costs
    return found


def per_step(learner, pool, target, steps):
    """Return the processor seconds of a step, without the set-up: other programs count little."""
    rules = {"tol": None, "record": "picks", "max_iterations": 2 * steps}
    session = nimt.steps(learner, nimt.GreedyTeacher(), pool, target, **rules)
    session.advance(steps)  # memory is used for the first time in them
    began = time.process_time()
    session.advance(steps)
    return (time.process_time() - began) / steps


def say_memory(ends, axes):
    few, many = (read_at_random(n, axes) for n in ends)
    return f"memory: {CELLS} cells anywhere are read in {few:.0f} and {many:.0f} us"


def read_at_random(n, numbers, repeat=50):
    """Return the microseconds in which CELLS cells of 64 points with so many numbers each are read, of n points."""
    memory, rng = np.ones((n // 64, 64 * numbers)), np.random.default_rng(0)
    times = []
    for _ in range(repeat):
        places = rng.integers(len(memory), size=CELLS)
        began = time.perf_counter()
        memory[places].sum()
        times.append(time.perf_counter() - began)
    return 1e6 * np.median(times)


def draw(found, path):
    """Draw microseconds per step against the points of the pool."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    ax = figure.subplots()
    for (kind, costs), colour, mark in zip(
        found.items(), ("#56B4E9", "#0072B2", "#000000", "#009E73", "#D55E00", "#CC79A7"), "vosx^D", strict=True
    ):
        exponent = np.polyfit(np.log(list(costs)), np.log(list(costs.values())), 1)[0]
        label = f"{kind}: n^{exponent:.2f}"
        ax.loglog(*zip(*costs.items(), strict=True), f"{mark}-", color=colour, label=label)
    ax.set(
        xlabel="points in the pool",
        ylabel="microseconds of processor per step",
        title="A step costs what the kernel reaches",
    )
    ax.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    figure.savefig(path, dpi=140)

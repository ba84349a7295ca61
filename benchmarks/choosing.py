"""Whether `auto` takes the fastest engine: varied lessons of one greedy example, by every engine that can run each.

`python -m benchmarks --only choosing`
"""

from __future__ import annotations

import time

import numpy as np
from rich.table import Table

import nimt
from benchmarks.results import RATE, picture
from nimt.errors import InvalidInput

COMPILED = ("grid", "neighbours", "cells", "streamed")
SECONDS = 0.15  # of processor, that each engine is watched for
MOST_PAIRS = 5e7  # of neighbours in lists


def scattered(n, d, near):
    """Points of a unit cube, and a Gaussian that reaches so many of them."""
    rng = np.random.default_rng(0)
    points = rng.random((n, d))
    ball = {1: 2.0, 2: np.pi, 3: 4 * np.pi / 3, 4: np.pi**2 / 2}[d]
    reach = (near / n / ball) ** (1 / d)
    return points, np.sin(6 * points[:, 0]) + 0.1 * rng.normal(size=n), nimt.rbf(reach / np.sqrt(-np.log(1e-16)))


def in_space(n, d, kernel):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, d))
    return points, np.sin(points[:, 0]) + 0.1 * rng.normal(size=n), kernel


def on_grid(side, width):
    image = picture(side)
    return nimt.Grid.like(image), image, nimt.rbf(width)


PROBLEMS = {
    "grid of 64x64, width 0.5": lambda: on_grid(64, 0.5),
    "grid of 128x128, width 8": lambda: on_grid(128, 8.0),
    "400 points in 2-D, 50 in reach": lambda: scattered(400, 2, 50),
    "2,000 points in 3-D, all in reach": lambda: in_space(2000, 3, nimt.rbf(2.0)),
    "20,000 points in 2-D, 30 in reach": lambda: scattered(20_000, 2, 30),
    "20,000 points in 3-D, 500 in reach": lambda: scattered(20_000, 3, 500),
    "20,000 points in 3-D, 3,000 in reach": lambda: scattered(20_000, 3, 3000),
    "50,000 points in 2-D, 10,000 in reach": lambda: scattered(50_000, 2, 10_000),
    "50,000 points in 3-D, 20,000 in reach": lambda: scattered(50_000, 3, 20_000),
    "5,000 points in 8-D, all in reach": lambda: in_space(5000, 8, nimt.rbf(3.0)),
    "20,000 points in 8-D, all in reach": lambda: in_space(20_000, 8, nimt.rbf(3.0)),
    "20,000 points in 3-D, Matern 5/2, all in reach": lambda: in_space(20_000, 3, nimt.kernels.Matern(1.0, nu=2.5)),
    "20,000 points in 2-D, Wendland, 300 in reach": lambda: in_space(20_000, 2, nimt.Wendland(0.25, 2)),
}


def choosing(bench):
    """Add a row: the most that a lesson takes by the engine of `auto` over the fastest that could run it."""
    table = Table(title="microseconds of processor per step, by engine; * is what auto takes")
    for name in ("lesson", *COMPILED, "auto / best"):
        table.add_column(name)
    found = {}
    for name, make in PROBLEMS.items():
        pool, target, kernel = make()
        learner = nimt.KernelLearner(kernel, learning_rate=RATE)
        chosen = nimt.plan(learner, nimt.GreedyTeacher(), pool, target).engine
        times = {engine: watch(learner, pool, target, engine) for engine in COMPILED}
        known = {engine: took for engine, took in times.items() if took is not None}
        found[name] = known[chosen] / min(known.values()), chosen, min(known, key=known.get)
        cells = (
            "" if took is None else f"{1e6 * took:.3g}{'*' if engine == chosen else ''}"
            for engine, took in times.items()
        )
        table.add_row(name, *cells, f"{found[name][0]:.2f}")
    bench.console.print(table)
    worst = max(found, key=lambda name: found[name][0])
    ratio, chosen, best = found[worst]
    bench.row(f"the engine that auto takes, {len(found)} lessons, the worst", "<= 1.5x", ratio,
              against="the fastest that could run it", note=worst,
              bound=lambda: f"the estimate of costs: {chosen} was taken, {best} is faster")  # fmt: skip


def watch(learner, pool, target, engine):
    """Return the processor seconds of a step after others, None where the engine cannot run, or takes long to set up.

    The least of three stretches; what a lesson takes to begin is left out.
    """
    rules = {"max_iterations": 10**7, "tol": None, "record": "picks", "engine": engine}
    try:
        plan = nimt.plan(learner, nimt.GreedyTeacher(), pool, target, **rules)
        if engine == "neighbours" and plan.window * np.size(target) > MOST_PAIRS:
            return None
        session = nimt.steps(learner, nimt.GreedyTeacher(), pool, target, **rules)
    except InvalidInput:
        return None
    session.advance(300)  # memory is used for the first time in them
    steps, took = 100, 0.0
    while took < SECONDS / 3:
        steps *= 2
        took = stretch(session, steps)
    return min(took, *(stretch(session, steps) for _ in range(2))) / steps


def stretch(session, steps):
    began = time.process_time()
    session.advance(steps)
    return time.process_time() - began

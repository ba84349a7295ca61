"""Many scattered points, of which a kernel reaches thousands: cells, and columns of K."""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

import nimt
from benchmarks import baselines, bounds
from benchmarks.results import RATE, timed

COMPARED = 20  # steps of the baselines


def in_cells(bench):
    sizes = [(100_000, 0.05, 30), (10_000, 0.3, 30)] if bench.quick else [(1_000_000, 0.05, 150), (100_000, 0.3, 100)]
    for n, width, goal in sizes:
        points, target = scattered_in_cube(n)
        steps = 200 if bench.quick else 1000
        lesson = teach(points, target, width, COMPARED)  # compiles, once
        curve = baselines.columns_each_step(points, target, COMPARED, RATE, width)
        given = (points, target, COMPARED, RATE, width)
        others = {"a plain numba loop": by_plain_numba(points, target, width)}
        others["scikit-learn's kernel"], _ = timed(lambda given=given: baselines.sklearn_columns(*given))
        if not bench.quick and baselines.has_torch():
            others["torch"], _ = timed(lambda given=given: baselines.torch_rows(*given))
        ours = 1e6 * min(per_step(points, target, width, steps) for _ in range(3))
        said = ", ".join(f"{name} {1e6 * took / COMPARED:,.0f} us" for name, took in others.items())
        near = plan_of(points, target, width).window or n  # None: every point
        said += f"; {near:,} points in reach, {1e3 * ours / near:.2f} ns of processor each"
        later = 1e6 * per_step(points, target, width, steps, 5 * steps)  # fewer points are shown again soon
        said += f"; {later:.0f} us per step after {5 * steps:,} steps"
        bench.row(f"scattered, n = {n:,} in 3-D, width {width}, GFT-1", f"<= {goal} us per step", ours, lesson=lesson,
                  curve=curve, note=said, bound=bounds.arithmetic(near, ours))  # fmt: skip
    columns(bench)
    two_threads_of_a_column(bench)
    two_lessons(bench)


def by_plain_numba(points, target, width):
    return timed(lambda: baselines.numba_columns(points, target, COMPARED, RATE, width), 2)[0]


def plan_of(points, target, width):
    return nimt.plan(nimt.KernelLearner(nimt.rbf(width)), nimt.GreedyTeacher(), points, target)


def two_threads_of_a_column(bench):
    """A long column of K, by one thread and by two; by turns."""
    from nimt.engines import streamed_engine

    n = 1_000_000
    points, _ = scattered_in_cube(n)
    fill, times = streamed_engine.find_compiled_column(nimt.rbf(0.5), nimt.Points(points)), []
    columns = np.zeros((2, n))
    for _ in range(30):
        row = []
        for helped, column in zip((False, True), columns, strict=True):
            with patch.object(streamed_engine.SecondThread, "is_faster", return_value=helped):
                row.append(timed(lambda column=column: fill(5, column))[0])
        times.append(row)
    one, two = np.min(times, axis=0)
    same = "the same to the last bit" if np.array_equal(*columns) else "NOT the same numbers"
    bench.row(f"a column of K, n = {n:,}, by two threads", ">= 1.7x", one / two, against="one thread",
              note=f"{1e9 * one / n:.2f} and {1e9 * two / n:.2f} ns per point, {same}", bound=bounds.cores)  # fmt: skip


def columns(bench):
    """A column of K as `streamed` computes it, and as NumPy does."""
    from nimt.engines.streamed_engine import find_compiled_column

    n = 20_000  # coordinates and column stay in the cache of a core
    points, _ = scattered_in_cube(n)
    pool, column = nimt.Points(points), np.empty(n)
    for name, kernel in {
        "rbf": nimt.rbf(0.5), "Matern 5/2": nimt.kernels.Matern(0.5, nu=2.5), "Wendland": nimt.Wendland(1.0, 3),
    }.items():  # fmt: skip
        fill = find_compiled_column(kernel, pool)
        fill(3, column)
        ours, _ = timed(lambda fill=fill: fill(5, column), 200)
        theirs, exact = timed(lambda kernel=kernel: kernel(points, points[5:6])[:, 0], 20)
        apart = np.max(np.abs(column - exact))
        bench.row(f"a column of K, {name} in 3-D, n = {n:,}", "<= 3 ns per point", 1e9 * ours / n,
                  note=f"NumPy: {1e9 * theirs / n:.1f} ns; values differ by {apart:.0e}",
                  bound=bounds.passes(n))  # fmt: skip


def two_lessons(bench):
    points, target = scattered_in_cube(20_000)
    steps = 1000 if bench.quick else 5000
    runs = []
    for _ in range(3):
        in_turn, _ = timed(lambda: [teach(points, target, 0.3, steps) for _ in range(2)])
        runs.append((in_turn, bounds.in_threads(lambda _: teach(points, target, 0.3, steps))))
    in_turn, at_once = np.min(runs, axis=0)
    gain = in_turn / at_once
    bench.row("two lessons of 20,000 scattered points in two threads", ">= 1.7x", gain,
              against="one after the other", bound=bounds.cores)  # fmt: skip


def scattered_in_cube(n):
    rng = np.random.default_rng(0)
    points = rng.random((n, 3))
    return points, np.sin(6 * points[:, 0]) + points[:, 2] ** 2 + 0.1 * rng.normal(size=n)


def teach(points, target, width, steps):
    learner = nimt.KernelLearner(nimt.rbf(width), learning_rate=RATE)
    return nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=steps, tol=None)


def per_step(points, target, width, steps, before=1):
    """Return the processor seconds of a step after some others, without the set-up."""
    learner = nimt.KernelLearner(nimt.rbf(width), learning_rate=RATE)
    rules = {"max_iterations": before + steps, "tol": None}
    session = nimt.steps(learner, nimt.GreedyTeacher(), points, target, **rules)
    session.advance(before)
    began = time.process_time()
    session.advance(steps)
    return (time.process_time() - began) / steps

"""Lessons on scattered points: by lists of neighbours, and by streamed columns."""

from __future__ import annotations

import time

import numpy as np

import nimt
from benchmarks import baselines, bounds
from benchmarks.results import RATE, ours, timed


def scattered(bench):
    rng = np.random.default_rng(0)
    n, steps = (20_000, 50_000) if bench.quick else (100_000, 200_000)
    points = rng.random((n, 3)) * (n / 50 * 4.18879 * 1.0) ** (1 / 3)  # about 50 within distance 1
    width = 1 / np.sqrt(-np.log(1e-16))  # where the kernel falls below rounding
    target = np.sin(points[:, 0]) + 0.1 * rng.normal(size=n)
    mine, lesson = ours(points, target, nimt.GreedyTeacher(), steps, width, repeat=1, record="picks")
    near = nimt.plan(nimt.KernelLearner(nimt.rbf(width)), nimt.GreedyTeacher(), points, target).window
    bench.row(f"scattered, n = {n:,} in 3-D, {near} in reach, {steps:,} steps", "<= 10 us per step",
              1e6 * lesson.elapsed / steps, lesson=lesson,
              note=f"after {mine - lesson.elapsed:.1f} s to set up; (a) needs {8e-9 * n * n:.0f} GB",
              bound=bounds.memory(20e-6 * near))  # fmt: skip
    set_up(bench)
    long_ranged(bench)
    n, steps = 20_000, 2_000 if bench.quick else 20_000
    points = rng.normal(size=(n, 8))
    target = np.sin(points @ rng.normal(size=8))
    theirs, curve = timed(lambda: baselines.columns_each_step(points, target, steps, 0.1, 3.0))
    mine, lesson = ours(points, target, nimt.GreedyTeacher(), steps, 3.0, rate=0.1, repeat=1)
    bench.row(f"scattered, n = 20,000 in 8-D, long-ranged, {steps:,} steps", ">= 3x", theirs / mine, lesson=lesson,
              curve=curve, seconds=mine, steps=steps, against="columns each step",
              bound=bounds.passes(n))  # fmt: skip


def long_ranged(bench):
    """Every step changes every point; the columns of K are computed once each, which is counted here, not for (a)."""
    n, steps = 1_000, 5_000 if bench.quick else 50_000
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 3))
    target = np.sin(points[:, 0]) + 0.3 * points[:, 1] ** 2
    gram = nimt.rbf(2.0)(points)
    theirs, curve = timed(lambda: baselines.dense_single(gram, target, steps, RATE))
    mine, lesson = ours(points, target, nimt.GreedyTeacher(), steps, 2.0)
    bench.row(f"scattered, n = {n:,} in 3-D, long-ranged, {steps:,} steps", ">= 3x", theirs / mine, lesson=lesson,
              curve=curve, seconds=mine, steps=steps, against="(a)", bound=bounds.passes(n))  # fmt: skip
    steps, k = steps // 10, n // 20
    way = baselines.faster_way(gram, target, RATE, k)
    theirs, curve = timed(lambda: baselines.dense_packs(gram, target, steps, RATE, k, way))
    mine, lesson = ours(points, target, nimt.GreedyTeacher(k=k), steps, 2.0)
    bench.row(f"scattered, n = {n:,} in 3-D, long-ranged, packs of {k}, {steps:,} steps", ">= 1x", theirs / mine,
              lesson=lesson, curve=curve, seconds=mine, steps=steps, against="(a)",
              bound=bounds.passes(n, k))  # fmt: skip


def set_up(bench):
    """A million points: what is done before the first step, and a step; the first of them against whole columns."""
    n, steps, compared = (100_000, 100_000, 50) if bench.quick else (1_000_000, 1_000_000, 50)
    rng = np.random.default_rng(0)
    points = rng.random((n, 3)) * (n / 50 * 4.18879) ** (1 / 3)
    width = 1 / np.sqrt(-np.log(1e-16))
    target = np.sin(points[:, 0]) + 0.1 * rng.normal(size=n)
    processor_time(points[:10_000], target[:10_000], width, 10)  # compiles, once
    curve = baselines.columns_each_step(points, target, compared, RATE, width)
    few, lesson = processor_time(points, target, width, compared)
    many, _ = processor_time(points, target, width, steps)
    bench.row(f"scattered, n = {n:,} in 3-D, set-up, processor time", "<= 10 s", few, lesson=lesson, curve=curve,
              bound=bounds.more(1e9 * few / (50 * n), "the lists: a pair of neighbours takes", "ns"))  # fmt: skip
    bench.row(f"scattered, n = {n:,} in 3-D, {steps:,} steps, processor time", "<= 3 us per step",
              1e6 * (many - few) / steps, lesson=lesson, bound=bounds.memory(20e-6 * 50))  # fmt: skip


def processor_time(points, target, width, steps):
    """Return the processor time of a lesson, which does not grow while other programs run, and the lesson."""
    learner = nimt.KernelLearner(nimt.rbf(width=width), learning_rate=RATE)
    began = time.process_time()
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, target, max_iterations=steps, tol=None, record="picks")
    return time.process_time() - began, lesson

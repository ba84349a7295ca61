"""Many lessons: a sweep beside a loop over `teach` that gives the same ones."""

from __future__ import annotations

import multiprocessing
import os
import time

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.results import picture

SMALL = {"side": 8, "steps": 100, "lessons": 100}
MEDIUM = {"side": 92, "steps": 200_000, "lessons": 500}


def sweeps(bench):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    loop, swept, _ = both_ways(**SMALL, repeat=12)
    bench.row(f"{SMALL['lessons']} small lessons as a sweep", ">= 1x", loop / swept, against="a loop over teach",
              note=f"{loop:.2f} s and {swept:.2f} s",
              bound=bounds.more(1e3 * swept / SMALL["lessons"], "what a lesson itself takes", "ms"))  # fmt: skip
    medium = MEDIUM | {"lessons": 40} if bench.quick else MEDIUM
    free = free_cores(cores)
    loop, swept, busy = both_ways(**medium, repeat=1)
    work = f"{medium['lessons']} lessons of {medium['steps']:,} steps on 92x92 as a sweep"
    bench.row(f"{work}, {cores} cores", f">= {0.9 * cores:g}x", loop / swept, against="a loop over teach",
              note=f"{loop:.1f} s and {swept:.1f} s", bound=bounds.cores)  # fmt: skip
    bench.row(f"cores kept busy by {work}", ">= 0.9x", busy / free, against="processes that only count",
              note=f"{busy:.2f} and {free:.2f} of {cores} cores: other work on the machine has the rest",
              bound=bounds.cores)  # fmt: skip


def free_cores(cores, seconds=2.0):
    """Return how many cores this machine has to give, beside other work: what processes get that only count."""
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        return sum(pool.map(counting, [seconds] * cores, chunksize=1))


def counting(seconds):
    began, work = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < seconds:
        pass
    return (time.process_time() - work) / seconds


def both_ways(side, steps, lessons, repeat):
    """Return the seconds of a loop and of a sweep, the best of some by turns, and how many cores a sweep kept busy.

    The sweep's results are checked against those of the loop.
    """
    image = picture(side)
    pool, teacher = nimt.Grid.like(image), nimt.RandomTeacher()
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    common = {"max_iterations": steps, "tol": None, "record": "picks"}
    nimt.teach(learner, teacher, pool, image, max_iterations=10, tol=None)  # compiles, once
    loops, swept, busy = [], [], []
    for _ in range(repeat):
        began = time.perf_counter()
        ends = [
            nimt.teach(learner, teacher, pool, image, seed=seed, **common).discrepancy[-1] for seed in range(lessons)
        ]
        loops.append(time.perf_counter() - began)
        began, work = time.perf_counter(), time.process_time()
        found = nimt.sweep((pool, image), learner, teacher, seeds=lessons, **common)
        swept.append(time.perf_counter() - began)
        busy.append((time.process_time() - work) / swept[-1])
        np.testing.assert_array_equal([entry.end for entry in found.entries], ends)
    return min(loops), min(swept), max(busy)

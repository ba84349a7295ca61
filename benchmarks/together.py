"""Lessons side by side: two threads on two cores, an event loop beside a lesson, several outputs at once."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import threading
import time

import numpy as np
from threadpoolctl import threadpool_limits

import nimt
from benchmarks import bounds
from benchmarks.results import picture

COMPARED = 1000  # steps of the reference loop that a curve is compared with
LONG = 4.0  # seconds of a lesson that runs beside another: starting a thread and the set-up do not count then


def together(bench):
    image = picture(92)
    steps = 200_000 if bench.quick else steps_of(LONG, image)
    in_turn, at_once, lesson = two_threads((image, image), steps)
    loop = lesson_on(image, COMPARED, engine="reference").discrepancy
    bench.row(f"two lessons in two threads, 92x92, {steps / 1e6:.1f} million steps each", ">= 1.8x",
              in_turn / at_once, against="one after the other", lesson=lesson, curve=loop,
              note=f"{in_turn:.1f} s and {at_once:.1f} s; two processes that only count: "
                   f"{2 * counting(1) / counting(2):.2f}x", bound=bounds.cores)  # fmt: skip
    gap = longest_gap(image, min(steps, 1_000_000))
    bench.row("longest gap of an event loop beside a lesson in a thread", "<= 20 ms", gap,
              bound=bounds.more(gap, "a stretch of steps, or another program, took", "ms"))  # fmt: skip
    steps = 20_000  # so few that a lesson is seldom interrupted by other programs, and many repetitions
    one, three, lesson, loop = outputs(image, steps)
    bench.row(f"GFT-1 with 3 outputs, 92x92, {steps:,} steps", "<= 1.5x", three / one, against="1 output",
              lesson=lesson, curve=loop,
              note=f"{1e6 * one / steps:.2f} and {1e6 * three / steps:.2f} us per step",
              bound=bounds.memory(3 * 8e-6 * image.size))  # fmt: skip


def lesson_on(image, steps, k=1, engine="auto", record="picks"):
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    return nimt.teach(
        learner, nimt.GreedyTeacher(k=k), nimt.Grid.like(image[..., 0] if image.ndim == 3 else image), image,
        max_iterations=steps, tol=None, record=record, engine=engine,
    )  # fmt: skip


@contextlib.contextmanager
def busy(image):
    """Run lessons in another process beside the block: the other core, and the memory of both, have work."""
    spawn = multiprocessing.get_context("spawn")
    started = spawn.Event()
    process = spawn.Process(target=lessons_for_ever, args=(image, started), daemon=True)
    process.start()
    started.wait()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def lessons_for_ever(image, started):
    lesson_on(image, 10)
    started.set()
    while True:
        lesson_on(image, 10_000_000)


def steps_of(seconds, image):
    """Return how many steps take about this long."""
    lesson_on(image, 10)  # compiles, once
    trial = 500_000
    return int(seconds / lesson_on(image, trial).elapsed * trial)


def two_threads(images, steps, repeat=2):
    """Return the seconds of two lessons one after the other and in two threads, the best of some, and a lesson."""
    in_turn, at_once, taught = [], [], []
    alone = [lesson_on(image, COMPARED).discrepancy for image in images]
    for _ in range(repeat):  # by turns, so that other work on the machine slows both
        began = time.perf_counter()
        for image in images:
            lesson_on(image, steps)
        in_turn.append(time.perf_counter() - began)
        threads = [threading.Thread(target=lambda i=image: taught.append(lesson_on(i, steps))) for image in images]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_once.append(time.perf_counter() - began)
    for lesson in taught:
        assert any(np.array_equal(lesson.discrepancy[: COMPARED + 1], curve) for curve in alone)
    return min(in_turn), min(at_once), taught[0]


def counting(processes, repeat=2):
    """Return the seconds that so many processes take to count at the same time: what the machine itself allows."""
    best = np.inf
    for _ in range(repeat):
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            best = min(best, max(pool.map(count_to, [20_000_000] * processes, chunksize=1)))
    return best


def count_to(end):
    began = time.perf_counter()
    number = 0
    while number < end:
        number += 1
    return time.perf_counter() - began


def longest_gap(image, steps):
    """Return the longest time, in milliseconds, that an event loop was kept waiting beside a lesson in a thread."""

    async def watch():
        done = asyncio.get_running_loop().run_in_executor(None, lesson_on, image, steps)
        longest, before = 0.0, time.perf_counter()
        while not done.done():
            await asyncio.sleep(0)
            now = time.perf_counter()
            longest, before = max(longest, now - before), now
        return longest

    lesson_on(image, 10)
    return 1e3 * asyncio.run(watch())


def outputs(image, steps, repeat=40):
    """Return the seconds of lessons with one output and with three (best of some, by turns), and two curves of 3."""
    colour = np.stack([image, np.roll(image, 7, axis=0), image[::-1]], axis=-1)
    pictures = (image, colour)
    for which in pictures:
        lesson_on(which, 10)
    with threadpool_limits(1):  # the check of 3 outputs is long enough for threads of BLAS, which then spin for a while
        times = [[lesson_on(which, steps).elapsed for which in pictures] for _ in range(repeat)]
    loop = lesson_on(colour, COMPARED, engine="reference").discrepancy
    return *np.min(times, axis=0), lesson_on(colour, COMPARED), loop

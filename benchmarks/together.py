"""Lessons side by side: two threads on two cores, an event loop beside a lesson, several outputs at once."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np

import nimt
from benchmarks.rows import picture

LONG = 4.0  # seconds of a lesson that runs beside another: starting a thread and the set-up do not count then


def together(bench):
    image = picture(92)
    steps = 200_000 if bench.quick else steps_of(LONG, image)
    in_turn, at_once = two_threads(image, steps)
    bench.row(f"two lessons in two threads, 92x92, {steps / 1e6:.1f} million steps each", ">= 1.8x",
              in_turn / at_once, against="one after the other",
              note=f"{in_turn:.1f} s and {at_once:.1f} s")  # fmt: skip
    gap = longest_gap(image, min(steps, 1_000_000))
    bench.row("longest gap of an event loop beside a lesson in a thread", "<= 20 ms", gap)
    steps = 100_000 if bench.quick else 500_000
    one, three = outputs(image, steps)
    bench.row(f"GFT-1 with 3 outputs, 92x92, {steps:,} steps", "<= 1.5x", three / one, against="1 output",
              note=f"{1e6 * one / steps:.2f} and {1e6 * three / steps:.2f} us per step")  # fmt: skip


def lesson_on(image, steps, k=1):
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    return nimt.teach(
        learner, nimt.GreedyTeacher(k=k), nimt.Grid.like(image[..., 0] if image.ndim == 3 else image), image,
        max_iterations=steps, record="picks",
    )  # fmt: skip


def steps_of(seconds, image):
    """Return how many steps take about this long."""
    lesson_on(image, 10)  # compiles, once
    trial = 500_000
    return int(seconds / lesson_on(image, trial).elapsed * trial)


def two_threads(image, steps, repeat=2):
    """Return the seconds of two lessons one after the other, and of the same two in two threads; the best of some."""
    lesson_on(image, 10)
    in_turn, at_once = [], []
    for _ in range(repeat):  # by turns, so that other work on the machine slows both
        began = time.perf_counter()
        lesson_on(image, steps), lesson_on(image, steps)
        in_turn.append(time.perf_counter() - began)
        threads = [threading.Thread(target=lesson_on, args=(image, steps)) for _ in range(2)]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_once.append(time.perf_counter() - began)
    return min(in_turn), min(at_once)


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


def outputs(image, steps, repeat=5):
    """Return the seconds of a lesson with one output, and of one with three; the best of some, by turns."""
    colour = np.stack([image, np.roll(image, 7, axis=0), image[::-1]], axis=-1)
    pictures = (image, colour)
    for which in pictures:
        lesson_on(which, 10)
    times = [[lesson_on(which, steps).elapsed for which in pictures] for _ in range(repeat)]
    return np.min(times, axis=0)

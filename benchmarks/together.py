"""Lessons side by side: two threads on two cores, an event loop beside a lesson, several outputs at once."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np

import nimt


def lesson_on(image, steps, k=1):
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    return nimt.teach(
        learner, nimt.GreedyTeacher(k=k), nimt.Grid.like(image[..., 0] if image.ndim == 3 else image), image,
        max_iterations=steps, record="picks",
    )  # fmt: skip


def two_threads(image, steps):
    """Return the seconds of two lessons one after the other, and of the same two in two threads."""
    lesson_on(image, 10)  # compiles, once
    began = time.perf_counter()
    lesson_on(image, steps), lesson_on(image, steps)
    in_turn = time.perf_counter() - began
    threads = [threading.Thread(target=lesson_on, args=(image, steps)) for _ in range(2)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return in_turn, time.perf_counter() - began


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


def outputs(image, steps):
    """Return the seconds of a lesson with one output, and of one with three."""
    colour = np.stack([image, np.roll(image, 7, axis=0), image[::-1]], axis=-1)
    times = []
    for picture in (image, colour):
        lesson_on(picture, 10)
        times.append(min(lesson_on(picture, steps).elapsed for _ in range(3)))
    return times

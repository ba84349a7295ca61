"""How much one lesson could gain from a second core, if its picture was halved and each half taught by a core.

Steps whose windows do not cross the line between the halves may be taken in any order. A step that crosses it needs
both halves as they are at its place in the order, so both cores wait there. Two things are measured: how well the
stretches between such steps can be shared, counted in a lesson, and how fast two halves run in two threads that never
wait for each other.
"""

from __future__ import annotations

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.results import picture
from benchmarks.together import lesson_on, two_threads
from nimt.operators.grid import GridOperator


def two_cores(bench):
    image = picture(512 if bench.quick else 2048)
    side = len(image)
    steps = image.size // 4
    lesson = lesson_on(image, steps, record="all")
    loop = lesson_on(image, 20, engine="reference").discrepancy
    reach = GridOperator(nimt.rbf(0.5), lesson.pool).reach[0]
    length, shared = stretches(lesson.indices[:, 0] // side, side // 2, reach)
    in_turn, at_once, _ = two_threads(
        (image[: side // 2], image[side // 2 :]), image.size
    )  # so many that the set-up counts little
    apart = in_turn / at_once
    bench.row(f"one lesson on two cores, {side}x{side}: upper bound, not built", ">= 1.5x", apart * shared / 2,
              against="one core", lesson=lesson, curve=loop,
              note=f"halves that never wait: {apart:.2f}x; stretches of {length:.0f} steps, shared by two: "
                   f"{shared:.2f}x", bound=bounds.cores)  # fmt: skip


def stretches(rows, middle, reach):
    """Return the mean length of the stretches between steps that cross the middle, and what sharing them gains.

    Two cores need the longer share of every stretch, and one of them the step that crosses.
    """
    crosses = np.abs(rows - middle + 0.5) < reach
    stretch = np.cumsum(crosses)
    upper = np.bincount(stretch[~crosses & (rows < middle)], minlength=stretch[-1] + 1)
    lower = np.bincount(stretch[~crosses & (rows >= middle)], minlength=stretch[-1] + 1)
    needed = np.sum(np.maximum(upper, lower)) + np.sum(crosses)
    return len(rows) / max(1, np.sum(crosses)), len(rows) / needed

r"""A greedy teacher's lesson, scaled from a shorter one at a larger learning rate.

As the rate falls, greedy lessons follow one path, at a speed of -k ln(1 - 2 eta kappa / k) per step for packs of k: a
lesson at eta takes Theta / -ln(1 - 2 eta kappa) steps, Theta being the same for all small rates. For points that do not
touch each other (K = kappa I) that is exact.

With momentum mu a slope acts for 1 / (1 - mu) steps in the mean: as the rate falls, the path is the same and the speed
that of the rate eta / (1 - mu), from about mu / (1 - mu) steps later on.

With decay d and forgetting phi, f also shrinks by rho = (1 - eta d / (1 - mu)) (1 - phi) per step. As the rate falls,
decay and slopes act at the same ratio, so the path is one for each d; it does not end at f*. The shorter lesson forgets
1 - rho^(s' / s) per step, s and s' being the speeds of both, so that f shrinks as much on the same part of the path.
Forgetting does not fall with the rate: with a schedule of rates there is no such path.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.lesson.outcome import Outcome
from nimt.theory.lesson_start import LessonStart
from nimt.theory.whole import LONGEST_SCHEDULE, Steps, space_steps

FAST = 0.1  # eta K(x, x) of the shorter lesson; at larger ones it leaves the path
NEAR = 0.05  # eta K(x, x) from which on a shorter lesson is hardly shorter, so that the lesson itself is given
SHORT_STEPS = 300_000
CURVE_POINTS = 240
MOST_STEPS = 2**63  # beyond it a count of steps does not fit


@dataclass(frozen=True, eq=False)
class ScaledLesson:
    """The lesson as it would go: M at some steps, the first step below the tolerance, how it was found."""

    step: Steps
    discrepancy: Array
    itd: int | None
    longest: int
    times_fewer: float
    diverged: bool


def teach_scaled_lesson(
    start: LessonStart, pack: int, *, steps: int = SHORT_STEPS, seconds: float | None = None
) -> ScaledLesson:
    """Teach a copy of the learner a shorter lesson and return it in the steps of the one asked about."""
    largest = float(start.diagonal[start.candidates].max())
    rate = start.constant_rate
    itself = rate is not None and rate * largest >= NEAR * (1.0 - start.update.momentum)
    fast = rate if rate is not None and itself else FAST / largest if largest > 0 else 1.0
    budget = _budget(start, fast * (1.0 - start.update.momentum) if itself else fast, steps)
    lesson = start.teach_copy(
        budget,
        rate=fast if start.update.is_plain or not itself else None,
        forgetting=0.0 if itself else forgetting_at(fast, start, largest, pack),
        seconds=seconds,
    )
    found = space_steps(len(lesson), CURVE_POINTS)
    taken, itd = found, lesson.itd
    if not itself:
        kappa = float(lesson.picks @ start.diagonal) / max(1, int(lesson.picks.sum()))
        clock: Array = speed(fast, kappa, pack) * np.arange(len(lesson.discrepancy), dtype=np.float64)
        taken = _steps_at(clock[found], start, kappa, pack)
        itd = None if itd is None else int(_steps_at(clock[[itd]], start, kappa, pack)[0])
    return ScaledLesson(
        step=taken,
        discrepancy=lesson.discrepancy[found],
        itd=itd,
        longest=int(taken[-1]),
        times_fewer=1.0 if itself else float(taken[-1]) / max(1, len(lesson)),
        diverged=lesson.outcome is Outcome.DIVERGED,
    )


def speed(rate: float, kappa: float, pack: int) -> float:
    """Return how far along its path one step takes a lesson, -k ln(1 - 2 eta kappa / k).

    Examples
    --------
    >>> round(speed(0.1, 1.0, 1) / speed(0.01, 1.0, 1), 4)
    11.0452
    """
    pulled = 2.0 * rate * kappa / pack
    return -pack * math.log1p(-pulled) if pulled < 1.0 else math.inf


def forgetting_at(fast: float, start: LessonStart, kappa: float, pack: int) -> float:
    """Return what a lesson at another rate must forget per step to lose as much of f on the same part of the path."""
    if not start.fades:
        return 0.0
    update = start.update
    rate = start.rate(0) / (1.0 - update.momentum)
    times = speed(fast, kappa, pack) / speed(rate, kappa, pack)
    kept = (1.0 - update.forgetting) * max(0.0, 1.0 - rate * update.decay)
    return float(min(1.0 - kept**times, 1.0 - 1e-12))


def _budget(start: LessonStart, fast: float, steps: int) -> int:
    if start.max_iterations is None:
        return steps
    slow = min(start.rate(0), start.rate(start.max_iterations)) / (1.0 - start.update.momentum)
    return min(steps, start.max_iterations, 1 + math.ceil(start.max_iterations * max(slow / fast, 1e-12) * 1.2))


def _steps_at(clock: Array, start: LessonStart, kappa: float, pack: int) -> Steps:
    """Return the first steps of the lesson asked about at which its own clock has come so far."""
    rate, lasts = start.constant_rate, 1.0 - start.update.momentum
    late = np.where(clock > 0, start.update.momentum / lasts, 0.0)
    if rate is not None:
        per_step = speed(rate / lasts, kappa, pack)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            steps = np.ceil(clock / per_step * (1.0 - 1e-12) + late)
        if not steps.max(initial=0.0) < MOST_STEPS:
            raise InvalidInput(
                f"there is no forecast for a lesson of more than {MOST_STEPS:.2g} steps",
                way_out=f"raise the learning rate, which is {rate:g}",
            )
        return steps.astype(np.int64)
    passed, times = 0.0, [0.0]
    while passed < clock[-1] and len(times) <= LONGEST_SCHEDULE:
        passed += speed(start.rate(len(times) - 1) / lasts, kappa, pack)
        times.append(passed)
    return np.ceil(np.searchsorted(np.array(times), clock * (1.0 - 1e-12)) + late).astype(np.int64)

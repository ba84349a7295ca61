r"""When single lessons of a random teacher first fall below the tolerance, by giving some of them.

The ITD is a first passage: a lesson is over when M is below the tolerance *once*. M varies around its mean from draw to
draw, so that a lesson ends at a dip, long before the mean gets there where the mean falls slowly. When the mean is low
enough says little then; short of a law of these dips, lessons are given to copies of the learner, with draws of their
own. What they may cost is a number of steps that depends on the lesson alone, so a forecast is the same everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.lesson.outcome import Outcome
from nimt.theory.lesson_start import LessonStart

MOST_LESSONS = 24
FEWEST_LESSONS = 8  # of which none may be longer than its share of the budget
HOPELESS = 2  # lessons in a row that miss the tolerance, after which no other is given
LIKELY = 0.95  # share of single lessons in the interval
STREAM = 0x46697273  # keeps these draws apart from those of the lesson that is forecast

# seconds of a step on the compiled engines, right within a factor of three
STEP_SECONDS = 0.3e-6
POINT_SECONDS = 2e-9  # for each example and each point of the pool
DRAW_SECONDS = 15e-6  # of a pack without replacement


@dataclass(frozen=True, eq=False)
class Passages:
    """The first steps below the tolerance of some lessons, sorted; infinite where it is later than `limit`."""

    steps: Array
    limit: int
    diverged: bool

    @property
    def median(self) -> int | None:
        """The step that half of the lessons need at most, None where it is beyond the limit."""
        middle = float(np.median(self.steps))
        return round(middle) if math.isfinite(middle) else None

    def interval(self) -> tuple[int, int | None]:
        """Return where the next lesson is expected: by Student's law of the logarithms, as all of them are positive.

        Examples
        --------
        >>> Passages(np.array([90.0, 95, 100, 105, 110]), 1000, diverged=False).interval()
        (78, 127)
        >>> Passages(np.array([90.0, 95, 100, 105, np.inf]), 1000, diverged=False).interval()
        (90, None)
        """
        if not np.isfinite(self.steps).all():
            return int(self.steps[0]), None
        logs, count = np.log(np.maximum(self.steps, 1.0)), len(self.steps)
        from scipy.special import stdtrit  # here, since it takes long to load; scipy.stats takes twice as long

        reach = float(stdtrit(count - 1, 0.5 + LIKELY / 2) * logs.std(ddof=1) * math.sqrt(1 + 1 / count))
        return math.floor(math.exp(logs.mean() - reach)), math.ceil(math.exp(logs.mean() + reach))


def give_lessons(start: LessonStart, pack: int, *, replace: bool, longest: float, seconds: float) -> Passages | None:
    """Give lessons to copies of the learner; None where a lesson that is short enough for the budget has no step."""
    per_step = STEP_SECONDS + POINT_SECONDS * pack * len(start.pool) + (0.0 if replace else DRAW_SECONDS)
    budget = int(seconds / per_step)
    limit = int(min(longest, budget // FEWEST_LESSONS))
    if limit < 1:
        return None
    steps, taken, diverged = list[float](), 0, 0
    for seed in np.random.default_rng([start.seed, STREAM]).integers(2**62, size=MOST_LESSONS).tolist():
        lesson = start.teach_copy(limit, seed=seed)
        steps.append(math.inf if lesson.itd is None else lesson.itd)
        taken += len(lesson)
        diverged += lesson.outcome is Outcome.DIVERGED
        if (len(steps) == HOPELESS and not np.isfinite(steps).any()) or (
            len(steps) >= FEWEST_LESSONS and taken >= budget
        ):
            break
    return Passages(np.sort(steps), limit, diverged=diverged == len(steps))

"""Between random and greedy: draw the pack at random, points with larger errors more often."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.rule import DrawnByOdds, Rule
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, residual_size

ROOTS = (2.0**-0.75, 2.0**-0.5, 2.0**-0.25, 1.0)  # of 1/8, 1/4, 1/2 and 1
COLD = 1e-3  # below this temperature the odds of the largest score could underflow
SMALLEST, LARGEST = 1e-300, 1e300  # beyond these, scales are not rounded


@dataclass(frozen=True, eq=False)
class SoftTeacher(Teacher):
    r"""Draw k different points, each with the odds exp(score / (temperature * largest score)).

    The score is |f - f*|. Points are drawn one after another, without replacement. Dividing by the largest score keeps
    the odds unchanged when all errors shrink by the same factor. Temperature 0 is `GreedyTeacher`, infinity is a
    uniform draw without replacement.

    One point per step is drawn by `one_by_odds`, which compiled engines do without looking at all points. A larger pack
    is the k largest of score / (temperature * largest score) + Gumbel noise: the same odds (the Gumbel-top-k trick).

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    temperature : float
        From 0 to infinity. At 0.1 a point with half the largest error is drawn exp(-5) times as often as
        the point with the largest.
    look : schedule, optional
        At which steps the scores are computed anew; by default at every step. The noise is always new.

    Examples
    --------
    >>> SoftTeacher(k=0.5, temperature=0.2).pack_size(10)
    5
    """

    k: int | float | PackSchedule = field(default=1, kw_only=True)  # by name: SoftTeacher(0.1) could mean either
    temperature: float = field(default=0.1, kw_only=True)
    look: LookSchedule | None = field(default=None, kw_only=True)

    at_random: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#A65628"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"soft": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        if not is_number(self.temperature) or not float(self.temperature) >= 0:
            raise InvalidInput(
                f"must be a number from 0 to infinity, got {self.temperature!r}", parameter="temperature"
            )

    @property
    def method(self) -> str:
        return f"soft-{self.k}" if self.temperature == 0.1 else f"soft-{self.k} (temperature {self.temperature:g})"

    def compiled_rule(self) -> Rule | None:
        if self.has_schedule or not behaves_like(self, SoftTeacher, "select"):
            return None
        if self.temperature == 0:
            return Rule()
        return Rule(DrawnByOdds(float(self.temperature))) if is_one(self.k) else None

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        scores = residual_size(seen.predictions, seen.target)
        k = count_of(self.k, len(view), view.step)
        temperature = float(self.temperature)
        if temperature == 0:
            chosen = largest(scores, k)
        elif is_one(self.k):
            chosen = np.array([one_by_odds(scores, temperature, view.rng)])
        else:
            noise = view.rng.gumbel(size=len(view))
            scale = temperature * float(np.max(scores))
            # noise times scale, not scores over scale: no division by zero
            keys = noise if np.isinf(scale) or not np.max(scores) else scores + scale * noise
            chosen = largest(keys, k)
        return view.show(chosen, scores, memory=seen.to_remember(self.look))


def is_one(k: object) -> bool:
    """Say whether k means one example per step on every pool."""
    return is_whole(k) and int(k) == 1


def one_by_odds(scores: Array, temperature: float, rng: np.random.Generator) -> int:
    """Draw one index with the odds exp(score / (temperature * top)), top being the largest score.

    An index is drawn with the odds exp(score / (temperature * scale)) of a scale somewhat above the top, and accepted
    with a probability that makes up for the difference. The scale changes seldom and the top with every step, so that
    compiled code only renews the odds of points whose score changed.

    Examples
    --------
    >>> one_by_odds(np.array([0.0, 1.0, 0.5]), 0.01, np.random.default_rng(0))
    1
    """
    top = float(np.max(scores))
    if not np.isfinite(top):  # the learner has diverged: it is corrected first where it did
        return int(np.argmax(scores))
    scale = scale_above(top, temperature)
    odds = np.exp((scores / scale - 1.0) / temperature) if top > 0 else np.ones(len(scores))
    sums = np.cumsum(odds)
    while True:
        index = min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(scores) - 1)
        share = (scores[index] / top - 1.0) * (1.0 - top / scale) / temperature if top > 0 else 0.0
        if rng.random() < np.exp(share):
            return index


def scale_above(top: float, temperature: float) -> float:
    """Return the power of 2^(1/4) that is next above a number, or the number itself where its odds would underflow.

    Examples
    --------
    >>> scale_above(1.1, 0.1) == 2.0**0.25, scale_above(1.1, 1e-4)
    (True, 1.1)
    """
    if temperature < COLD or not SMALLEST < top < LARGEST:
        return top
    fraction, exponent = math.frexp(top)
    return math.ldexp(next(root for root in ROOTS if root >= fraction), exponent)

"""Between random and greedy: draw the pack at random, points with larger errors more often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import is_number
from nimt.errors import InvalidInput
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.base import Selection, Teacher, View, count_of, largest, residual_size


@dataclass(frozen=True, eq=False)
class SoftTeacher(Teacher):
    r"""Draw k different points, each with the odds exp(score / (temperature * largest score)).

    The score is |f - f*|. A pack is the k largest of score / (temperature * largest score) + Gumbel noise, which is
    drawing one point after another, without replacement, by those odds (the Gumbel-top-k trick). Dividing by the
    largest score keeps the odds unchanged when all errors shrink by the same factor. Temperature 0 is `GreedyTeacher`,
    infinity is a uniform draw without replacement.

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

    k: int | float | PackSchedule = 1
    temperature: float = 0.1
    look: LookSchedule | None = None

    at_random: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#A65628"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"soft": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        if not is_number(self.temperature) or not float(self.temperature) >= 0:
            raise InvalidInput(f"temperature must be a number from 0 to infinity, got {self.temperature!r}")

    @property
    def method(self) -> str:
        return f"soft-{self.k}"

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        scores = residual_size(seen.predictions, seen.target)
        k = count_of(self.k, len(view), view.step)
        noise = view.rng.gumbel(size=len(view))
        scale = self.temperature * float(np.max(scores))
        # noise times scale, not scores over scale: no division by zero, and at temperature 0 only the scores remain
        keys = noise if np.isinf(scale) or not np.max(scores) else scores + scale * noise
        return view.shown(largest(keys, k), scores, memory=seen.to_remember(self.look))

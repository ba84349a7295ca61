"""Measure, during a lesson, the error on points that are held out."""

from __future__ import annotations

from typing import Any

from nimt.engines.engine import Engine
from nimt.lesson.held_out import HeldOutRows

PAIRS = 4_000_000  # kernel values per measurement: of many points, only the first so many are measured on the way
FEWEST = 200  # points, however many centres there are


class HeldOutWatch:
    """The held-out points of a lesson, and the errors on them so far.

    Parameters
    ----------
    held : HeldOutRows or None
    """

    def __init__(self, held: HeldOutRows | None) -> None:
        self.held = held
        self.errors: dict[int, float] = {}

    def look(self, step: int, engine: Engine) -> None:
        """Measure the learner of an engine at a step, once."""
        if self.held is None or step in self.errors:
            return
        points, target = self.held.for_curve()
        learner: Any = engine.to_learner()
        centers = len(getattr(learner, "centers_", ()))
        count = max(FEWEST, PAIRS // max(1, centers))
        self.errors[step] = self.held.measure(learner.predict(points[:count]), target[:count]).main[1]

"""How much one lesson may ask of a machine whose user waits at a page."""

from __future__ import annotations

import nimt
from nimt.errors import InvalidInput
from nimt.lesson.recording import LARGE_PACK

MOST_BYTES = 2**29  # of memory a lesson may need, by its plan
MOST_WORK = 2e11  # additions a lesson may need, by its plan
MOST_PAIRS = 2**22  # examples a lesson may show with their coefficients kept


def refuse_what_is_too_much(plan: nimt.task.Plan, pack: int, steps: int, points: int, outputs: int = 1) -> None:
    """Refuse a lesson whose plan needs too much memory or work for a page that is waited for."""
    if plan.bytes > MOST_BYTES:
        raise InvalidInput(f"this lesson would need {plan.bytes / 1e6:,.0f} MB: take fewer points or another teacher")
    felt = plan.window or points
    moved = min(pack * felt, 40 * points) + (0 if plan.engine == "grid" and pack == 1 else points)
    work = float(steps) * moved * outputs
    if work > MOST_WORK:
        fitting = max(1, int(steps * MOST_WORK / work))
        raise InvalidInput(f"{steps:,} steps of this lesson would take minutes: ask for {fitting:,} at most")
    if pack < LARGE_PACK and steps * pack * outputs > MOST_PAIRS:
        fitting = MOST_PAIRS // (pack * outputs)
        raise InvalidInput(f"{steps:,} steps of {pack} examples are too many to keep: ask for {fitting:,}")
    if plan.engine not in ("grid", "reference") and points > 2000:
        raise InvalidInput(f"{points:,} scattered points are too many to draw step by step: 2,000 at most")

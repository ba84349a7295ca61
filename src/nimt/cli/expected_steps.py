"""What other commands say of a lesson before it begins, where that takes no time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nimt.cli.settings import RunSettings

if TYPE_CHECKING:
    from nimt.theory.forecasting import Forecast


LARGEST_POOL = 100_000  # points: beyond it a forecast takes memory that the lesson does not need


def quick_forecast(settings: RunSettings, problem: Any, learner: Any, teacher: Any) -> Forecast | None:
    """Return a forecast where it takes less than about a second; None where it takes longer or there is none."""
    from nimt.theory.forecasting import forecast_in_a_second

    if settings.tolerance is None or len(problem.pool) > LARGEST_POOL:
        return None
    return forecast_in_a_second(
        learner, teacher, problem.pool, problem.target,
        tol=settings.tolerance, measure=settings.measure, seed=settings.seed,
    )  # fmt: skip

"""What other commands say of a lesson before it begins, where that takes no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nimt.task.task import Task
    from nimt.theory.forecasting import Forecast


LARGEST_POOL = 100_000  # points: beyond it a forecast takes memory that the lesson does not need


def quick_forecast(task: Task) -> Forecast | None:
    """Return a forecast where it takes less than about a second; None where it takes longer or there is none."""
    from nimt.theory.forecasting import forecast_in_a_second

    return None if len(task.pool) > LARGEST_POOL else forecast_in_a_second(task)

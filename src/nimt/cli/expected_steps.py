"""What other commands say of a lesson before it begins, where that takes no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nimt.counting import say_count

if TYPE_CHECKING:
    from nimt.task.task import Task
    from nimt.theory.forecasting import Forecast


LARGEST_TRIAL = 3 << 29  # bytes
TRIAL_SECONDS = 0.2
LARGEST_PIECE = 10_000  # steps at a time: few of them are faster than the clock can tell
LARGEST_POOL = 100_000  # points: beyond it a forecast takes memory that the lesson does not need


def quick_forecast(task: Task) -> Forecast | None:
    """Return a forecast where it takes less than about a second; None where it takes longer or there is none."""
    from nimt.theory.forecasting import forecast_in_a_second

    return None if len(task.pool) > LARGEST_POOL else forecast_in_a_second(task)


def measure_seconds(task: Task, steps: int) -> float | None:
    """Return about how long so many steps take, without compiling and drawing, by giving a few of them.

    None where too much memory would have to be filled for that, or where no step can be taken.
    """
    if task.plan.bytes > LARGEST_TRIAL:
        return None
    session, size = task.begin(quiet=True), 1
    while session.outcome is None and session.elapsed < TRIAL_SECONDS:
        session.advance(size)
        size = min(4 * size, LARGEST_PIECE)
    return session.elapsed / session.step * steps if session.step else None


def say_time(seconds: float) -> str:
    """Return a time as a person says it.

    Examples
    --------
    >>> say_time(0.2), say_time(100.0), say_time(7300.0)
    ('less than a minute', 'about 2 minutes', 'about 122 minutes')
    """
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {say_count(minutes, 'minute')}"

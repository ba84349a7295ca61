"""The progress of a lesson as a bar: step, discrepancy, steps per second and time left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from nimt.counting import counted
from nimt.lesson.outcome import Outcome
from nimt.teaching.bars import DELAY, Bar, bar_for, time_left

if TYPE_CHECKING:
    from nimt.session.session import Progress

Watcher = Callable[["Progress"], Any]


@contextlib.contextmanager
def progress_bar(
    progress: bool | str,
    *,
    title: str = "",
    expected: int | None = None,
    file: IO[str] | None = None,
    delay: float = DELAY,
) -> Iterator[Watcher | None]:
    """Hand out a callback for `teach` that moves a bar; None where it would not be seen.

    Parameters
    ----------
    progress, file, delay : as in `bar_for`
    title : str
        Written before the bar.
    expected : int, optional
        The forecast number of steps: the bar and the time left are about it until it is passed.
    """
    bar = bar_for(progress, file, delay)
    if bar is None:
        yield None
        return
    try:
        yield LessonBar(bar, title, expected)
    finally:
        bar.close()


def both(callback: Watcher | None, bar: Watcher | None) -> Watcher | None:
    """Return a callback that moves the bar and answers what the other one answers."""
    if callback is None or bar is None:
        return callback or bar
    asked, moved = callback, bar

    def call(progress: Progress) -> Any:
        moved(progress)
        return asked(progress)

    return call


class LessonBar:
    """A callback that shows on a bar how far a lesson is, and which of several that run one after another.

    Parameters
    ----------
    bar : Bar
    title : str
    expected : int or None
    """

    def __init__(self, bar: Bar, title: str, expected: int | None) -> None:
        self.bar = bar
        self.title = title
        self.expected = expected
        self.lesson: int = 0
        self.first: int = 0  # the step at which this lesson was first seen: a resumed one did the earlier steps before
        self.started: float = 0.0
        self.latest: int = -1
        self.is_over = False

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        if self.lesson == 0 or self.is_over or progress.step < self.latest:
            self.lesson += 1
            self.first, self.started = progress.step, now
        self.latest = progress.step
        self.is_over = progress.outcome is not None
        which = "" if self.lesson == 1 else f"lesson {self.lesson}, "
        if progress.outcome is not None and progress.outcome is not Outcome.INTERRUPTED:
            ended = ending(progress.step, progress.outcome, progress.discrepancy)
            self.bar.show(self.title, 1, 1, [which + words for words in ended])
            return
        last, about = end_of(progress.step, progress.max_iterations, self.expected)
        passed = now - self.started
        speed = (progress.step - self.first) / passed if passed > 0 else 0.0
        said = [which + words for words in wordings(progress.step, last, about, progress.discrepancy, speed)]
        self.bar.show(self.title, progress.step, last, said)


def wordings(step: int, last: int, about: str, discrepancy: float, speed: float) -> list[str]:
    """Return how far a lesson is in words, from all of them to those that a narrow terminal has room for.

    Examples
    --------
    >>> print(*wordings(35_831, 100_000, "about ", 1.2345e-5, 8_000.0), sep=chr(10))
    step 35,831 of about 100,000, M 1.234e-05, 8,000 steps/s, 0:08 left
    step 35,831 of about 100,000, M 1.234e-05, 0:08 left
    step 35,831, M 1.234e-05, 0:08 left
    36 %, M 1.2e-05, 0:08 left
    36 %, M 1.2e-05
    """
    left = f", {time_left((last - step) / speed)}" if speed > 0 else ""
    fast = f", {speed:,.0f} steps/s" if speed > 0 else ""
    of, share = f"step {step:,} of {about}{last:,}", f"{100 * step / max(last, 1):.0f} %"
    precise, rough = f"M {discrepancy:.3e}", f"M {discrepancy:.1e}"
    return [
        f"{of}, {precise}{fast}{left}",
        f"{of}, {precise}{left}",
        f"step {step:,}, {precise}{left}",
        f"{share}, {rough}{left}",
        f"{share}, {rough}",
    ]


def ending(step: int, outcome: Outcome, discrepancy: float) -> list[str]:
    """Return how a lesson ended in words, in as many lengths as `wordings` has.

    Examples
    --------
    >>> ending(145, Outcome.CONVERGED, 9.93e-4)[0]
    '145 steps, tolerance reached, M 9.930e-04'
    """
    told = f"{counted(step, 'step')}, {outcome.brief}"
    return [f"{told}, M {discrepancy:.3e}"] * 2 + [told] * 2 + [counted(step, "step")]


def end_of(step: int, max_iterations: int, expected: int | None) -> tuple[int, str]:
    """Return the step at which the lesson should end, and "about " where that is a forecast.

    Examples
    --------
    >>> end_of(100, 20_000, 3_060), end_of(3_200, 20_000, 3_060), end_of(100, 2_000, 3_060)
    ((3060, 'about '), (20000, ''), (2000, ''))
    """
    if expected is None or not step < expected < max_iterations:
        return max_iterations, ""
    return expected, "about "

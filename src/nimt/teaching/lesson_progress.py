"""The progress of a lesson as a bar: step, discrepancy, steps per second and time left."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from nimt.lesson.outcome import Outcome
from nimt.teaching.bars import DELAY, check_progress, make_bar

if TYPE_CHECKING:
    from nimt.session.session import Progress

T = TypeVar("T")
Watcher = Callable[["Progress"], Any]


@contextlib.contextmanager
def progress_bar(
    progress: bool | str, *, expected: int | None = None, delay: float = DELAY, **options: Any
) -> Iterator[Watcher | None]:
    """Hand out a callback for `teach` that moves a bar; None where it would not be seen.

    Parameters
    ----------
    progress, delay, **options : as in `make_bar`
    expected : int, optional
        The forecast number of steps: the bar and the time left are about it until it is passed.
    """
    check_progress(progress)
    if not progress:
        yield None
        return
    watcher = LessonBar(progress, expected, delay, options)
    try:
        yield watcher
    finally:
        watcher.close()


def both(callback: Callable[[T], Any] | None, bar: Callable[[T], Any] | None) -> Callable[[T], Any] | None:
    """Return a callback that moves the bar and answers what the other one answers."""
    if callback is None or bar is None:
        return callback or bar
    asked, moved = callback, bar

    def call(progress: T) -> Any:
        moved(progress)
        return asked(progress)

    return call


class LessonBar:
    """A callback that shows on a bar how far a lesson is; of several that run one after another, each has its bar.

    Parameters
    ----------
    progress, delay, options : as in `make_bar`
    expected : int or None
    """

    def __init__(self, progress: bool | str, expected: int | None, delay: float, options: dict[str, Any]) -> None:
        self.progress, self.expected, self.delay, self.options = progress, expected, delay, options
        self.lesson: int = 0
        self.began: float = time.monotonic()
        self.latest: int = -1
        self.is_over = False
        self.bar: Any = None

    def __call__(self, progress: Progress) -> None:
        if self.lesson == 0 or self.is_over or progress.step < self.latest:
            self._begin(progress)
        self.latest = progress.step
        self.is_over = progress.outcome is not None
        if self.bar is None:
            return
        words = f"{progress.letter} {progress.discrepancy:{'.1%' if progress.in_per_cent else '.3e'}}"
        self.bar.total, is_forecast = find_end(progress.step, progress.max_iterations, self.expected)
        if progress.outcome is not None and progress.outcome is not Outcome.INTERRUPTED:
            self.bar.total = max(progress.step, 1)
            words = f"{words}, {progress.outcome.brief}"
        elif is_forecast:
            words = f"{words}, end by forecast"
        self.bar.set_postfix_str(words, refresh=False)
        self.bar.update(progress.step - self.bar.n)

    def _begin(self, progress: Progress) -> None:
        """Make the bar of the next lesson, which may have been resumed at a step."""
        self.close()
        self.lesson += 1
        which = {} if self.lesson == 1 else {"title": f"lesson {self.lesson}"}
        wait = max(0.0, self.delay - (time.monotonic() - self.began))
        last, _ = find_end(progress.step, progress.max_iterations, self.expected)
        made = {"unit": " steps", "initial": progress.step, "total": last, **self.options, **which}
        self.bar = make_bar(self.progress, delay=wait, **made)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def find_end(step: int, max_iterations: int, expected: int | None) -> tuple[int, bool]:
    """Return the step at which the lesson should end, and whether that is a forecast.

    Examples
    --------
    >>> find_end(100, 20_000, 3_060), find_end(3_200, 20_000, 3_060), find_end(100, 2_000, 3_060)
    ((3060, True), (20000, False), (2000, False))
    """
    if expected is None or not step < expected < max_iterations:
        return max_iterations, False
    return expected, True

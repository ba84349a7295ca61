"""How far a sweep is: lessons done and failed, and the time left, for a callback or on a bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from nimt.counting import counted
from nimt.teaching.bars import DELAY, bar_for, check_progress, time_left


@dataclass(frozen=True)
class SweepProgress:
    """What a progress callback receives after every lesson; as text, what a bar says.

    Attributes
    ----------
    done, total : int
        Lessons finished, those that were kept before included, and lessons in all. The total shrinks when a teacher
        turns out to draw nothing, so that it needs one seed only.
    failed : int
    elapsed, left : float, float or None
        Seconds since the call, and to its end at the speed so far; None before the first lesson of this call.

    Examples
    --------
    >>> print(SweepProgress(done=30, total=120, failed=2, elapsed=60.0, left=180.0))
    30 of 120 lessons, 2 failed, 3:00 left
    """

    done: int
    total: int
    failed: int
    elapsed: float
    left: float | None

    def __str__(self) -> str:
        return self.wordings()[0]

    def wordings(self) -> list[str]:
        """Return the same in words that become fewer, for narrow terminals.

        Examples
        --------
        >>> SweepProgress(done=30, total=120, failed=2, elapsed=60.0, left=180.0).wordings()[1:]
        ['30 of 120, 2 failed, 3:00 left', '30 of 120, 2 failed']
        """
        failed = f", {self.failed:,} failed" if self.failed else ""
        left = "" if self.left is None else f", {time_left(self.left)}"
        short = f"{self.done:,} of {self.total:,}{failed}"
        return [f"{self.done:,} of {counted(self.total, 'lesson')}{failed}{left}", f"{short}{left}", short]


Listener = Callable[[SweepProgress], object]


def check_sweep_progress(progress: object) -> None:
    """Refuse what is neither a truth value, nor "auto", nor a function."""
    if not callable(progress):
        check_progress(progress, "True, False, 'auto' or a function")


@contextlib.contextmanager
def sweep_bar(
    progress: bool | str | Listener, *, title: str = "", file: IO[str] | None = None, delay: float = DELAY
) -> Iterator[Listener | None]:
    """Hand out what is to be called after every lesson: a function that moves a bar, the function given, or None.

    Parameters
    ----------
    progress : callable, or as in `nimt.teaching.bars.bar_for`
    title : str
        Written before the bar.
    file, delay : as in `nimt.teaching.bars.bar_for`
    """
    if callable(progress):
        yield progress
        return
    bar = bar_for(progress, file, delay)
    if bar is None:
        yield None
        return
    try:
        yield lambda now: bar.show(title, now.done, now.total, now.wordings())
    finally:
        bar.close()

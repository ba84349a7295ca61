"""How far a sweep is: lessons done and failed, and the time left, for a callback or on a bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nimt.counting import say_count
from nimt.teaching.bars import check_progress, make_bar


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
    30 of 120 lessons, 2 failed, 03:00 left
    """

    done: int
    total: int
    failed: int
    elapsed: float
    left: float | None

    def __str__(self) -> str:
        return f"{self.done:,} of {say_count(self.total, 'lesson')}, {self.rest}".removesuffix(", ")

    @property
    def rest(self) -> str:
        """What is said besides how many are done: how many failed, and the time left."""
        failed = [f"{self.failed:,} failed"] if self.failed else []
        left = [] if self.left is None else [f"{str(timedelta(seconds=int(self.left))).removeprefix('0:')} left"]
        return ", ".join(failed + left)


Listener = Callable[[SweepProgress], object]


def check_sweep_progress(progress: object) -> None:
    """Refuse what is neither a truth value, nor "auto", nor a function."""
    if not callable(progress):
        check_progress(progress, "True, False, 'auto' or a function")


@contextlib.contextmanager
def sweep_bar(progress: bool | str | Listener, **options: Any) -> Iterator[Listener | None]:
    """Hand out what is to be called after every lesson: a function that moves a bar, the function given, or None.

    Parameters
    ----------
    progress : callable, or as in `nimt.teaching.bars.make_bar`
    **options : as in `nimt.teaching.bars.make_bar`
    """
    if callable(progress):
        yield progress
        return
    bar = make_bar(progress, bar_format="{l_bar}{bar}| {n_fmt} of {total_fmt} lessons{postfix}", **options)

    def show(now: SweepProgress) -> None:
        bar.total = now.total
        bar.set_postfix_str(now.rest, refresh=False)
        bar.update(now.done - bar.n)

    try:
        yield None if bar is None else show
    finally:
        if bar is not None:
            bar.close()

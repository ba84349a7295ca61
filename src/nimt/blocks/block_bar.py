"""The progress of a lesson by blocks as a bar: blocks that had their turn, discrepancy, time left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from nimt.blocks.driving import BlockProgress
from nimt.lesson.outcome import Outcome
from nimt.teaching.bars import check_progress, make_bar

FORMAT = "{l_bar}{bar}| {n:,} of {total:,} blocks{postfix}"


@contextlib.contextmanager
def block_bar(progress: bool | str, **options: Any) -> Iterator[Callable[[BlockProgress], object] | None]:
    """Hand out a callback for `teach_blocks` that moves a bar; None where it would not be seen.

    Parameters
    ----------
    progress, **options : as in `make_bar`
    """
    check_progress(progress)
    bar = make_bar(progress, **options | {"bar_format": FORMAT, "unit": " blocks"}) if progress else None
    if bar is None:
        yield None
        return

    def move(now: BlockProgress) -> None:
        bar.total = now.blocks
        bar.set_postfix_str(say_progress(now), refresh=False)
        bar.update(now.blocks_done - bar.n)
        bar.refresh()

    try:
        yield move
    finally:
        bar.close()


def say_progress(now: BlockProgress) -> str:
    """Return what a bar says beside the blocks.

    Examples
    --------
    >>> say_progress(BlockProgress(9, 10, 0.5, 1.0, 3, 2, 4, 75.0))
    'turn 3, M 5.000e-01, 1:15 left'
    """
    words = f"turn {now.turn}, M {now.discrepancy:.3e}"
    if now.outcome is not None and now.outcome is not Outcome.INTERRUPTED:
        return f"{words}, {now.outcome.brief}"
    if now.seconds_left is None:
        return words
    minutes, seconds = divmod(round(now.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{words}, {f'{hours}:{minutes:02d}' if hours else minutes}:{seconds:02d} left"

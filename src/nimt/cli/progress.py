"""The progress bar: step, discrepancy, steps per second, time left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nimt.teaching.running import Progress

Watcher = Callable[["Progress"], Any]


@contextlib.contextmanager
def progress_bar(title: str, *, shown: bool, expected: int | None = None) -> Iterator[Watcher | None]:
    """Hand out a callback for `nimt.teach` that moves a bar on stderr; None where it would not be seen.

    `expected` is the forecast number of steps: the bar and the time left are about it until it is passed.
    """
    from rich.console import Console

    from nimt.cli.console import plain, stderr

    console = Console(file=stderr())
    if not shown or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[place]}"),
        TextColumn("M {task.fields[discrepancy]}"),
        TextColumn("{task.fields[speed]} steps/s"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        transient=True,
    )
    began: list[int] = []  # where a resumed lesson goes on: its earlier steps say nothing about the speed now
    with bar:
        task = bar.add_task(plain(title), total=None, place="", discrepancy="", speed="", start=False)

        def moved(progress: Progress) -> None:
            if not began:
                began.append(progress.step)
                bar.start_task(task)
            seconds = bar.tasks[0].elapsed or 0.0
            speed = f"{(progress.step - began[0]) / seconds:,.0f}" if seconds > 0 else ""
            last, about = end_of(progress.step, progress.max_iterations, expected)
            bar.update(
                task,
                total=last,
                completed=progress.step,
                place=f"step {progress.step:,} of {about}{last:,}",
                discrepancy=f"{progress.discrepancy:.3e}",
                speed=speed,
            )

        yield moved


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

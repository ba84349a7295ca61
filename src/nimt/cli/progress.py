"""The progress bar: step, discrepancy, steps per second, time left."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nimt.teaching.running import Progress

Watcher = Callable[["Progress"], Any]


@contextlib.contextmanager
def progress_bar(title: str, *, shown: bool) -> Iterator[Watcher | None]:
    """Hand out a callback for `nimt.teach` that moves a bar on stderr; None where nobody would see it."""
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
            bar.update(
                task,
                total=progress.max_iterations,
                completed=progress.step,
                place=f"step {progress.step:,} of {progress.max_iterations:,}",
                discrepancy=f"{progress.discrepancy:.3e}",
                speed=speed,
            )

        yield moved

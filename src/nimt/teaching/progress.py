"""Progress bars: step, discrepancy, steps per second and time left, in a terminal or a notebook."""

from __future__ import annotations

import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from html import escape
from typing import IO, TYPE_CHECKING, Any

from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

    from nimt.teaching.running import Progress

Watcher = Callable[["Progress"], Any]

DELAY = 1.0  # seconds that a lesson takes before "auto" shows a bar
NOTEBOOK_INTERVAL = 0.2  # seconds between two messages to a notebook


def check_progress(progress: bool | str) -> None:
    """Refuse what is neither a truth value nor "auto"."""
    if progress is not True and progress is not False and not (isinstance(progress, str) and progress == "auto"):
        raise InvalidInput(f"progress must be True, False or 'auto', got {progress!r}")


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
    progress : bool or "auto"
        "auto" shows a bar where a person looks on (a terminal, a notebook) when the lesson takes over a second; True
        shows it at once, and without a terminal prints one line at the end.
    title : str
        Written before the bar.
    expected : int, optional
        The forecast number of steps: the bar and the time left are about it until it is passed.
    file : stream, optional
        Where a terminal is written to; stderr by default.
    delay : float
        Seconds before "auto" shows it.
    """
    check_progress(progress)
    bar = _bar(progress, title, expected, sys.stderr if file is None else file, delay)
    if bar is None:
        yield None
        return
    try:
        yield bar
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


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def _bar(progress: bool | str, title: str, expected: int | None, file: IO[str], delay: float) -> Bar | None:
    if not progress:
        return None
    from rich.console import Console

    if in_notebook():
        return NotebookBar(title, expected, 0.0 if progress is True else delay)
    console = Console(file=file)
    if progress is True or console.is_terminal:
        return TerminalBar(title, expected, 0.0 if progress is True else delay, console)
    return None


class Bar(ABC):
    """What both kinds share: when a bar appears, which lesson of several it shows, and what it says.

    Parameters
    ----------
    title : str
    expected : int or None
    delay : float
        Seconds after the first call before it appears.
    """

    def __init__(self, title: str, expected: int | None, delay: float) -> None:
        self.title = title
        self.expected = expected
        self.delay = delay
        self.began: float | None = None  # when it was called first
        self.lesson = 1  # of several that are run one after another
        self.first = 0  # the step at which this lesson was first seen: a resumed one did the earlier steps before
        self.started = 0.0
        self.latest = -1

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        if self.began is None or progress.step < self.latest:
            self.lesson += self.began is not None
            self.first, self.started = progress.step, now
            self.began = now if self.began is None else self.began
        self.latest = progress.step
        if now - self.began >= self.delay:
            self.show(progress, now)

    def name(self) -> str:
        return self.title if self.lesson == 1 else f"{self.title} lesson {self.lesson}".strip()

    def speed(self, step: int, now: float) -> float | None:
        """Return steps per second since this lesson was first seen."""
        passed = now - self.started
        return (step - self.first) / passed if passed > 0 and step > self.first else None

    @abstractmethod
    def show(self, progress: Progress, now: float) -> None:
        """Draw how far the lesson is."""

    @abstractmethod
    def close(self) -> None:
        """Remove the bar."""


class TerminalBar(Bar):
    """A bar in a terminal, drawn by rich; it is gone when the lesson has ended."""

    def __init__(self, title: str, expected: int | None, delay: float, console: Console) -> None:
        super().__init__(title, expected, delay)
        self.console = console
        self.bar: Any = None

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[place]}"),
            TextColumn("M {task.fields[discrepancy]}"),
            TextColumn("{task.fields[speed]} steps/s"),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=self.console,
            transient=self.console.is_terminal,
        )
        self.bar.add_task(self.name(), total=None, place="", discrepancy="", speed="")
        self.bar.start()

    def show(self, progress: Progress, now: float) -> None:
        if self.bar is None:
            self._start()
        last, about = end_of(progress.step, progress.max_iterations, self.expected)
        speed = self.speed(progress.step, now)
        self.bar.update(
            0,
            description=self.name(),
            total=last,
            completed=progress.step,
            place=f"step {progress.step:,} of {about}{last:,}",
            discrepancy=f"{progress.discrepancy:.3e}",
            speed="" if speed is None else f"{speed:,.0f}",
        )

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


class NotebookBar(Bar):
    """A bar in a notebook's cell; it stays, with the last step."""

    def __init__(self, title: str, expected: int | None, delay: float) -> None:
        super().__init__(title, expected, delay)
        self.handle: Any = None
        self.shown = -float("inf")
        self.page = ""

    def show(self, progress: Progress, now: float) -> None:
        self.page = self._page(progress, now)
        if now - self.shown >= NOTEBOOK_INTERVAL:
            self.shown = now
            self._send()

    def _send(self) -> None:
        from IPython.display import HTML, display

        if self.handle is None:
            self.handle = display(HTML(self.page), display_id=True)  # type: ignore[no-untyped-call]
        else:
            self.handle.update(HTML(self.page))  # type: ignore[no-untyped-call]

    def _page(self, progress: Progress, now: float) -> str:
        last, about = end_of(progress.step, progress.max_iterations, self.expected)
        speed = self.speed(progress.step, now)
        rate = "" if speed is None else f", {speed:,.0f} steps/s, about {(last - progress.step) / speed:,.0f} s left"
        said = f"step {progress.step:,} of {about}{last:,}, M {progress.discrepancy:.3e}{rate}"
        name = f"{escape(self.name())} " if self.name() else ""
        return (
            f'<div style="font-size: 13px">{name}<progress value="{progress.step}" max="{max(last, 1)}" '
            f'style="width: 16em; vertical-align: middle"></progress> {escape(said)}</div>'
        )

    def close(self) -> None:
        if self.page:
            self._send()


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

"""A bar in a terminal or a notebook: a name, how much of how much is done, and what is said beside it."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from typing import IO, TYPE_CHECKING, Any

from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console

DELAY = 1.0  # seconds that work takes before "auto" shows a bar
LONGEST, SHORTEST = 24, 6  # columns of a bar in a terminal
GAPS = 2  # columns between name, bar and words
NOTEBOOK_INTERVAL = 0.2  # seconds between two messages to a notebook


def check_progress(progress: object, words: str = "True, False or 'auto'") -> None:
    """Refuse what is neither a truth value nor "auto"; `words` names what may be given."""
    if progress is not True and progress is not False and not (isinstance(progress, str) and progress == "auto"):
        raise InvalidInput(f"progress must be {words}, got {progress!r}")


def bar_for(progress: bool | str, file: IO[str] | None = None, delay: float = DELAY) -> Bar | None:
    """Return the bar that `progress` asks for; None where it would not be seen.

    Parameters
    ----------
    progress : bool or "auto"
        "auto" shows a bar where a person looks on (a terminal, a notebook) when the work takes longer than the delay;
        True shows it at once, and without a terminal prints one line at the end.
    file : stream, optional
        Where a terminal is written to; stderr by default.
    delay : float
        Seconds before "auto" shows it.
    """
    check_progress(progress)
    if not progress:
        return None
    from rich.console import Console

    wait = 0.0 if progress is True else delay
    if in_notebook():
        return NotebookBar(wait)
    console = Console(file=sys.stderr if file is None else file)
    return TerminalBar(wait, console) if progress is True or console.is_terminal else None


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def time_left(seconds: float) -> str:
    """Return the time left in words.

    Examples
    --------
    >>> time_left(8.2), time_left(190), time_left(4000)
    ('0:08 left', '3:10 left', '1:06:40 left')
    """
    whole = int(seconds)
    hours = f"{whole // 3600}:{whole // 60 % 60:02d}" if whole >= 3600 else f"{whole // 60}"
    return f"{hours}:{whole % 60:02d} left"


class Bar(ABC):
    """What both kinds share: a bar appears when work takes longer than the delay.

    Parameters
    ----------
    delay : float
        Seconds after the first call before it appears.
    """

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.began: float | None = None

    def show(self, name: str, done: int, total: int, said: Sequence[str]) -> None:
        """Draw how much is done, with a name before the bar and words behind it.

        `said` is the same in several lengths, the longest first, for wide and narrow places.
        """
        now = time.perf_counter()
        self.began = now if self.began is None else self.began
        if now - self.began >= self.delay:
            self.draw(name, done, total, said)

    @abstractmethod
    def draw(self, name: str, done: int, total: int, said: Sequence[str]) -> None:
        """Draw it now."""

    @abstractmethod
    def close(self) -> None:
        """End the bar."""


class TerminalBar(Bar):
    """A bar in a terminal, drawn by rich; it is gone when the work has ended."""

    def __init__(self, delay: float, console: Console) -> None:
        super().__init__(delay)
        self.console = console
        self.bar: Any = None
        self.width, self.has_name = LONGEST, True
        self.brevity = 0  # which of the lengths is shown

    def draw(self, name: str, done: int, total: int, said: Sequence[str]) -> None:
        if self.bar is None:
            from rich.progress import BarColumn, Progress, TextColumn

            self.bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=LONGEST),
                TextColumn("{task.fields[said]}", markup=False),
                console=self.console,
                transient=self.console.is_terminal,
            )
            self.bar.add_task(name, total=None, said="")
            self.bar.start()
        self._fit(len(name), [len(words) for words in said])
        shown = name if self.has_name else ""
        self.bar.update(0, description=shown, total=total, completed=done, said=said[self.brevity])

    def _fit(self, name: int, lengths: list[int]) -> None:
        """Make room in a narrow terminal: a shorter bar, then no name, then fewer words; what was given up stays so."""
        fitting = (place for place, length in enumerate(lengths) if length + SHORTEST + GAPS <= self.console.width)
        self.brevity = max(self.brevity, next(fitting, len(lengths) - 1))
        room = self.console.width - lengths[self.brevity] - GAPS
        self.has_name = self.has_name and room - name - 1 >= SHORTEST
        self.width = max(SHORTEST, min(self.width, room - (name + 1 if self.has_name else 0)))
        self.bar.columns[1].bar_width = self.width

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


class NotebookBar(Bar):
    """A bar in a notebook's cell; it stays, as it was last."""

    def __init__(self, delay: float) -> None:
        super().__init__(delay)
        self.handle: Any = None
        self.sent: float = -float("inf")
        self.page: str = ""

    def draw(self, name: str, done: int, total: int, said: Sequence[str]) -> None:
        before = f"{escape(name)} " if name else ""
        self.page = (
            f'<div style="font-size: 13px">{before}<progress value="{done}" max="{max(total, 1)}" '
            f'style="width: 16em; vertical-align: middle"></progress> {escape(said[0])}</div>'
        )
        now = time.perf_counter()
        if now - self.sent >= NOTEBOOK_INTERVAL:
            self.sent = now
            self._send()

    def _send(self) -> None:
        from IPython.display import HTML, display

        if self.handle is None:
            self.handle = display(HTML(self.page), display_id=True)  # type: ignore[no-untyped-call]
        else:
            self.handle.update(HTML(self.page))  # type: ignore[no-untyped-call]

    def close(self) -> None:
        if self.page:
            self._send()

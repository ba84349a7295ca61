"""Progress bars by tqdm, in a terminal or a notebook."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import warnings
from typing import IO, Any

from nimt.errors import InvalidInput

DELAY = 1.0  # seconds that work takes before "auto" shows a bar
SECONDS_IN_A_LOG = 10.0  # between two lines where no terminal is
WIDE, USUAL_WIDTH = 72, 80  # columns of a terminal that has room for a title, and of one that does not tell
# a narrow terminal cuts off the end, so that what matters most comes first
FORMAT = "{l_bar}{bar}| {remaining} left{postfix}, {n:,} of {total:,}, {rate_fmt}"


def check_progress(progress: object, words: str = "True, False or 'auto'") -> None:
    """Refuse what is neither a truth value nor "auto"; `words` names what may be given."""
    if progress is not True and progress is not False and not (isinstance(progress, str) and progress == "auto"):
        raise InvalidInput(f"must be {words}, got {progress!r}", parameter="progress")


def make_bar(
    progress: bool | str, *, title: str = "", file: IO[str] | None = None, delay: float = DELAY, **options: Any
) -> Any:
    """Return a bar of tqdm; None where it would not be seen.

    Parameters
    ----------
    progress : bool or "auto"
        "auto" shows a bar where a person looks on (a terminal, a notebook) when the work takes longer than the delay,
        and removes it from a terminal at the end; True shows it at once, and leaves it there.
    title : str
        Written before the bar.
    file : stream, optional
        Where a terminal is written to; stderr by default.
    delay : float
        Seconds before "auto" shows it.
    **options
        As tqdm takes them.
    """
    check_progress(progress)
    stream = sys.stderr if file is None else file
    is_terminal = stream.isatty()
    if not progress or not (progress is True or is_terminal or in_notebook()):
        return None
    width = _measure_width(stream)
    usual = {
        "desc": "" if 0 < width < WIDE else title,
        "file": file,
        "delay": 0.0 if progress is True else delay,
        "leave": progress is True or in_notebook(),
        "mininterval": 0.1 if is_terminal or in_notebook() else SECONDS_IN_A_LOG,
        "miniters": 1,
        "ncols": USUAL_WIDTH - 1 if is_terminal and not width else None,
        "dynamic_ncols": width > 0,  # follows a window whose size changes
        "bar_format": FORMAT,
    }
    return bar_class()(**usual | options)


def _measure_width(stream: IO[str]) -> int:
    """Return the columns of a terminal; 0 if it does not tell, or is none."""
    with contextlib.suppress(OSError, ValueError):
        return os.get_terminal_size(stream.fileno()).columns
    return 0


def in_notebook() -> bool:
    """Say whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


@functools.cache
def bar_class() -> Any:
    """Return tqdm's class for where this runs, without the thread and the lock between processes that it has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a notebook has no ipywidgets: tqdm then writes text
        from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        monitor_interval = 0

    Bar.set_lock(threading.RLock())
    return Bar

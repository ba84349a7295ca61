"""The progress bar of the program: on stderr, which may go away, and with a title from a file's name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nimt.session.session import Progress

Watcher = Callable[["Progress"], Any]


@contextlib.contextmanager
def progress_bar(title: str, *, shown: bool, expected: int | None = None) -> Iterator[Watcher | None]:
    """Hand out a callback for `nimt.teach` that moves a bar on stderr; None where it would not be seen.

    `expected` is the forecast number of steps: the bar and the time left are about it until it is passed.
    """
    from nimt.cli.console import plain, stderr
    from nimt.teaching.lesson_progress import progress_bar as bar_on

    on = "auto" if shown else False
    with bar_on(on, title=plain(title), expected=expected, file=stderr(), delay=0.0) as watcher:
        yield watcher

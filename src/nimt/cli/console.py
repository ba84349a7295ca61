"""What the program says: results on stdout, everything else on stderr, and the exit codes.

Whatever comes from a file or an option is printed through here, so that it cannot give orders to the terminal.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import time
from typing import IO, Any, cast

from nimt.wording import say_in_program

DONE = 0
NOT_REACHED = 1
BAD_INPUT = 2
INTERRUPTED = 130
WIDEST = 80  # columns of what is read as prose
SECONDS_BETWEEN = 0.5  # two sentences on what is being done
UNREAD = 141  # what a shell reports for a program that writes into a closed pipe


def say(text: str) -> None:
    """Write a line of results to stdout; at a terminal a sentence is broken between words."""
    line = plain(text)
    print(wrap(line) if sys.stdout.isatty() and not line.startswith(" ") else line)  # drawings begin with a space


def complain(sentence: str, kind: str = "error") -> None:
    """Write one line to stderr."""
    _write_to_stderr(f"nimt: {kind}: {' '.join(say_in_program(sentence).split())}")


def note(sentence: str, *, quiet: bool = False) -> None:
    """Write one line to stderr that is not an error."""
    if not quiet:
        _write_to_stderr(f"nimt: {say_in_program(sentence)}")


def announce(sentence: str, *, quiet: bool = False) -> None:
    """Say at once, to a person at a terminal, what is going to be done: loading it takes longer than a person waits."""
    if stderr().isatty():
        note(sentence, quiet=quiet)


class Doing:
    """Says on stderr what is being done: the first sentence at once, later ones where work takes long."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.latest = -math.inf

    def __call__(self, sentence: str) -> None:
        now = time.monotonic()
        if now - self.latest >= SECONDS_BETWEEN:
            self.latest = now
            note(sentence, quiet=self.quiet)


def plain(text: str) -> str:
    r"""Return text with every character that does not print as its escape: a name may hold orders to the terminal.

    Examples
    --------
    >>> print(plain("caf\u00e9\x1b[2J\u202e"))
    café\x1b[2J\u202e
    """
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


class Unbroken(io.TextIOBase):
    """A stream like stderr that takes no harm when its reader is gone: a lesson does not end with its terminal."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):  # ValueError: it was closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        return bool(self._stream.isatty())

    def fileno(self) -> int:
        return int(self._stream.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self._stream.encoding)


def stderr() -> IO[str]:
    """Return stderr as everything here writes to it."""
    return cast(IO[str], Unbroken(sys.stderr))


def can_print(text: str) -> bool:
    """Say whether stdout has letters for a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def prepare_streams() -> bool:
    """Make the standard streams fit to be written to; say whether stdout is open.

    A closed stream is opened on the null device: otherwise the next file that is opened would get its number, and
    messages would be written into that file. A letter that the terminal cannot show is written as its escape.
    """
    is_open = sys.stdout is not None
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115 (open to the end)
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    return is_open


def _write_to_stderr(line: str) -> None:
    stream = stderr()
    stream.write((wrap(plain(line)) if stream.isatty() else plain(line)) + "\n")  # a file has a line per sentence
    stream.flush()


def wrap(line: str, width: int | None = None) -> str:
    """Return a line with breaks between words, so that it fits a terminal, and is read in 80 columns at most.

    Examples
    --------
    >>> print(wrap("nimt: error: a sentence that is long", 24))
    nimt: error: a sentence
      that is long
    """
    import shutil
    import textwrap

    most = min(WIDEST, width or shutil.get_terminal_size().columns)
    return textwrap.fill(line, most, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)

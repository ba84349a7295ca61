"""What the program says: results on stdout, everything else on stderr, and the exit codes."""

from __future__ import annotations

import sys

DONE = 0
NOT_REACHED = 1
BAD_INPUT = 2
INTERRUPTED = 130
UNREAD = 141  # what a shell reports for a program that writes into a closed pipe


def complain(sentence: str, kind: str = "error") -> None:
    """Write one line to stderr."""
    line = " ".join(sentence.split())
    print(f"nimt: {kind}: {line}", file=sys.stderr, flush=True)


def note(sentence: str, *, quiet: bool = False) -> None:
    """Write one line to stderr that is no complaint."""
    if not quiet:
        print(f"nimt: {sentence}", file=sys.stderr, flush=True)

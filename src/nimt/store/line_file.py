"""A file of lines that several processes add to: a line is there as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from nimt.store.claims import hold
from nimt.store.whole_files import write_text

BEGIN = 1 << 20  # bytes in which a line must begin


class LineFile:
    """Lines of text, added one after another.

    After a kill half a line may be there: it is passed over, and the next one begins on a line of its own.

    Parameters
    ----------
    path : Path
    lock : Path
        The file that is held while a line is added.
    """

    def __init__(self, path: Path, lock: Path) -> None:
        self.path = path
        self.lock = lock
        self._read = 0  # bytes that are known

    def holds(self, mark: bytes) -> bool:
        """Say whether it is a file, and its first lines have this mark; a missing or empty one may become so."""
        if not self.path.exists():
            return True
        if not self.path.is_file():
            return False
        with open(self.path, "rb") as file:
            begin = file.read(BEGIN)
        return not begin or mark in begin

    def read_new(self) -> Iterator[str]:
        """Yield the lines that were written since, by this process or another."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                content = file.read()
        except FileNotFoundError:
            return
        whole, found, _ = content.rpartition(b"\n")
        if found:
            self._read += len(whole) + 1
            for line in whole.split(b"\n"):
                with contextlib.suppress(UnicodeDecodeError):
                    yield line.decode()

    def append(self, line: str) -> None:
        """Add a line, which is on the disk when this returns."""
        lock = hold(self.lock, wait=True)
        assert lock is not None
        try:
            with open(self.path, "a+b") as file:
                length = file.seek(0, os.SEEK_END)
                file.seek(max(0, length - 1))
                begin = b"" if file.read(1) in (b"", b"\n") else b"\n"
                file.write(begin + line.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        finally:
            lock.release()

    def replace(self, lines: list[str]) -> None:
        """Write these lines alone; those of before stay whole until then."""
        write_text(self.path, "".join(f"{line}\n" for line in lines))

"""The folder of a sweep: one line per finished lesson, appended at once, which several processes may share."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nimt.errors import CorruptLesson, InvalidInput, StorageWarning
from nimt.lesson.lesson import Lesson
from nimt.locks import hold
from nimt.sweeps.entries import CutShort, Entry, entry_of_line

if TYPE_CHECKING:
    from filelock import BaseFileLock

ROWS = "sweep.jsonl"
LESSONS = "lessons"
LOCKS = ".locks"
BEGIN = 1 << 20  # bytes in which a row must begin


class SweepFolder:
    """Entries by key, on disk.

    A line is written whole or, after a kill, not: half a line is passed over when the file is read, and the next one
    begins on a line of its own.

    Parameters
    ----------
    path : path
        Made if it is missing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise InvalidInput(f"a sweep is kept in a folder, and {str(self.path)!r} is a file: name a folder")
        try:
            (self.path / LOCKS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"the folder {str(self.path)!r} cannot be made or written to: {error.strerror}"
            ) from None
        self._check_rows()
        self.entries: dict[str, Entry] = {}
        self._read = 0  # bytes of the file that are known
        self._one_thread = threading.RLock()  # the workers ask for lessons while others are written down
        self._claims: dict[str, BaseFileLock] = {}
        self.refresh()

    @property
    def rows(self) -> Path:
        return self.path / ROWS

    def _check_rows(self) -> None:
        """Refuse to read, or add to, what is no file of rows: a folder, a device, a file of something else."""
        if not self.rows.exists():
            return
        if self.rows.is_file():
            with open(self.rows, "rb") as file:
                begin = file.read(BEGIN)
            if not begin or b'"key"' in begin:
                return
        raise InvalidInput(f"{str(self.rows)!r} is not a file that a sweep wrote: name another folder")

    def refresh(self) -> None:
        """Take up the lines that were written since, by this process or another."""
        with self._one_thread:
            altered = []
            for line in self._new_lines():
                try:
                    entry = entry_of_line(line)
                except CutShort:  # by a kill: that lesson is given again
                    continue
                except CorruptLesson as error:
                    altered.append(str(error))
                else:
                    self.entries[entry.key] = entry
            if altered:
                warnings.warn(
                    f"{self.rows} has lines that are left out ({len(altered)}), their lessons count as not given: "
                    f"{altered[0]}",
                    StorageWarning,
                    stacklevel=4,
                )

    def _new_lines(self) -> Iterator[str]:
        try:
            with open(self.rows, "rb") as file:
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

    def claim(self, key: str, *, again: bool = False) -> bool:
        """Take a lesson for this process; False if it is known by now, or if another process is giving it.

        `again` takes one that is known too, to give it once more.
        """
        with self._one_thread:
            try:
                lock = hold(self._place(key))
            except OSError:  # locks cannot be had here: at worst, two processes give the same lesson
                return True
            if lock is None:
                return False
            self.refresh()
            if key in self.entries and not again:
                self._drop(key, lock)
                return False
            self._claims[key] = lock
            return True

    def add(self, entry: Entry, lesson: Lesson | None = None) -> None:
        """Append the entry, and the lesson where lessons are kept; the claim on it ends."""
        with self._one_thread:
            if lesson is not None:
                self.lesson_path(entry.key).parent.mkdir(exist_ok=True)
                lesson.save(self.lesson_path(entry.key))
            self._append(entry.to_line().encode() + b"\n")
            self.entries[entry.key] = entry
            if entry.key in self._claims:
                self._drop(entry.key, self._claims.pop(entry.key))

    def _append(self, line: bytes) -> None:
        lock = hold(self._place("rows"), wait=True)
        assert lock is not None
        try:
            with open(self.rows, "ab") as file:
                file.write(line if self._ends_with_a_line() else b"\n" + line)
                file.flush()
                os.fsync(file.fileno())
        finally:
            lock.release()

    def release(self) -> None:
        """Give back the lessons that were claimed and not given."""
        while self._claims:
            self._drop(*self._claims.popitem())

    def lesson_path(self, key: str) -> Path:
        """Return where the lesson of a key is kept, if lessons are."""
        return self.path / LESSONS / f"{key}.npz"

    def _ends_with_a_line(self) -> bool:
        with open(self.rows, "rb") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - 1))
            return file.read(1) in (b"", b"\n")

    def _place(self, name: str) -> Path:
        return self.path / LOCKS / name

    def _drop(self, key: str, lock: BaseFileLock) -> None:
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            self._place(key).unlink()  # while it is held: whoever waits for it notices
        lock.release()

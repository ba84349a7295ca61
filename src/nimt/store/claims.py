"""What one process has at a time: locks on files and folders, which the system lets go of however a process ends."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nimt.errors import InvalidInput
from nimt.wording import Wording

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = ".nimt-lock"  # of a folder
TRIES = 100
ANOTHER = Wording("name another folder", "give another --out")


def hold(path: Path, *, wait: bool = False) -> BaseFileLock | None:
    """Return the lock on a file, made if it is missing, or None if another holder has it; `.release()` gives it back.

    Parameters
    ----------
    path : Path
        It may be removed by its holder while it is held: others notice that, and make a new one.
    wait : bool
        Wait until the lock is free.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> place = Path(mkdtemp()) / "lock"
    >>> mine = hold(place)
    >>> hold(place) is None
    True
    >>> mine.release()
    """
    from filelock import FileLock, Timeout  # it takes a while to import

    if not path.parent.is_dir():  # filelock would make it
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))

    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        return None
    return lock


class ClaimedFolder:
    """A folder that one process writes to at a time.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: os.stat_result | None = None  # the folder, while it is ours

    def is_still_there(self) -> bool:
        """Say whether the folder we hold is still the one of that name: it may be removed or replaced meanwhile."""
        assert self._found is not None
        try:
            return os.path.samestat(self._found, os.stat(self.path)) and (self.path / LOCK).exists()
        except OSError:
            return False

    def check_it_can_be_written(self) -> None:
        """Refuse, before any work, a folder that may not be made or written to; whether it is free is asked later."""
        there = next(folder for folder in (self.path, *self.path.absolute().parents) if folder.exists())
        if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
            return
        if there == self.path:
            raise self._is_a_file() if there.is_file() else self._refuse("may not be written to")
        why = os.strerror(errno.EACCES if there.is_dir() else errno.ENOTDIR)
        raise InvalidInput(f"the folder {str(self.path)!r} cannot be made: {why}")

    def _is_a_file(self) -> InvalidInput:
        return InvalidInput(f"{str(self.path)!r} is a file", way_out=Wording("name a folder", "give --out a folder"))

    def _refuse(self, why: str) -> InvalidInput:
        return InvalidInput(f"the folder {str(self.path)!r} {why}", way_out=ANOTHER)

    @contextlib.contextmanager
    def make_and_claim(self) -> Iterator[list[Path]]:
        """Hold the folder, and hand out which folders had to be made for it, the innermost first.

        Another process may remove the folder it made, unused, between our finding it and our holding it: then once
        more.
        """
        for _ in range(TRIES):
            made = self._make()
            with self.claim() as there:
                if there:
                    yield made
                    return
        raise self._refuse("is made and removed by another run")

    def _make(self) -> list[Path]:
        """Create the folder and those above it; return the ones that were not there."""
        if self.path.exists() and not self.path.is_dir():
            raise self._is_a_file()
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        try:
            for folder in reversed(missing):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"the folder {str(self.path)!r} cannot be made: {error.strerror}") from None
        return missing

    @contextlib.contextmanager
    def claim(self) -> Iterator[bool]:
        """Hold the folder, so that no other process writes to it; hand out whether it is still there.

        The lock is on a file in the folder: the system lets go of it whenever and however the process ends.
        """
        try:
            lock = hold(self.path / LOCK)
        except OSError as error:
            if not self.path.is_dir():
                yield False
                return
            if isinstance(error, PermissionError):
                raise self._refuse("may not be written to") from None
            raise self._refuse(f"cannot be used ({error.strerror})") from None
        if lock is None:
            problem = f"another run is writing to {str(self.path)!r}"
            raise InvalidInput(problem, way_out=ANOTHER.embed("wait for it, or "))
        try:
            self._found = os.stat(self.path)
            there = self.is_still_there()
            if there and not os.access(self.path, os.W_OK | os.X_OK):
                raise self._refuse("may not be written to")
            yield there
        except FileNotFoundError:
            if self._found is not None:
                raise
            yield False  # removed between our finding it and our holding it
        finally:
            self._found = None
            with contextlib.suppress(OSError):  # while it is held: whoever waits for it notices. Windows keeps the file
                (self.path / LOCK).unlink()
            lock.release()

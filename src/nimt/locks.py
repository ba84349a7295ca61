"""Locks on files, which the system lets go of whenever and however a process ends."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


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

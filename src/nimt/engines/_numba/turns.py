"""Turns of processes that share a folder of compiled code: what one of them compiles, the others wait for and load.

Processes that start together, such as those of a sweep, need the same functions first. Without turns each would compile
them, and two that write at once would lose each other's entries: numba reads its index, adds to it and writes it back.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from filelock import BaseFileLock

LONGEST = 300.0  # seconds to wait: a process that compiles for longer was probably stopped


class Turn:
    """A lock on a file, taken if that can be had: where the folder cannot be written to, nobody waits.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> with Turn(mkdtemp() + "/function") as turn:
    ...     turn.is_held
    True
    """

    def __init__(self, path: str) -> None:
        from filelock import FileLock, Timeout  # it takes a while to import

        self._lock: BaseFileLock | None = FileLock(path + ".lock", thread_local=False)
        try:
            self._lock.acquire(timeout=LONGEST, poll_interval=0.02)
        except (OSError, NotImplementedError, Timeout):
            self._lock = None

    @property
    def is_held(self) -> bool:
        return self._lock is not None

    def end(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def take_turn_to_compile(cache: Any, signature: Any) -> Turn:
    """Wait until no other process compiles a function for this signature; `cache` is numba's of that function."""
    cache._impl.locator.ensure_cache_path()
    digest = hashlib.sha256(str(signature).encode()).hexdigest()[:16]
    return Turn(f"{cache._cache_file._index_path}.{digest}")


def save_in_turn(files: Any, key: Any, data: Any) -> None:
    """Do what `IndexDataCacheFile.save` does, one process at a time, and the data before the index that names it."""
    with Turn(files._index_path):
        overloads = files._load_index()
        name = overloads.get(key)
        if name is None:
            numbers = range(1, len(overloads) + 2)
            name = next(name for name in map(files._data_name, numbers) if name not in overloads.values())
        files._save_data(name, data)
        files._save_index(overloads | {key: name})

"""A file that is written again and again: whole, never over anything else, and with the one before kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nimt.errors import CheckpointWarning, CorruptLesson, InvalidInput, MissingFile, warn
from nimt.store import records
from nimt.store.whole_files import is_archive_of_ours, place_of, refuse_what_is_not_ours

EVERY = 3.0  # seconds, or more if writing one takes long
WORTH = 4.0  # times smaller: arrays that compress less take longer to compress than to write
SHARE = 0.05  # the largest share of the time that checkpoints may take


class CheckpointFile:
    """Where the checkpoints of one lesson are written.

    Parameters
    ----------
    path : path
    kind : str
        What the file is, as `records.write` takes it.
    exists, is_whole : bool
        Whether the checkpoint that is there is of this lesson, and whether it is known to be complete.
    """

    def __init__(
        self, path: str | os.PathLike[str], kind: str, *, exists: bool = False, is_whole: bool = False
    ) -> None:
        self.kind = kind
        self.place: Path = checkpoint_place(Path(path))
        self._folder: os.stat_result = self.place.parent.stat()
        self.exists: bool = exists
        self.failure: Exception | None = None  # why the latest one could not be written
        self._is_whole: bool = is_whole
        self._next = 0.0

    def expects(self, elapsed: float) -> None:
        """Plan the next one, a lesson having taken so many seconds."""
        self._next = elapsed + EVERY

    def is_due(self, elapsed: float) -> bool:
        """Say whether it is time to write one."""
        return elapsed >= self._next

    def write(self, make: Callable[[], dict[str, Any]], step: int, elapsed: float, *, is_last: bool = False) -> None:
        """Write what `resume` needs and keep the checkpoint before; on a full disk warn, and continue the lesson.

        The last one is made as small as a lesson that is saved.
        """
        began = time.perf_counter()
        content = make()
        self.failure = None
        try:
            self._replace(content, records.WORTH if is_last else WORTH)
        except (OSError, InvalidInput) as error:
            self.failure = error
            kept = "the checkpoint before it is complete" if self.exists else "it has no checkpoint yet"
            warn(
                f"the checkpoint {self.place} could not be written at step {step} ({error}): the lesson "
                f"continues, and {kept}",
                CheckpointWarning,
            )
        self._next = elapsed + max(EVERY, (time.perf_counter() - began) / SHARE)

    def _replace(self, content: dict[str, Any], worth: float) -> None:
        """Write the new one, and only then move the old one away; a damaged one never replaces a complete one."""
        place = self.place
        if not os.path.samestat(self._folder, place.parent.stat()):
            raise InvalidInput(f"the folder {place.parent} was removed, and another was made in its place")
        fresh = place.with_name(place.name + ".next")
        if fresh.is_file():
            fresh.unlink()  # of a run that was killed
        records.write(fresh, self.kind, content, worth=worth)
        if not self.exists:  # a checkpoint of another lesson, which must not be resumed by mistake
            previous_of(place).unlink(missing_ok=True)
        elif place.exists() and (self._is_whole or is_whole(place, self.kind)):
            os.replace(place, previous_of(place))
        os.replace(fresh, place)
        self.exists = self._is_whole = True


def checkpoint_place(path: Path) -> Path:
    """Return where checkpoints are written; refuse a place taken by anything but checkpoints."""
    places = (path, previous_of(path))
    # if one of them is a checkpoint of nimt, the other is accepted too: it may be damaged beyond recognition
    if not any(place_of(place).exists() and is_archive_of_ours(place) for place in places):
        for place in places:
            refuse_what_is_not_ours(place)
    return place_of(path)


def previous_of(path: Path) -> Path:
    """Return where the checkpoint before this one is kept; a link is followed, as when it is written."""
    place = place_of(path)
    return place.with_name(place.name + ".previous")


def has_checkpoint(path: Path) -> bool:
    """Say whether a checkpoint was written to this path, or was being replaced there."""
    return any(place.is_file() and place.stat().st_size > 0 for place in (path, previous_of(path)))


def read_checkpoint(path: Path, kind: str) -> tuple[dict[str, Any], bool]:
    """Read the checkpoint, or the one before it if it is damaged or missing; say, too, whether it is the newest."""
    previous = previous_of(path)
    try:
        return records.read(path, kind), True
    except FileNotFoundError:
        if not previous.exists():
            raise MissingFile(f"there is no checkpoint {path}") from None
    except CorruptLesson as error:
        if not previous.exists():
            raise
        warn(f"{error}; continuing from the checkpoint before it, {previous}", CheckpointWarning)
    return records.read(previous, kind), False


def is_whole(path: Path, kind: str) -> bool:
    """Say whether a file is a checkpoint that can be read."""
    try:
        records.read(path, kind)
    except (CorruptLesson, OSError):
        return False
    return True

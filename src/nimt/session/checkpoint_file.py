"""The file of a running lesson: written whole or not at all, and never over anything else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nimt.errors import CheckpointWarning, CorruptLesson, InvalidInput, warn
from nimt.files import is_archive_of_ours, place_of, refuse_what_is_not_ours
from nimt.lesson import storage
from nimt.lesson.checkpoints import previous_of
from nimt.lesson.content import KIND
from nimt.session.interrupts import delay_interrupt

EVERY = 3.0  # seconds, or more if writing one takes long
WORTH = 4.0  # times smaller: arrays that compress less take longer to compress than to write
SHARE = 0.05  # the largest share of the time that checkpoints may take


class CheckpointFile:
    """Where the checkpoints of one lesson are written.

    Parameters
    ----------
    path : path
    exists, is_whole : bool
        Whether the checkpoint that is there is of this lesson, and whether it is known to be complete.
    """

    def __init__(self, path: str | os.PathLike[str], *, exists: bool = False, is_whole: bool = False) -> None:
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
        with delay_interrupt():
            content = make()
            self.failure = None
            try:
                self._replace(content, storage.WORTH if is_last else WORTH)
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
        storage.write(fresh, KIND, content, worth=worth)
        if not self.exists:  # a checkpoint of another lesson, which must not be resumed by mistake
            previous_of(place).unlink(missing_ok=True)
        elif place.exists() and (self._is_whole or is_whole(place)):
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


def is_whole(path: Path) -> bool:
    """Say whether a file is a checkpoint that can be read."""
    try:
        storage.read(path, KIND)
    except (CorruptLesson, OSError):
        return False
    return True

"""Where the checkpoints of a lesson are, and what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nimt.errors import CheckpointWarning, CorruptLesson, InvalidInput, warn
from nimt.files import place_of
from nimt.lesson import storage
from nimt.lesson.content import KIND
from nimt.lesson.lesson import Lesson


def previous_of(path: Path) -> Path:
    """Return where the checkpoint before this one is kept; a link is followed, as when it is written."""
    place = place_of(path)
    return place.with_name(place.name + ".previous")


def read_checkpoint(path: Path) -> tuple[dict[str, Any], bool]:
    """Read the checkpoint, or the one before it if it is damaged or missing; say, too, whether it is the newest."""
    previous = previous_of(path)
    try:
        return storage.read(path, KIND), True
    except FileNotFoundError:
        if not previous.exists():
            raise InvalidInput(f"there is no checkpoint {path}") from None
    except CorruptLesson as error:
        if not previous.exists():
            raise
        warn(f"{error}; continuing from the checkpoint before it, {previous}", CheckpointWarning)
    return storage.read(previous, KIND), False


def load_checkpoint(path: Path) -> Lesson:
    """Return the lesson so far that a checkpoint holds; its learner is made again when it is asked for."""
    return Lesson.of_content(read_checkpoint(path)[0], path)

"""Where the checkpoints of a lesson are, and what they hold."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from nimt.errors import CheckpointWarning, CorruptLesson, InvalidInput
from nimt.files import place_of
from nimt.lesson import storage

CHECKPOINT = "checkpoint"


def previous_of(path: Path) -> Path:
    """Return where the checkpoint before this one is kept; a link is followed, as when it is written."""
    place = place_of(path)
    return place.with_name(place.name + ".previous")


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Read the checkpoint, or the one before it if it is damaged or missing."""
    previous = previous_of(path)
    try:
        return storage.read(path, CHECKPOINT)
    except FileNotFoundError:
        if not previous.exists():
            raise InvalidInput(f"there is no checkpoint {path}") from None
    except CorruptLesson as error:
        if not previous.exists():
            raise
        warnings.warn(f"{error}; continuing from the checkpoint before it, {previous}", CheckpointWarning, stacklevel=4)
    return storage.read(previous, CHECKPOINT)


def recorded_steps(path: Path) -> int:
    """Return how many steps a checkpoint holds."""
    record = read_checkpoint(path).get("record")
    curve = record.get("discrepancy") if isinstance(record, dict) else None
    if not isinstance(curve, np.ndarray) or curve.ndim != 1 or curve.size == 0:
        raise CorruptLesson(f"{path} is marked as a checkpoint but its content is incomplete: it has no curve")
    return len(curve) - 1

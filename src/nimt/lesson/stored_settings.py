"""The settings of a lesson as a file holds them: everything that is read of them later is checked here."""

from __future__ import annotations

import math
from typing import Any

from nimt.arrays import is_number, is_whole
from nimt.errors import CorruptLesson, InvalidInput
from nimt.lesson.descriptions import is_foreign
from nimt.losses import make_described_loss
from nimt.measures import MEASURES

NEEDED = {
    "nimt",
    "versions",
    "method",
    "holdout",
    "learner",
    "teacher",
    "max_iterations",
    "tol",
    "measure",
    "seed",
    "snapshots",
}


def check_settings(settings: Any) -> dict[str, Any]:
    """Return the settings read from a file, or refuse those that are incomplete or of another kind."""
    if not isinstance(settings, dict) or not set(settings) >= NEEDED:
        raise CorruptLesson("the file was altered: its settings are incomplete")
    for name, fits in (
        ("nimt", isinstance(settings["nimt"], str)),
        ("versions", _are_words(settings["versions"])),
        ("max_iterations", _is_count(settings["max_iterations"])),
        ("tol", settings["tol"] is None or _is_finite(settings["tol"])),
        ("measure", _is_measure(settings["measure"])),
        ("seed", _is_count(settings["seed"])),
        ("snapshots", isinstance(settings["snapshots"], list) and all(map(_is_count, settings["snapshots"]))),
        ("method", _is_method(settings.get("method"))),
        ("teacher", isinstance(settings["teacher"], dict)),
        ("learner", _is_learner(settings["learner"])),
    ):
        if not fits:
            raise CorruptLesson(f"the file was altered: of its settings, {name!r} is {settings.get(name)!r:.80}")
    return settings


def check_seconds(content: dict[str, Any], name: str) -> float:
    """Return a duration that a file holds."""
    found: Any = content.get(name)
    if not _is_finite(found) or found < 0:
        raise CorruptLesson(f"the file was altered: {name!r} is {found!r:.80}, where seconds are needed")
    return float(found)


def _is_count(found: Any) -> bool:
    return is_whole(found) and found >= 0


def _is_finite(found: Any) -> bool:
    try:
        return is_number(found) and math.isfinite(found)
    except OverflowError:  # a whole number beyond all floats
        return False


def _are_words(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(word, str) for word in (*found, *found.values()))


def _is_measure(found: Any) -> bool:
    if isinstance(found, str):
        return found in MEASURES
    named = isinstance(found, dict) and all(isinstance(found.get(key), str) for key in ("label", "axis"))
    return named and isinstance(found.get("higher_is_better"), bool)


def _is_method(found: Any) -> bool:
    told = isinstance(found, dict) and isinstance(found.get("name"), str) and "colour" in found
    return told and isinstance(found["colour"], str | None)


def _is_learner(found: Any) -> bool:
    """Say whether a learner is described whose kernel, loss and rate can be told; what is foreign has a name."""
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        return False
    if is_foreign(found):
        return isinstance(found.get("name"), str)
    rate: Any = found.get("learning_rate")
    if is_foreign(rate):
        rate = "auto" if isinstance(rate.get("name"), str) else math.nan
    if rate is not None and rate != "auto" and not _is_finite(rate):
        return False
    try:
        for part in ("kernel", "loss"):
            if isinstance(found.get(part), dict) and not isinstance(found[part].get("type"), str):
                return False
        make_described_loss(found.get("loss"))
        return _is_printable(found)  # whether it can be made again is seen when the taught learner is
    except (InvalidInput, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        return False


def _is_printable(found: Any) -> bool:
    """Say whether a description consists of parts that a table can print, of numbers that are floats."""
    if isinstance(found, dict):
        named = isinstance(found.get("type", ""), str)
        return named and all(isinstance(name, str) and _is_printable(part) for name, part in found.items())
    if isinstance(found, list):
        return all(_is_printable(part) for part in found)
    return is_number(found) or isinstance(found, bool) or not isinstance(found, int)  # an int may be beyond all floats

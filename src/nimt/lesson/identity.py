"""What makes a lesson this one and no other, as a short text: its learner, teacher, pool, target and rules.

The only fingerprint of lessons: run folders, checkpoints, comparisons, sweeps and the paper's experiments use it. Code
of the user is part of it, since descriptions hold a mark of that code. What cannot be identified equals nothing, not
even itself, so that nothing is reused by mistake; `check_identified` refuses it before any work.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

import numpy as np

from nimt.errors import InvalidInput
from nimt.option_table import OPTIONS

CODE = "code"  # of a description: the mark of what is not nimt's own, None where there is none
SKOPS = "skops"  # of a description: an estimator as skops writes it, which is never twice the same
# its budget may grow, and versions change, before it goes on
OF_THE_LESSON = ("learner", "teacher", "pool", "target", "tol", "measure", "seed")
# all but these make later steps differ, or change when the lesson ends
UNDECIDED = (
    "nimt", "versions", "method", "per_output", "target_function",
    *(name for name, option in OPTIONS.items() if not option.decides),
)  # fmt: skip
BY_VALUES = ("paper", "rms", "accuracy")  # measures that need the target on the pool alone


def identity(settings: dict[str, Any]) -> str:
    """Return the same text for the settings of the same lesson, and another for those of another.

    Examples
    --------
    >>> identity({"seed": 1}) == identity({"seed": 1, "max_iterations": 9})
    True
    >>> identity({"seed": 1}) == identity({"seed": 2})
    False
    """
    return fingerprint({name: settings.get(name) for name in OF_THE_LESSON} | _target_elsewhere(settings))


def difference(before: dict[str, Any], now: dict[str, Any]) -> str | None:
    """Name the first setting by which two lessons differ; None if they are the same lesson.

    Examples
    --------
    >>> plain = {"learner": 1, "record": "auto"}
    >>> difference(plain, plain), difference(plain, plain | {"learner": 2})
    (None, 'learner')
    """
    earlier, later = deciding(before), deciding(now)
    for name in later:
        if fingerprint(earlier.get(name)) != fingerprint(later[name]):
            return name
    records = {before["record"], now["record"]}
    return "record" if len(records) == 2 and "auto" not in records else None


def _target_elsewhere(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the function that was given as target, where the lesson needs more of it than its values on the pool."""
    measure = settings.get("measure", BY_VALUES[0])
    if settings.get("box") is None and isinstance(measure, str) and measure in BY_VALUES:
        return {}
    return {"target_function": settings.get("target_function")}


def deciding(settings: dict[str, Any]) -> dict[str, Any]:
    """Return those settings of a lesson that `difference` looks at."""
    rest = (name for name in settings if name not in (*OF_THE_LESSON, *UNDECIDED))
    return {name: settings.get(name) for name in (*OF_THE_LESSON, *rest)} | _target_elsewhere(settings)


def check_identified(description: Any) -> None:
    """Refuse what cannot be known again, before lessons are kept that are to be known again."""
    name = find_unidentified(description)
    if name is not None:
        raise InvalidInput(
            f"it cannot be said whether {name} is still the same when this is called again: make it of functions, "
            f"classes and plain values, with imports at the top of the file, or leave out=, checkpoint= and "
            f"on_existing= out"
        )


def find_unidentified(description: Any) -> str | None:
    """Return the name of a part that cannot be identified; None if all can."""
    if isinstance(description, dict):
        if CODE in description and description[CODE] is None:
            return str(description.get("name"))
        description = list(description.values())
    if isinstance(description, list | tuple):
        return next((name for part in description if (name := find_unidentified(part)) is not None), None)
    return None


def fingerprint(value: Any) -> str:
    """Return a short text for settings made of numbers, text and arrays, the same for equal ones."""
    return digest(json.dumps(_identifying(value), sort_keys=True, default=_plain))


def digest(text: str) -> str:
    """Return a short fingerprint of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _identifying(value: Any) -> Any:
    """Return what identifies a description: what cannot be identified gets a mark that no other has."""
    if isinstance(value, list | tuple):
        return [_identifying(part) for part in value]
    if not isinstance(value, dict):
        return value
    told = {name: _identifying(part) for name, part in value.items() if CODE not in value or name != SKOPS}
    if CODE in value and value[CODE] is None:
        told[CODE] = secrets.token_hex(16)
    return told


def _plain(value: Any) -> Any:
    """Return what JSON cannot hold as something it can: an array by its shape, its kind and its bytes."""
    if isinstance(value, np.ndarray):
        return [list(value.shape), value.dtype.str, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    return value.item() if isinstance(value, np.generic) else str(value)

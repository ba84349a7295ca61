"""Teachers by the names that the command line gives them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nimt.errors import InvalidInput
from nimt.teachers.per_output import PerOutput
from nimt.teachers.teacher import Teacher

PER_OUTPUT = "-per-output"


def list_spellings() -> dict[str, tuple[type[Teacher], dict[str, Any]]]:
    """Return every spelling with its class and parameters; each teacher of this package declares its own.

    Examples
    --------
    >>> "greedy" in list_spellings(), list_spellings()["whole"][1]
    (True, {'k': 1.0})
    """
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"nimt.teachers.{module.name}")
    found = {
        spelling: (kind, dict(parameters))
        for kind in _below(Teacher)
        if kind.__module__.startswith("nimt.teachers.")
        for spelling, parameters in kind.__dict__.get("spellings", {}).items()
    }
    return dict(sorted(found.items()))


def parse_teacher(name: str, **parameters: Any) -> Teacher:
    """Return the teacher of that spelling.

    Any name may end in "-per-output".

    Examples
    --------
    >>> parse_teacher("random", k=3).name
    'RFT-3'
    >>> parse_teacher("random-per-output").name
    'RFT-1 per output'
    """
    if name.endswith(PER_OUTPUT):
        return PerOutput(parse_teacher(name.removesuffix(PER_OUTPUT), **parameters))
    teachers = list_spellings()
    if name not in teachers:
        problem = (
            f"must be one of {', '.join(teachers)}, or for several outputs one of these with {PER_OUTPUT} at its end, "
            f"got {name!r}"
        )
        raise InvalidInput(problem, parameter="teacher")
    kind, fixed = teachers[name]
    return kind(**parameters | fixed)


def _below(kind: type[Teacher]) -> Iterator[type[Teacher]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)

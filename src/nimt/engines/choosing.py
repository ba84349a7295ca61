"""Which engine runs a task."""

from __future__ import annotations

from nimt.engines.base import Engine, Task
from nimt.engines.reference import ReferenceEngine
from nimt.errors import InvalidInput

ENGINES = ("auto", "reference")


def make_engine(name: str, task: Task) -> Engine:
    """Return the engine of that name, made ready; "auto" takes the fastest that covers the task."""
    if name not in ENGINES:
        raise InvalidInput(f"engine must be one of {', '.join(ENGINES)}, got {name!r}")
    return ReferenceEngine(task)

"""Which engine runs a task."""

from __future__ import annotations

from nimt.engines.base import Engine, Task
from nimt.engines.reference import ReferenceEngine
from nimt.errors import InvalidInput

ENGINES = ("auto", "reference", "grid", "neighbours")


def make_engine(name: str, task: Task) -> Engine:
    """Return the engine of that name, made ready; "auto" takes the fastest that covers the task."""
    if name not in ENGINES:
        raise InvalidInput(f"engine must be one of {', '.join(ENGINES)}, got {name!r}")
    from nimt.engines.sparse import SparseEngine
    from nimt.operators.grid import GridOperator
    from nimt.operators.neighbours import NeighbourOperator
    if name=="grid": return SparseEngine(task, GridOperator(task.learner.kernel, task.pool))
    if name=="neighbours": return SparseEngine(task, NeighbourOperator(task.learner.kernel, task.pool))
    return ReferenceEngine(task)

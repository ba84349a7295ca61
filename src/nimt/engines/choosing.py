"""Which engine runs a task, what it will need, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from nimt.engines.base import Engine, Task
from nimt.engines.box import BoxEngine
from nimt.engines.compiled import uncovered
from nimt.engines.reference import ReferenceEngine
from nimt.errors import InvalidInput, NotEnoughMemory
from nimt.learners.kernel import KernelLearner
from nimt.operators.dense import GRAM_LIMIT
from nimt.operators.features import RandomFeatures
from nimt.operators.grid import GridOperator
from nimt.operators.neighbours import PAIR_BYTES, NeighbourOperator, count_pairs
from nimt.operators.streamed import CACHE
from nimt.pools.base import Grid
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.synthesis import SynthesisTeacher

ENGINES = ("auto", "reference", "grid", "neighbours", "streamed")

NEIGHBOURS_LIMIT = 2**31  # bytes that lists of neighbours may take before streaming columns is the better bargain
NEAR_SHARE = 0.1  # of the pool within reach on average, beyond which lists gain nothing over columns
LARGEST_POOL = 2**31 - 1  # slots are counted in 32 bits


@dataclass(frozen=True)
class Plan:
    """How a lesson would run.

    Attributes
    ----------
    engine : str
    bytes : int
        Estimated memory at its peak, beyond the arrays given.
    window : int or None
        Points that one example changes: the cells of the kernel's window, or neighbours on average; None for all.
    reason : str
    """

    engine: str
    bytes: int
    window: int | None
    reason: str

    def __str__(self) -> str:
        felt = "every point" if self.window is None else f"{self.window} points"
        return f"{self.engine} engine, about {readable(self.bytes)}, an example changes {felt}: {self.reason}"


def readable(count: float) -> str:
    """Return a number of bytes as people say it.

    Examples
    --------
    >>> readable(573_000_000)
    '573 MB'
    """
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def plan_for(name: str | RandomFeatures, task: Task) -> Plan:
    """Decide on an engine without making it; a named one is refused where it cannot run the task."""
    if task.box is not None:
        return _box(name, task)
    if isinstance(name, RandomFeatures):
        return _approximate(name, task)
    if name not in ENGINES:
        raise InvalidInput(
            f"engine must be one of {', '.join(ENGINES)}, nimt.RandomFeatures() or nimt.Nystroem(), got {name!r}"
        )
    reason = uncovered(task)
    if name == "reference" or (name == "auto" and reason):
        return _reference(task, reason or "it was asked for")
    if reason:
        raise InvalidInput(f"engine={name!r} cannot run this lesson: {reason}; use engine='reference' or 'auto'")
    if len(task.pool) > LARGEST_POOL:
        raise InvalidInput(f"the pool has {len(task.pool)} points; the fast engines count them in 32 bits")
    kernel = task.learner.kernel
    if name in ("auto", "grid"):
        if isinstance(task.pool, Grid) and kernel.is_stationary():
            return _grid(task)
        if name == "grid":
            raise InvalidInput(
                f"engine='grid' needs a Grid and a stationary kernel, got {task.pool!r} and {kernel!r}; use 'auto'"
            )
    if name in ("auto", "neighbours"):
        pairs = count_pairs(kernel, task.pool) if kernel.is_stationary() else np.inf
        n = len(task.pool)
        fits = pairs <= max(NEAR_SHARE * n * n, 64 * n) and PAIR_BYTES * pairs <= NEIGHBOURS_LIMIT
        if fits or (name == "neighbours" and np.isfinite(pairs)):
            return _neighbours(task, pairs)
        if name == "neighbours":
            raise InvalidInput(f"engine='neighbours' needs a kernel that ends, {kernel!r} does not; use 'auto'")
    if isinstance(task.teacher, SynthesisTeacher):
        reason = "labels are made on a grid or among neighbours, and this kernel reaches across the pool"
        if name == "streamed":
            raise InvalidInput(f"engine='streamed' cannot run this lesson: {reason}; use 'auto'")
        return _reference(task, reason)
    return _streamed(task)


def make_engine(name: str | RandomFeatures, task: Task, cache_bytes: int = CACHE) -> Engine:
    """Return the engine of that name, made ready; "auto" takes the fastest that covers the task."""
    plan = plan_for(name, task)
    refuse_what_does_not_fit(plan)
    if plan.engine == "box":
        return BoxEngine(task)
    if isinstance(name, RandomFeatures):
        return ReferenceEngine(task, name.operator(task.learner.kernel, task.pool))
    if plan.engine == "reference":
        return ReferenceEngine(task)
    from nimt.engines.sparse import SparseEngine  # numba is loaded only where it is used
    from nimt.engines.streamed import StreamedEngine
    from nimt.engines.synthesising import SynthesisingEngine

    if plan.engine == "streamed":
        return StreamedEngine(task, cache_bytes)
    kernel = task.learner.kernel
    operator: GridOperator | NeighbourOperator
    if plan.engine == "grid":
        assert isinstance(task.pool, Grid)
        operator = GridOperator(kernel, task.pool)
    else:
        operator = NeighbourOperator(kernel, task.pool)
    if isinstance(task.teacher, SynthesisTeacher):
        return SynthesisingEngine(task, operator)
    return SparseEngine(task, operator)


def refuse_what_does_not_fit(plan: Plan) -> None:
    """Raise before the machine does where a lesson needs more memory than there is."""
    free = available_memory()
    if free is not None and plan.bytes > free:
        raise NotEnoughMemory(
            f"this lesson would need about {readable(plan.bytes)} on the {plan.engine} engine and {readable(free)} are "
            f"free: use a smaller pool, a narrower kernel, record='picks', or engine='auto'"
        )


def available_memory() -> int | None:
    """Return the bytes that can be had now, None where the system does not tell."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _reference(task: Task, reason: str) -> Plan:
    n = len(task.pool)
    gram = 8 * n * n
    held = 0
    if hasattr(task.learner, "kernel"):
        held = gram if gram <= GRAM_LIMIT else 2**27
    return Plan("reference", held + 80 * n, None, f"the plain loop, because {reason}")


def _box(name: str | RandomFeatures, task: Task) -> Plan:
    if name not in ("auto", "reference"):
        raise InvalidInput(f"a lesson in a Box has an engine of its own: leave engine={name!r} out")
    return Plan("box", 200 * len(task.pool), None, "the teacher may show any point of a box")


def _approximate(approximation: RandomFeatures, task: Task) -> Plan:
    if type(task.learner) is not KernelLearner:
        raise InvalidInput(f"{approximation.label} approximate a kernel, and {type(task.learner).__name__} has none")
    needed = 8 * len(task.pool) * (2 * approximation.components + 10)
    return Plan(approximation.name, needed, None, "it was asked for; the lesson differs from the exact one")


def _grid(task: Task) -> Plan:
    assert isinstance(task.pool, Grid)
    operator = GridOperator(task.learner.kernel, task.pool)
    n = len(task.pool)
    single = isinstance(task.teacher, GreedyTeacher) and task.teacher.k == 1 and not isinstance(task.teacher.k, float)
    needed = 80 * n + 16 * operator.cells + (8 * n if single else 24 * n)
    reach = "one step changes a small window" if operator.cells < n else "the window covers the grid"
    return Plan("grid", needed, min(operator.cells, n), f"the kernel is stationary on a uniform grid, and {reach}")


def _neighbours(task: Task, pairs: float) -> Plan:
    n = len(task.pool)
    average = max(1, round(pairs / n))
    # the lists, their copy in the order of the tournament, and what building them holds
    needed = int(PAIR_BYTES * pairs * 2.2 + 100 * n)
    return Plan("neighbours", needed, average, f"the kernel reaches about {average} of {n} scattered points")


def _streamed(task: Task) -> Plan:
    n = len(task.pool)
    needed = min(CACHE, 8 * n * n) + 8 * n * (task.pool.dimension * 2 + 10)
    return Plan("streamed", needed, None, "the kernel reaches across the pool: columns are computed as needed")

"""Which engine runs a task, what it will need, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from nimt.counting import readable
from nimt.engines import cell_layout
from nimt.engines._numba.compiling import load_numba
from nimt.engines.cell_layout import Cells, estimate_cost, find_obstacle_to_cells
from nimt.engines.codes import CELL, LANES, MARKS
from nimt.engines.engine import Engine
from nimt.engines.error_product import find_obstacle_to_columns, find_obstacle_to_lists
from nimt.engines.parts import find_obstacle, find_other_choice, find_unknown_part, pack_size
from nimt.engines.probing_engine import ProbingEngine, will_hand_over, with_teacher
from nimt.engines.reference_engine import ReferenceEngine
from nimt.engines.tile_layout import count_bytes
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.learner import Pupil
from nimt.learners.linear_learner import LinearLearner, LinearPupil
from nimt.operators.dense import GRAM_BLOCK, GRAM_LIMIT, DenseOperator
from nimt.operators.grid import GridOperator, find_window
from nimt.operators.neighbours import NeighbourOperator, count_pairs
from nimt.operators.random_features import FeatureKernel, FeatureOperator, RandomFeatures
from nimt.operators.streamed_columns import CACHE, StreamedOperator
from nimt.pools.pool import Pool
from nimt.schedules import PackSchedule
from nimt.task.task import Plan, Task
from nimt.teachers.responsive import PROBES, ResponsiveTeacher
from nimt.teachers.rule import Diverse, DrawnByOdds, LabelsByResponse, Rule
from nimt.teachers.teacher import count_of
from nimt.wording import Wording

NEIGHBOURS_LIMIT = 2**33  # bytes that lists of neighbours may take while they are built
FEWEST_IN_CELLS = 8 * CELL  # points
FEWEST_TO_WAIT = 600  # points that a step reaches
WIDE = 0.5  # of the points within reach, on average: then a lesson shows few of them, again and again


@dataclass(frozen=True)
class Choice:
    """An engine that covers a task: how it would run, and how to make it from what was built for the choice."""

    plan: Plan
    seconds: float  # per example shown, estimated
    make: Callable[[Task, Pupil], Engine] = field(repr=False)


def choose(task: Task) -> Choice:
    """Decide on an engine: the one asked for, or for "auto" the cheapest that covers the task.

    What is built here to compare costs is used by the engine, so nothing is built twice.
    """
    name = "reference" if isinstance(task.engine, RandomFeatures) else task.engine
    if name != "reference" and isinstance(task.teacher, ResponsiveTeacher) and will_hand_over(task, task.teacher):
        return _after_probes(task, task.teacher)
    if not isinstance(name, str) or name not in ENGINES:
        other = Wording(", nimt.RandomFeatures() or nimt.Nystroem()", "")
        raise InvalidInput(other.embed(f"must be one of {', '.join(ENGINES)}", f", got {name!r}"), parameter="engine")
    reason = "it was asked for" if name == "reference" else find_obstacle(task)
    if name == "reference" or (name == "auto" and reason):
        return _reference(task, reason or "")
    if reason:
        other = Wording("use engine='reference' or 'auto'", "use --engine reference or auto")
        raise _refuse(name, reason, other)
    rule, learner = task.rule, task.learner
    assert rule is not None  # else it was an obstacle
    if isinstance(learner, LinearLearner) and name in ("auto", "linear"):
        return _linear(task, rule)
    if not isinstance(learner, KernelLearner) or name == "linear":
        reason = f"this is a {type(learner).__name__}"
        raise _refuse(name, reason, Wording("use engine='auto'", "use --engine auto"))
    if name != "auto":
        found = OFFERED[name](task, rule, learner)
        if isinstance(found, str):
            raise _refuse(name, found, Wording("use engine='auto'", "use --engine auto"))
        return found
    on_grid = _grid(task, rule, learner)
    if isinstance(on_grid, Choice):  # where it can run, it is never slower than the others
        return on_grid
    far, pairs = _offer_streamed(task, rule, learner), _count_pairs(learner.kernel, task.pool)
    most = pairs > WIDE * len(task.pool) ** 2
    dearest = StreamedOperator.cost(task.pool, repeats=most).seconds  # also where it cannot run: lists take much memory
    small = len(task.pool) < FEWEST_IN_CELLS  # a few cells, all in reach: columns take as long and are measured exactly
    near = (_neighbours,) if small else (_neighbours, _cells)
    offered = [offer(task, rule, learner, pairs) for offer in near]
    offers = [offer for offer in offered if isinstance(offer, Choice)]
    cheapest = min(offers, key=lambda offer: offer.seconds, default=None)
    if cheapest is not None and cheapest.seconds <= dearest:
        return cheapest
    return far if isinstance(far, Choice) else _reference(task, far)


def _after_probes(task: Task, teacher: ResponsiveTeacher) -> Choice:
    """Plan with the learner's kernel in place of the response that the teacher will read."""
    assert isinstance(task.learner, KernelLearner)
    found = choose(with_teacher(task, teacher.take_for_kernel(task.learner.kernel)))
    plan = found.plan
    if plan.engine == "reference":
        return Choice(plan, found.seconds, lambda task, pupil: ReferenceEngine(task, pupil))
    reason = f"{plan.reason}, after {PROBES} steps of the plain loop from which the teacher reads the response"
    needed = plan.bytes + 8 * len(task.pool) ** 2
    return Choice(
        Plan(plan.engine, needed, plan.window, reason),
        found.seconds,
        lambda task, pupil: ProbingEngine(task, pupil, choose, plan.engine),
    )


def _refuse(name: str, reason: str, way_out: str) -> InvalidInput:
    return InvalidInput(f"cannot run this lesson, because {reason}", parameter="engine", value=name, way_out=way_out)


def _find_unknown_mixture(task: Task, rule: Rule, parts: Sequence[str]) -> str | None:
    """Return which part of an update the streamed engine cannot do with the rest of a task."""
    n = len(task.pool)
    if not parts:
        return None
    if rule.score.keeps_product or isinstance(rule.labels, LabelsByResponse):
        other = rule.score.name if rule.score.keeps_product else rule.labels.name
        return f"the streamed engine cannot update by {parts[0]} and choose by {other}"
    if "budget" in parts and task.per_output:
        return "the streamed engine cannot update by budget for each output"
    columns = n if "budget" in parts else pack_size(task)
    if task.has_schedule or 8 * n * columns > CACHE:
        return f"the streamed engine keeps too few columns to update by {parts[-1]}"
    return None


def _linear(task: Task, rule: Rule) -> Choice:
    n = len(task.pool)
    weights = task.pool.dimension + 1
    plan = Plan("linear", 8 * n * (weights + 8) + count_teacher_bytes(rule, n), None, "a step changes a few weights")

    def make(task: Task, pupil: Pupil) -> Engine:
        load_numba()
        from nimt.engines.linear_engine import LinearEngine

        assert isinstance(pupil, LinearPupil)
        return LinearEngine(task, pupil)

    return Choice(plan, 1e-6 + 1e-9 * n * weights, make)


def _grid(task: Task, rule: Rule, learner: KernelLearner) -> Choice | str:
    unknown = find_unknown_part(rule, "grid", learner.update.parts)
    if unknown is not None:
        return unknown
    kernel, pool = learner.kernel, task.pool
    operator = find_window(kernel, pool)
    if operator is None:
        return f"it needs a Grid and a stationary kernel, got {pool!r} and {kernel!r}"
    n, cells = len(pool), operator.cells
    if rule.score.keeps_product and (obstacle := find_obstacle_to_lists(rule.score, kernel, pool, cells)):
        return obstacle
    k = task.teacher.size
    single = k == 1 and not isinstance(k, float)
    needed = (80 * n + 16 * cells + (8 * n if single else 24 * n)) * task.target[0].size + count_teacher_bytes(rule, n)
    needed += count_bytes(operator) if find_layout(task, operator) == "tiles" else 0
    reached = "one step changes a small window" if cells < n else "the window covers the grid"
    plan = Plan("grid", needed, min(cells, n), f"the kernel is stationary on a uniform grid, and {reached}")
    return Choice(plan, operator.cost().seconds, partial(make_by_windows, operator=operator))


def count_teacher_bytes(rule: Rule, n: int) -> int:
    """Return the bytes a compiled engine keeps for a teacher beyond the scores."""
    per_point = MARKS * isinstance(rule.labels, LabelsByResponse)
    per_point += isinstance(rule.choose, DrawnByOdds) + 3 * isinstance(rule.choose, Diverse)
    return 8 * n * per_point


def _count_pairs(kernel: Kernel, pool: Pool) -> float:
    return count_pairs(kernel, pool) if kernel.is_stationary() else math.inf


def _neighbours(task: Task, rule: Rule, learner: KernelLearner, pairs: float | None = None) -> Choice | str:
    unknown = find_unknown_part(rule, "neighbours", learner.update.parts)
    if unknown is not None:
        return unknown
    kernel, pool, n = learner.kernel, task.pool, len(task.pool)
    if "neighbours" not in pool.operators(kernel):
        return f"it needs a stationary kernel, got {kernel!r}"
    pairs = _count_pairs(kernel, pool) if pairs is None else pairs
    cost = NeighbourOperator.cost(pairs, pool)
    if not cost.seconds < float("inf"):
        return f"it needs a kernel with a finite reach, and {kernel!r} has none: give it a method reach(cut)"
    if cost.memory > NEIGHBOURS_LIMIT:
        return f"the lists of neighbours would take {readable(cost.memory)}"
    if rule.score.keeps_product and (obstacle := find_obstacle_to_lists(rule.score, kernel, pool, pairs / n)):
        return obstacle
    average = max(1, round(pairs / n))
    needed = cost.memory + 100 * n * task.target[0].size + count_teacher_bytes(rule, n)
    plan = Plan("neighbours", needed, average, f"the kernel reaches about {average} of {n} scattered points")
    return Choice(plan, cost.seconds, lambda task, pupil: make_by_windows(task, pupil, NeighbourOperator(kernel, pool)))


def _cells(task: Task, rule: Rule, learner: KernelLearner, pairs: float | None = None) -> Choice | str:
    kernel, pool, n = learner.kernel, task.pool, len(task.pool)
    unknown = find_unknown_part(rule, "cells", learner.update.parts)
    obstacle = find_other_choice(task) or unknown or find_obstacle_to_cells(kernel, pool)
    if obstacle is not None:
        return obstacle
    near = (_count_pairs(kernel, pool) if pairs is None else pairs) / n
    made = isinstance(rule.labels, LabelsByResponse)
    waits = cell_layout.gains_by_waiting(near, pool.dimension) and task.target[0].size == 1 and not made
    cost = estimate_cost(near * n, pool, waits)
    needed = cost.memory + 50 * n * task.target[0].size + count_teacher_bytes(rule, n)
    plan = Plan(
        "cells", needed, min(n, round(near)), f"the kernel reaches about {near:.0f} of {n} points, which lie in cells"
    )

    def make(task: Task, pupil: Pupil) -> Engine:
        load_numba()
        from nimt.engines.cell_engine import CellsEngine, WaitingCellsEngine

        assert isinstance(pupil, KernelPupil)
        return (WaitingCellsEngine if waits else CellsEngine)(task, pupil, Cells(kernel, pool))

    return Choice(plan, cost.seconds, make)


def _offer_streamed(task: Task, rule: Rule, learner: KernelLearner) -> Choice | str:
    parts = learner.update.parts
    unknown = find_unknown_part(rule, "streamed", parts) or _find_unknown_mixture(task, rule, parts)
    if unknown is not None:
        return unknown
    kernel, pool = learner.kernel, task.pool
    obstacle = find_obstacle_to_columns(rule.score, pool, pack_size(task))
    if obstacle is not None:
        return obstacle
    cost = StreamedOperator.cost(pool)
    needed = cost.memory + 8 * len(pool) * (pool.dimension * 2 + 10 * task.target[0].size)
    needed += count_teacher_bytes(rule, len(pool))
    plan = Plan("streamed", needed, None, "the kernel reaches across the pool: columns are computed as needed")

    def make(task: Task, pupil: Pupil) -> Engine:
        load_numba()
        from nimt.engines.streamed_engine import StreamedEngine, find_compiled_column

        assert isinstance(pupil, KernelPupil)
        operator = StreamedOperator(kernel, pool, CACHE, find_compiled_column(kernel, pool))
        return StreamedEngine(task, pupil, operator)

    return Choice(plan, cost.seconds, make)


def _reference(task: Task, reason: str) -> Choice:
    n, q = len(task.pool), task.target[0].size
    kernel = getattr(task.learner, "kernel", None)
    if isinstance(kernel, FeatureKernel) and isinstance(task.learner, KernelLearner):
        return _by_features(task, kernel)
    gram = 8 * n * n
    keeps_gram = gram <= GRAM_LIMIT
    column = 1.5e-9 * n if keeps_gram else 2e-8 * n  # seconds to add one, measured as those below
    if isinstance(task.learner, KernelLearner):
        dense = DenseOperator(task.learner.kernel, task.pool)
        keeps_gram = dense.keeps_gram
        if dense.window is not None and not keeps_gram:
            column = 2e-6 + 1e-8 * min(n, dense.window.cells)
    held = 0 if kernel is None else gram + min(gram, 4 * GRAM_BLOCK) if keeps_gram else 2**27
    plan = Plan("reference", held + 80 * n * q, None, f"the plain loop, because {reason}")
    alone, point = _cost_to_choose(task)
    if getattr(task.teacher, "diverse", False):
        column += 2e-8 * n  # K is computed to choose each, too
    seconds = alone * (q if task.per_output else 1) + q * (point * n + _mean_pack(task) * column)
    return Choice(plan, seconds, lambda task, pupil: ReferenceEngine(task, pupil))


def _cost_to_choose(task: Task) -> tuple[float, float]:
    """Return the seconds that a step of the plain loop takes by itself, and for each point of the pool."""
    rule = task.rule
    if rule is None:
        return 2e-5, 6e-8 if task.teacher.at_random else 4e-9
    if isinstance(rule.labels, LabelsByResponse):
        return 2.2e-4, 1.5e-8
    if isinstance(rule.choose, DrawnByOdds):
        return 5e-5, 1.1e-8
    return 2e-5, 7e-9 if task.per_output else 4e-9


def _mean_pack(task: Task) -> float:
    """Return how many examples a step shows on average, 1 where only the teacher knows."""
    size = task.teacher.size
    if isinstance(size, PackSchedule):
        return 0.5 * (count_of(size.start, task.offered) + count_of(size.end, task.offered))
    return task.pack_size or 1


def _by_features(task: Task, kernel: FeatureKernel) -> Choice:
    components = kernel.features(task.pool.take(np.zeros(1, dtype=np.intp))).shape[1]
    needed = 8 * len(task.pool) * (2 * components + 10)
    plan = Plan("reference", needed, None, "K is a product of features; the lesson differs from the exact one")

    def make(task: Task, pupil: Pupil) -> Engine:
        assert isinstance(pupil, KernelPupil)
        pupil.operator = FeatureOperator(kernel, task.pool)
        return ReferenceEngine(task, pupil)

    return Choice(plan, 1e-9 * len(task.pool) * components, make)


def make_by_windows(task: Task, pupil: Pupil, operator: GridOperator | NeighbourOperator) -> Engine:
    """Return the engine for a kernel with short columns."""
    load_numba()  # only where it is used
    assert isinstance(pupil, KernelPupil)
    layout = find_layout(task, operator) if isinstance(operator, GridOperator) else "points"
    if isinstance(operator, GridOperator) and layout == "tiles":
        from nimt.engines.tile_engine import TilesEngine

        return TilesEngine(task, pupil, operator)
    if isinstance(operator, GridOperator) and layout == "rows":
        from nimt.engines.row_engine import RowsEngine

        return RowsEngine(task, pupil, operator)
    from nimt.engines.sparse_engine import SparseEngine  # its compiled functions take as long to load

    return SparseEngine(task, pupil, operator)


def find_layout(task: Task, operator: GridOperator) -> str:
    """Return how the engine for a grid goes through it: by "points", by "rows", or by "tiles" of which most wait.

    Rows and tiles are for the one largest |f - f*| per step, on a grid whose rows are not short.
    """
    if 2 * task.pool.shape[-1] <= LANES or find_other_choice(task) is not None:
        return "points"
    n, labels = len(task.pool), None if task.rule is None else task.rule.labels
    waits = task.target[0].size == 1 and not isinstance(labels, LabelsByResponse)
    return "tiles" if waits and is_wide(min(operator.cells, n), n) else "rows"


def is_wide(reached: int, n: int) -> bool:
    """Say whether a step reaches so many of n points that tiles which wait are faster than rows; measured."""
    return reached >= FEWEST_TO_WAIT and reached**2 >= 36 * n


OFFERED: dict[str, Callable[[Task, Rule, KernelLearner], Choice | str]] = {
    "grid": _grid,
    "neighbours": _neighbours,
    "cells": _cells,
    "streamed": _offer_streamed,
}
ENGINES = ("auto", "reference", *OFFERED, "linear")

"""What a lesson by blocks would take: memory for each worker, turns, and what is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nimt.blocks.block_task import BlockTask, check_can_be_cut
from nimt.blocks.cost_model import CostPrediction, Costs, measure_costs, predict
from nimt.blocks.partition import GridPartition
from nimt.blocks.teaching_blocks import make_task
from nimt.counting import readable
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import Learner
from nimt.option_table import Options
from nimt.pools.pool import Grid
from nimt.task.cutting import Blocks
from nimt.task.task import Plan, Task
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.teacher import SelectsExamples

MIDDLE = 128  # points along each axis of the part that is taught to find out how many examples a point needs
MOST = 20  # examples per point of that part


@dataclass(frozen=True)
class BlockPlan(Plan):
    """How a lesson by blocks would run.

    Attributes
    ----------
    bytes : int
        That one worker takes at its peak.
    blocks, colours : int
    turns : int or None
        Until the tolerance, if the largest error falls as the discrepancy does; None without a tolerance.
    sent : int
        Bytes that blocks send to each other in one turn, at the most.
    """

    blocks: int = 1
    colours: int = 1
    turns: int | None = None
    sent: int = 0

    def __str__(self) -> str:
        turns = "" if self.turns is None else f", about {self.turns} turns"
        return (
            f"{super().__str__()}; {self.blocks} blocks in {self.colours} colours{turns}, at most "
            f"{readable(self.sent)} sent in a turn"
        )


def plan_blocks(learner: Learner, teacher: SelectsExamples, X: Any, y: Any, options: dict[str, Any]) -> BlockPlan:
    """Return the plan of a lesson by blocks; with a tolerance, it reads the target block by block."""
    given = Options.of("plan", options)
    assert isinstance(given.engine, Blocks)
    task, _ = make_task(check_can_be_cut(learner, teacher), X, y, given.engine, given)
    return plan_task(task, given.engine)


def plan_task(task: BlockTask, blocks: Blocks) -> BlockPlan:
    """Return the plan of a lesson whose target is there."""
    cut = task.partition
    per_worker = task.bytes_of(range(len(cut))) if blocks.memory is None else max(blocks.memory, task.largest_block)
    sent = 8 * sum(len(cut.find_shared(block, other)) for block in range(len(cut)) for other in cut.neighbours(block))
    operator = task.operator_on(cut.pool(0))
    window = getattr(operator, "cells", None)
    return BlockPlan(
        "blocks", per_worker, window, "each block shows its own largest errors", len(cut), len(cut.colours),
        count_turns(task, blocks.share), sent,
    )  # fmt: skip


def estimate(task: BlockTask, plan: BlockPlan, workers: int) -> tuple[Costs, CostPrediction]:
    """Return the costs that are measured now, and what the lesson takes by them on so many workers.

    How many examples a point needs is found by teaching the middle of the pool.
    """
    costs = measure_costs(task.learner.kernel, task.learner.learning_rate)  # type: ignore[arg-type]
    cut = task.partition
    middle = len(cut) // 2
    pool, target = cut.pool(middle), task.target.read(cut, middle)
    if isinstance(pool, Grid):
        spans = [(length // 2 - min(length, MIDDLE) // 2, min(length, MIDDLE)) for length in pool.shape]
        box = tuple(slice(low, low + length) for low, length in spans)
        target = target.reshape(pool.shape)[box]
        pool = Grid(*(axis[part] for axis, part in zip(pool.axes, box, strict=True)))
    tol = None if task.tol is None else task.tol / task.scale / math.sqrt(cut.points)
    taught = Task.of(
        task.learner_on(middle) if len(pool) == len(cut.pool(middle)) else _from_zero(task.learner), GreedyTeacher(),
        pool, target, tol=tol, measure="rms", max_iterations=MOST * len(pool), record="picks",
    ).begin(quiet=True).run()  # fmt: skip
    examples = cut.points * len(taught) / len(pool)
    reach = max(cut.reach) if isinstance(cut, GridPartition) else 0
    found = predict(
        costs, points=cut.points, blocks=plan.blocks, colours=plan.colours, workers=workers, reach=reach,
        examples=examples, turns=plan.turns or 1, dimension=task.whole.dimension,
    )  # fmt: skip
    return costs, found


def _from_zero(learner: KernelLearner) -> KernelLearner:
    """Return a learner that begins at zero: a table of values belongs to all points."""
    if not learner.initial_is_table():
        return learner
    return KernelLearner(learner.kernel, learning_rate=learner.learning_rate)


def count_turns(task: BlockTask, share: float) -> int | None:
    """Return about how many turns bring the discrepancy from the deviation of the target to the tolerance."""
    if task.tol is None or task.tol <= 0.0:
        return None
    total = 0.0
    for block in range(len(task.partition)):
        own = task.partition.own(block)
        start = task.learner_on(block).bind(task.partition.pool(block)).values_on(task.partition.pool(block), ())
        total += float(((start - task.target.read(task.partition, block))[own] ** 2).sum())
    start_at = task.scale * math.sqrt(total)
    return max(1, math.ceil(math.log(max(start_at / task.tol, 1.0)) / -math.log(share)))

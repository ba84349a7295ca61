"""A lesson by blocks as a value: what every worker needs to know, checked once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nimt.arrays import Array
from nimt.blocks.kd_partition import PointPartition
from nimt.blocks.partition import GridPartition
from nimt.blocks.targets import Partition, Target
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel, height, reach
from nimt.learners.kernel_learner import KernelLearner
from nimt.losses import Square, as_loss
from nimt.measures import Measure
from nimt.operators.grid import GridOperator, grid_operator
from nimt.operators.neighbours import NeighbourOperator, count_pairs
from nimt.pools.pool import Grid, Pool, values_on
from nimt.teachers.adapter import as_teacher
from nimt.teachers.rule import Largest, TrueLabels
from nimt.teachers.scores import Residual
from nimt.teachers.teacher import SelectsExamples
from nimt.wording import Wording

# bytes that a block at work takes for each point, measured
ROWS, ENGINE = 48, 80
RECORDED = 72  # where every example is kept: three numbers for each, if a point is shown three times


@dataclass(frozen=True, eq=False)
class BlockTask:
    """A lesson that is cut into blocks.

    Attributes
    ----------
    partition : GridPartition or PointPartition
    learner : KernelLearner
    target : Target
    measure : Measure
    scale : float
        The discrepancy is this times the root of the sum of squares.
    tol, patience : as in `Options`
    records : bool
        Whether every example is kept, or only how often each point was shown.
    """

    partition: Partition
    learner: KernelLearner
    target: Target
    measure: Measure
    scale: float
    tol: float | None
    patience: int | None
    records: bool

    @cached_property
    def height(self) -> float:
        """K(x, x), the same everywhere."""
        return height(self.learner.kernel, self.whole.dimension)

    @property
    def whole(self) -> Pool:
        """The pool."""
        return self.partition.grid if isinstance(self.partition, GridPartition) else self.partition.whole

    @cached_property
    def _on_grid(self) -> GridOperator | None:
        whole = self.whole
        on_grid = isinstance(self.partition, GridPartition) and isinstance(whole, Grid)
        return grid_operator(self.learner.kernel, whole) if on_grid else None  # type: ignore[arg-type]

    @cached_property
    def bytes_per_point(self) -> float:
        """Bytes that a block at work takes for each point that it holds."""
        kept = RECORDED if self.records else 0
        cut = self.partition
        if isinstance(cut, GridPartition):
            return kept + (ROWS if len(cut) > 1 else ENGINE)
        pool = cut.pool(0)
        lists = NeighbourOperator.cost(count_pairs(self.learner.kernel, pool), pool).memory
        return kept + ENGINE + lists / len(pool)

    def bytes_of(self, blocks: Iterable[int]) -> int:
        """Return the bytes that some blocks take at work."""
        return int(sum(self.partition.size(block) for block in blocks) * self.bytes_per_point)

    @property
    def largest_block(self) -> int:
        """The bytes of the block that takes the most."""
        return max(self.bytes_of([block]) for block in range(len(self.partition)))

    def operator_on(self, pool: Pool) -> GridOperator | NeighbourOperator:
        """Return how K acts on the points that a block holds; on a grid, by the same window in every block."""
        return self._on_grid or NeighbourOperator(self.learner.kernel, pool)

    def read_target(self, block: int, pool: Pool) -> Array:
        """Return the target at the points that a block holds; refuse what is no number."""
        return values_on(pool, self.target.read(self.partition, block), "the target", ())

    def push_of(self, bits: np.int64) -> float:
        """Return |slope| K(x, x) of the best of a tournament, 0 if there is none."""
        return 2.0 * self.height * float(np.int64(bits).view(np.float64)) if bits > 0 else 0.0

    def tolerance_of_turn(self, goal: float) -> tuple[float, float]:
        """Return the discrepancy and the sum of squares of a block at which its turn ends; -1 for none."""
        return (self.scale * math.sqrt(goal), goal) if goal > 0.0 else (-1.0, -1.0)

    def learner_on(self, block: int) -> KernelLearner:
        """Return the learner for the points that a block holds."""
        if not self.learner.initial_is_table():
            return self.learner
        learner = self.learner.copy()
        table = np.asarray(self.learner.initial, dtype=np.float64)
        learner.initial = self.partition.take_held(block, table.reshape(self.whole.shape)).reshape(-1)
        return learner

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name not in ("_on_grid", "height", "bytes_per_point")
        }


def make_partition(pool: Pool, blocks: int | tuple[int, ...], kernel: Kernel) -> Partition:
    """Cut a pool into blocks; refuse a kernel without a reach, and blocks that are too narrow for it."""
    if not kernel.is_stationary() or not math.isfinite(reach(kernel)):
        raise InvalidInput(
            f"blocks need a kernel with a finite reach, and {kernel!r} has none",
            way_out=Wording(
                "take nimt.Wendland(radius) or nimt.rbf(width), or engine=nimt.RandomFeatures() without blocks",
                "use --kernel wendland or --kernel rbf, or leave --blocks out",
            ),
        )
    if not isinstance(pool, Grid):
        return PointPartition(pool, math.prod(blocks) if isinstance(blocks, tuple) else blocks, reach(kernel))
    counts = blocks if isinstance(blocks, tuple) else _shape_blocks(blocks, pool.shape)
    if len(counts) != pool.dimension:
        problem = f"has {len(counts)} numbers, and the grid {pool.dimension} axes"
        raise InvalidInput(problem, parameter="blocks", way_out="give one number for each axis, or how many in all")
    return GridPartition(pool, counts, grid_operator(kernel, pool).reach)


def _shape_blocks(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return so many blocks as a number along each axis, each block as near to a cube as the factors allow.

    Examples
    --------
    >>> _shape_blocks(12, (300, 100)), _shape_blocks(7, (10, 10))
    ((6, 2), (1, 7))
    """
    counts = [1] * len(shape)
    for factor in sorted(_factors(count), reverse=True):
        axis = max(range(len(shape)), key=lambda i: (shape[i] / counts[i], i))
        counts[axis] *= factor
    return tuple(counts)


def _factors(count: int) -> list[int]:
    found, divisor = [], 2
    while count > 1:
        while count % divisor == 0:
            found.append(divisor)
            count //= divisor
        divisor += 1
    return found


def check_can_be_cut(learner: object, teacher: SelectsExamples) -> KernelLearner:
    """Refuse a learner or a teacher that blocks cannot teach, in one sentence."""
    if not isinstance(learner, KernelLearner) or not behaves_like(learner, KernelLearner, "predict", "partial_fit"):
        raise InvalidInput(f"blocks teach a KernelLearner, got {type(learner).__name__}: leave engine= out")
    if not isinstance(as_loss(learner.loss), Square):
        raise InvalidInput(f"blocks teach by the square loss, got {learner.loss!r}: leave engine= out")
    if not learner.update.is_plain:
        raise InvalidInput(
            f"blocks teach by gradient steps, and this learner has {learner.update.parts[0]}=: leave it out"
        )
    if callable(learner.learning_rate):
        raise InvalidInput(
            "must be a number or 'auto' for blocks, since no block knows the step", parameter="learning_rate"
        )
    adapted = as_teacher(teacher)
    rule = adapted.compiled_rule()
    one = adapted.size == 1 and not isinstance(adapted.size, float) and not adapted.has_schedule
    fits = rule is not None and type(rule.choose) is Largest and type(rule.score) is Residual
    plain = rule is not None and type(rule.labels) is TrueLabels and adapted.labels is None and adapted.pool is None
    if not (one and fits and plain):
        raise InvalidInput(f"blocks are taught by GreedyTeacher(k=1) on the whole pool, got {teacher!r}")
    return learner

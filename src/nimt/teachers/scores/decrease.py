"""How much one step lowers the sum of squares over all points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Flags
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Square
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score, add_outputs


@dataclass(frozen=True, eq=False)
class Decrease(Score, name="decrease"):
    """2 s r (K r) - s^2 r^2 |K_x|^2 with r = f - f* and s = 2 eta: what a step at x takes from sum r^2, exactly."""

    kernel: Kernel
    learning_rate: float | str

    told: ClassVar[tuple[str, ...]] = ("kernel",)
    keeps_product: ClassVar[bool] = True

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        kept = self._kept
        if kept.pool is not pool:
            kept.set_on(self, pool)
        errors = predictions - target
        step = kept.step * errors
        lengths = kept.lengths.reshape(-1, *[1] * (errors.ndim - 1))
        return add_outputs(2 * step * kept.operator.apply(errors) - step * step * lengths)

    @cached_property
    def _kept(self) -> OnPool:
        return OnPool()

    def operator_on(self, pool: Pool) -> DenseOperator:
        return DenseOperator(self.kernel, pool)

    def constants_among(self, operator: DenseOperator, offered: Flags) -> Array:
        return np.vstack([np.full(len(offered), self.find_step(operator, offered)), squared_lengths(operator, offered)])

    def find_step(self, operator: DenseOperator, offered: Flags) -> float:
        """Return s; "auto" is the rate of a learner for the points offered."""
        rate = self.learning_rate
        return 2 * (auto_rate(Square(), operator.diagonal()[offered]) if isinstance(rate, str) else float(rate))

    @staticmethod
    def compile(slope: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
        def decrease(loss, own, f, y, constants, s, o):  # type: ignore[no-untyped-def]
            step = constants[0, s] * (f - y)
            return 2.0 * step * constants[2 + o, s] - step * step * constants[1, s]

        return decrease


class OnPool:
    """What does not change in a lesson: the Gram matrix, |K_x|^2 at every point, and s."""

    pool: Pool | None = None

    def set_on(self, score: Decrease, pool: Pool) -> None:
        """Compute all for a pool."""
        self.operator: DenseOperator = score.operator_on(pool)
        everywhere = np.ones(len(pool), dtype=bool)
        self.step: float = score.find_step(self.operator, everywhere)
        self.lengths: Array = squared_lengths(self.operator, everywhere)
        self.pool = pool


def squared_lengths(operator: DenseOperator, offered: Flags) -> Array:
    """Return |K_x|^2 at every point, a sum over the points offered."""
    if operator.keeps_gram:
        gram = operator.gram if offered.all() else operator.gram[:, offered]
        return np.asarray(np.einsum("ij,ij->i", gram, gram))
    return DenseOperator(operator.kernel**2, operator.pool).apply(offered.astype(np.float64))

"""How much one step lowers the sum of squares over all points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Square
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score, add_outputs


@dataclass(frozen=True, eq=False)
class Decrease(Score, name="decrease"):
    """2 s r (K r) - s^2 r^2 |K_x|^2 with r = f - f* and s = 2 eta: what a step at x takes from sum r^2, exactly.

    K r is a product with the whole Gram matrix at every step, and a step changes it by a column of K K: no compiled
    engine keeps it up to date.
    """

    kernel: Kernel
    learning_rate: float | str

    told: ClassVar[tuple[str, ...]] = ("kernel",)
    is_compiled: ClassVar[bool] = False

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        kept = self._kept
        if kept.pool is not pool:
            kept.set_on(self, pool)
        errors = predictions - target
        step = kept.step * errors
        lengths = kept.lengths.reshape(-1, *[1] * (errors.ndim - 1))
        return add_outputs(2 * step * kept.apply(errors) - step * step * lengths)

    @cached_property
    def _kept(self) -> OnPool:
        return OnPool()


class OnPool:
    """What does not change in a lesson: the Gram matrix, |K_x|^2 at every point, and s."""

    pool: Pool | None = None

    def set_on(self, score: Decrease, pool: Pool) -> None:
        """Compute all for a pool."""
        self.operator: DenseOperator = DenseOperator(score.kernel, pool)
        rate = score.learning_rate
        eta = auto_rate(Square(), self.operator.diagonal()) if isinstance(rate, str) else float(rate)
        self.step: float = 2 * eta
        ones, lengths = np.ones(len(pool)), np.zeros(len(pool))
        if self.operator.keeps_gram:
            lengths = np.einsum("ij,ij->i", self.operator.gram, self.operator.gram)
        else:
            DenseOperator(score.kernel**2, pool).add(lengths, np.arange(len(pool)), ones)
        self.lengths: Array = lengths
        self.pool = pool

    def apply(self, values: Array) -> Array:
        """Return K times values on the pool."""
        if self.operator.keeps_gram:
            return np.asarray(self.operator.gram @ values)
        found = np.zeros(values.shape)
        self.operator.add(found, np.arange(len(values)), values)
        return found

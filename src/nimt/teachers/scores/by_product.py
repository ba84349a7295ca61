"""What the scores that need K r have in common."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from nimt.arrays import Array, Flags
from nimt.kernels import Kernel
from nimt.operators.dense import GRAM_LIMIT, DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score


class ByProduct(Score):
    """A score of r, K r and |K_x|^2, r = f - f*, with all sums over the points that may be shown."""

    kernel: Kernel

    told: ClassVar[tuple[str, ...]] = ("kernel",)
    keeps_product: ClassVar[bool] = True

    def operator_on(self, pool: Pool) -> DenseOperator:
        return DenseOperator(self.kernel, pool)

    def kept_on(self, pool: Pool) -> OnPool:
        """Return what does not change in a lesson on a pool, computed once."""
        kept = self._kept
        if kept.pool is not pool:
            kept.operator = self.operator_on(pool)
            kept.effects = {}
            kept.constants = self.constants_among(kept.operator, np.ones(len(pool), dtype=bool))
            kept.pool = pool
        return kept

    @cached_property
    def _kept(self) -> OnPool:
        return OnPool()


class OnPool:
    """K on a pool, the constants of a score there, and the columns of K K that were asked for."""

    pool: Pool | None = None
    operator: DenseOperator
    constants: Array
    effects: dict[int, Array]

    def effect(self, index: int) -> Array:
        """Return a column of K K, and keep it where there is room for all."""
        found = self.effects.get(index)
        if found is None:
            unit = np.zeros(len(self.constants[0]))
            unit[index] = 1.0
            found = self.operator.apply(self.operator.apply(unit))
            if 8 * len(unit) ** 2 <= GRAM_LIMIT:
                self.effects[index] = found
        return found


def squared_lengths(operator: DenseOperator, offered: Flags) -> Array:
    """Return |K_x|^2 at every point, a sum over the points offered."""
    if operator.keeps_gram:
        gram = operator.gram if offered.all() else operator.gram[:, offered]
        return np.asarray(np.einsum("ij,ij->i", gram, gram))
    return DenseOperator(operator.kernel**2, operator.pool).apply(offered.astype(np.float64))


def add_output_axes(of_points: Array, like: Array) -> Array:
    """Return an array (n,) in a shape that fits one of several outputs."""
    return of_points.reshape(-1, *[1] * (like.ndim - 1))

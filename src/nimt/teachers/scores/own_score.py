"""A score of the user, compiled by `nimt.compiled`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.kernels import Kernel
from nimt.losses.compiled_score import CompiledScore
from nimt.plain_numba import PLAIN_NUMBA
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score, add_outputs


@dataclass(frozen=True, eq=False)
class OwnScore(Score, name="own"):
    """score(f, f*, K(x, x)); K(x, x) is 1 for a teacher who does not know the kernel."""

    score: CompiledScore = field()
    kernel: Kernel | None = None

    is_offered: ClassVar[bool] = False
    is_compiled: ClassVar[bool] = not PLAIN_NUMBA  # it is called by its address

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        kappa = self.constants(pool, target)[0].reshape(-1, *[1] * (target.ndim - 1))
        return add_outputs(self.score.of(predictions, target, kappa))

    def constants(self, pool: Pool, target: Array) -> Array:
        if self.kernel is None:
            return np.ones((1, len(pool)))
        return np.asarray(self.kernel.diag(pool.points), dtype=np.float64)[np.newaxis]

    @property
    def address(self) -> int:
        """Where compiled code finds the function."""
        return self.score.address

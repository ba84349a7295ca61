"""The size of the functional gradient: the paper's exact rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.kernels import Kernel
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score
from nimt.teachers.teacher import norm_of


@dataclass(frozen=True, eq=False)
class Gradient(Score, name="gradient"):
    """|dL/df| sqrt(K(x, x)), for a teacher who is given the learner's loss and kernel.

    Its norm over outputs is taken by compiled code itself (`compiled_steps.scoring`).
    """

    loss: Loss = field()
    kernel: Kernel
    norm: int | str = 2

    told: ClassVar[tuple[str, ...]] = ("loss", "kernel")

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        return np.asarray(norm_of(self.loss.slope(predictions, target), self.norm) * self.constants(pool, target)[0])

    def constants(self, pool: Pool, target: Array) -> Array:
        return np.sqrt(np.asarray(self.kernel.diag(pool.points), dtype=np.float64))[np.newaxis]

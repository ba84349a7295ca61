"""The size of the error."""

from __future__ import annotations

from dataclasses import dataclass

from nimt.arrays import Array
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score
from nimt.teachers.teacher import norm_of


@dataclass(frozen=True, eq=False)
class Residual(Score, name="residual"):
    """|f - f*|, which a gray-box teacher knows. Engines have loops of their own for it."""

    norm: int | str = 2

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        return norm_of(predictions - target, self.norm)

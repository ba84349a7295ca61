"""How much one step brings the learner nearer to f*, in the norm of H."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import LessCost, rows_by_output


@dataclass(frozen=True, eq=False)
class Omniscient(LessCost, name="omniscient"):
    """dL/df (f - f*) - (eta / 2) K(x, x) |dL/df|^2: the decrease of |f - f*|^2 in H by a step, over 2 eta."""

    loss: Loss = field()
    reference: Array | None  # f*; None for the target
    cost: Callable[[Pool], Array]  # (eta / 2) K(x, x)

    is_offered: ClassVar[bool] = False

    def gain(self, predictions: Array, target: Array, slopes: Array, of_outputs: Array) -> Array:
        return slopes * (predictions - of_outputs)

    def constants(self, pool: Pool, target: Array) -> Array:
        return np.vstack([self.cost(pool), rows_by_output(target if self.reference is None else self.reference)])

    @staticmethod
    def compile(slope: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
        def nearer(loss, own, f, y, constants, s, o):  # type: ignore[no-untyped-def]
            g = slope(loss, own, f, y)
            return g * (f - constants[1 + o, s]) - constants[0, s] * g * g

        return nearer

"""The loss beyond that of a reference: how much a step can gain, whatever the label."""

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
class Surrogate(LessCost, name="surrogate"):
    """L(f, y) - L(reference, y) - (eta / 2) K(x, x) |dL/df|^2.

    It is the rule argmin eta^2 g^2 K - 2 eta (L(f, y) - L(f*, y)) divided by -2 eta [Liu17].
    """

    loss: Loss = field()
    reference: Array | None  # None is the target itself
    cost: Callable[[Pool], Array]  # (eta / 2) K(x, x)

    is_offered: ClassVar[bool] = False

    def gain(self, predictions: Array, target: Array, slopes: Array, of_outputs: Array) -> Array:
        return self.loss.value(predictions, target) - of_outputs

    def constants(self, pool: Pool, target: Array) -> Array:
        answers = target if self.reference is None else self.reference
        return np.vstack([self.cost(pool), rows_by_output(self.loss.value(answers, target))])

    @staticmethod
    def compile(slope: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
        def loss_beyond(loss, own, f, y, constants, s, o):  # type: ignore[no-untyped-def]
            g = slope(loss, own, f, y)
            return value(loss, own, f, y) - constants[1 + o, s] - constants[0, s] * g * g

        return loss_beyond

"""The loss itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from nimt.arrays import Array
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.teachers.scores.score import Score, add_outputs


@dataclass(frozen=True, eq=False)
class LossValue(Score, name="loss"):
    """L(f, f*), for a teacher who is given the loss: with the hinge loss it never prefers a point whose loss is 0."""

    loss: Loss = field()

    told: ClassVar[tuple[str, ...]] = ("loss",)

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        return add_outputs(self.loss.value(predictions, target))

    @staticmethod
    def compile(slope: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any]:
        def value_of_loss(loss, own, f, y, constants, s, o):  # type: ignore[no-untyped-def]
            return value(loss, own, f, y)

        return value_of_loss

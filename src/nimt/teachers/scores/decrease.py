"""How much one step lowers the sum of squares over all points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nimt.arrays import Array, Flags
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Square
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.by_product import ByProduct, add_output_axes, squared_lengths
from nimt.teachers.scores.score import add_outputs


@dataclass(frozen=True, eq=False)
class Decrease(ByProduct, name="decrease"):
    """2 s r (K r) - s^2 r^2 |K_x|^2 with r = f - f* and s = 2 eta: what a step at x takes from sum r^2, exactly."""

    kernel: Kernel
    learning_rate: float | str

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        kept = self.kept_on(pool)
        errors = predictions - target
        factors, lengths = kept.constants
        step = add_output_axes(factors, errors) * errors
        return add_outputs(2 * step * kept.operator.apply(errors) - step * step * add_output_axes(lengths, errors))

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

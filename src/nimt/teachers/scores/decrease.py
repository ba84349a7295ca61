"""How much one step lowers the sum of squares over all points: of one example, or of a pack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Flags, Indices
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Square
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.by_product import ByProduct, add_output_axes, squared_lengths
from nimt.teachers.scores.score import add_outputs
from nimt.teachers.teacher import count_of, largest


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


@dataclass(frozen=True, eq=False)
class JointDecrease(Decrease, name="joint decrease"):
    """What one example of a pack of k takes from sum r^2 alone: the formula of `Decrease` with s = 2 eta / k.

    A pack P takes D(P) = 2 s sum_i r_i (K r)_i - s^2 sum_ij r_i r_j (K K)_ij, the sums over its points. `choose_pack`
    makes it large one point after another: the point to come is that with the largest

        D(P + i) - D(P) = 2 s r_i (K r')_i - s^2 r_i^2 |K_i|^2,    r' = r - s sum_j r_j K_j, the errors that P leaves.
    """

    kernel: Kernel
    learning_rate: float | str
    k: int | float

    is_offered: ClassVar[bool] = False

    def find_step(self, operator: DenseOperator, offered: Flags) -> float:
        return super().find_step(operator, offered) / count_of(self.k, int(np.count_nonzero(offered)))

    def choose_pack(self, errors: Array, pool: Pool, k: int) -> tuple[Indices, Array]:
        """Return the points of a pack, ascending, and the scores of all points before the first was chosen."""
        kept = self.kept_on(pool)
        factors, lengths = kept.constants
        steps, lengths = add_output_axes(factors, errors) * errors, add_output_axes(lengths, errors)
        left = kept.operator.apply(errors)
        scores = add_outputs(2 * steps * left - steps * steps * lengths)
        gains, free = scores, np.ones(len(errors), dtype=bool)
        for chosen in range(k):
            possible = np.flatnonzero(free)
            index = int(possible[largest(gains[possible], 1)[0]])
            free[index] = False
            if chosen < k - 1:
                left = left - np.multiply.outer(kept.effect(index), steps[index])
                gains = add_outputs(2 * steps * left - steps * steps * lengths)
        return np.flatnonzero(~free), scores

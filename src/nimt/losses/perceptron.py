"""The perceptron's loss: the margin of mistakes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Perceptron(KnownLoss, name="perceptron"):
    """L = max(0, -y f), slope -y where y f <= 0 and 0 elsewhere: a `KernelLearner` is then a kernel perceptron.

    At the kink y f = 0 the slope is -y, so that a learner which starts at 0 learns.
    """

    smoothness: ClassVar[float] = np.inf
    lipschitz: ClassVar[float] = np.inf  # |y|, and any finite label is taken
    convex: ClassVar[bool] = True
    has_simple_value: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        return np.maximum(0.0, -y * f)

    def slope(self, f: Array, y: Array) -> Array:
        return np.where(y * f <= 0.0, -y, 0.0)

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> float:
        return max(0.0, -y * f)

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> float:
        return -y if y * f <= 0.0 else 0.0

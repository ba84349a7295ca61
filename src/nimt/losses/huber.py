"""The Huber loss: quadratic near the label, linear far from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array, check_positive
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Huber(KnownLoss, name="huber"):
    """L = (y - f)^2 where |y - f| <= delta, and delta (2 |y - f| - delta) beyond.

    Twice the usual Huber loss, so that within delta it *is* the square loss of this package.
    """

    delta: float = 1.0
    smoothness: ClassVar[float] = 2.0
    convex: ClassVar[bool] = True
    has_simple_value: ClassVar[bool] = True

    @property
    def parameter(self) -> float:  # type: ignore[override]
        return self.delta

    @property
    def lipschitz(self) -> float:
        return 2.0 * self.delta

    def __post_init__(self) -> None:
        check_positive("delta", self.delta)

    def value(self, f: Array, y: Array) -> Array:
        distance = np.abs(y - f)
        return np.where(distance <= self.delta, distance**2, self.delta * (2.0 * distance - self.delta))

    def slope(self, f: Array, y: Array) -> Array:
        return 2.0 * np.clip(f - y, -self.delta, self.delta)

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> float:
        delta, distance = own[0], abs(y - f)
        return distance**2 if distance <= delta else delta * (2.0 * distance - delta)

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> float:
        delta, r = own[0], f - y
        return 2.0 * (-delta if r < -delta else delta if r > delta else r)

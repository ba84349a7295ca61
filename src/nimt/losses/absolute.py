"""The absolute loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Absolute(KnownLoss, name="absolute"):
    """L = |y - f|, slope sign(f - y): every correction has the same size."""

    smoothness: ClassVar[float] = np.inf
    lipschitz: ClassVar[float] = 1.0
    convex: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        return np.abs(y - f)

    def slope(self, f: Array, y: Array) -> Array:
        return np.sign(f - y)

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> float:
        return abs(y - f)

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> Any:
        return np.sign(f - y)

"""The hinge loss of a margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Hinge(KnownLoss, name="hinge"):
    """L = max(0, 1 - y f), slope -y where y f < 1 and 0 elsewhere.

    Any finite label is taken: the paper's boundary is taught with real-valued ones. At the kink y f = 1 the slope is 0.
    """

    smoothness: ClassVar[float] = np.inf
    lipschitz: ClassVar[float] = np.inf  # |y|, and any finite label is taken
    convex: ClassVar[bool] = True
    has_simple_value: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f)

    def slope(self, f: Array, y: Array) -> Array:
        return np.where(y * f < 1.0, -y, 0.0)

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> float:
        return max(0.0, 1.0 - y * f)

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> float:
        return -y if y * f < 1.0 else 0.0

"""The square loss, the paper's for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Square(KnownLoss, name="square"):
    """L = (y - f)^2, slope 2 (f - y).

    The factor 2 stays, as in the paper; many books use (y - f)^2 / 2 and drop it, which halves the learning rate.

    Examples
    --------
    >>> float(Square().slope(np.array(3.0), np.array(1.0)))
    4.0
    """

    smoothness: ClassVar[float] = 2.0
    lipschitz: ClassVar[float] = np.inf
    convex: ClassVar[bool] = True
    has_simple_value: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        return (y - f) ** 2

    def slope(self, f: Array, y: Array) -> Array:
        return 2.0 * (f - y)

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> float:
        return (y - f) ** 2

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> float:
        return 2.0 * (f - y)

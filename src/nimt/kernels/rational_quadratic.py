"""The rational quadratic kernel: a mixture of RBF kernels of all widths."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array, check_positive
from nimt.kernels.kernel import CUT, ROUNDED_UP, normalise
from nimt.kernels.radial import Radial


@dataclass(frozen=True, repr=False)
class RationalQuadratic(Radial):
    """K = (1 + |x - y|^2 / (2 alpha length_scale^2))^(-alpha).

    Examples
    --------
    >>> round(float(RationalQuadratic(1.0, alpha=0.5)([[0.0]], [[1.0]])[0, 0]), 6)  # 1 / sqrt(2)
    0.707107
    """

    length_scale: float = 1.0
    alpha: float = 1.0

    def __post_init__(self) -> None:
        check_positive("length_scale", self.length_scale)
        check_positive("alpha", self.alpha)
        normalise(self, length_scale=float(self.length_scale), alpha=float(self.alpha))

    @property
    def width(self) -> float:
        return self.length_scale

    def at_distance(self, distance: Array) -> Array:
        return self.at_squares(distance * distance)

    def at_squares(self, squares: Array) -> Array:
        squares /= 2.0 * self.alpha * self.length_scale**2
        squares += 1.0
        squares **= -self.alpha
        return squares

    def reach(self, cut: float = CUT) -> float:
        with np.errstate(over="ignore"):
            root = float(np.sqrt(np.power(cut, -1.0 / self.alpha)))
        return self.length_scale * math.sqrt(2.0 * self.alpha) * root * ROUNDED_UP

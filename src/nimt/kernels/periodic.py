"""The periodic kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array, check_positive
from nimt.kernels.kernel import normalise
from nimt.kernels.radial import Radial


@dataclass(frozen=True, repr=False)
class ExpSineSquared(Radial):
    """K = exp(-2 sin^2(pi |x - y| / periodicity) / length_scale^2).

    Examples
    --------
    >>> round(float(ExpSineSquared(1.0, periodicity=2.0)([[0.0]], [[6.0]])[0, 0]), 6)
    1.0
    """

    length_scale: float = 1.0
    periodicity: float = 1.0

    def __post_init__(self) -> None:
        check_positive("length_scale", self.length_scale)
        check_positive("periodicity", self.periodicity)
        normalise(self, length_scale=float(self.length_scale), periodicity=float(self.periodicity))

    def at_distance(self, distance: Array) -> Array:
        sine = np.sin(math.pi * distance / self.periodicity)
        return np.exp(-2.0 * (sine / self.length_scale) ** 2)

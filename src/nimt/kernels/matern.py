"""Matern's kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.kernels.kernel import CUT, normalise
from nimt.kernels.radial import Radial, Scale, as_scale, distance_at


@dataclass(frozen=True, repr=False)
class Matern(Radial):
    """Matern's kernel of smoothness nu, with r = |x - y| / length_scale.

    exp(-r) for nu = 0.5, (1 + s) exp(-s) with s = sqrt(3) r for 1.5, (1 + s + s^2 / 3) exp(-s) with s = sqrt(5) r for
    2.5, exp(-r^2 / 2) for inf; others by a Bessel function.

    Parameters
    ----------
    length_scale : float, or one for each axis
    nu : float

    Examples
    --------
    >>> round(float(Matern(0.5, nu=0.5)([[0.0]], [[1.0]])[0, 0]), 6)  # exp(-2)
    0.135335
    """

    length_scale: Scale = 1.0
    nu: float = 1.5

    def __post_init__(self) -> None:
        if not is_number(self.nu) or not float(self.nu) > 0:
            raise InvalidInput(f"must be a positive number, got {self.nu!r}", parameter="nu")
        normalise(self, length_scale=as_scale("length_scale", self.length_scale), nu=float(self.nu))

    @property
    def width(self) -> Scale:
        return self.length_scale

    @property
    def scale(self) -> Scale:
        return self.length_scale

    def at_distance(self, distance: Array) -> Array:
        if self.nu == 0.5:
            return np.exp(np.negative(distance, out=distance), out=distance)
        if self.nu == 1.5:
            distance *= math.sqrt(3.0)
            return np.asarray((1.0 + distance) * np.exp(-distance))
        if self.nu == 2.5:
            distance *= math.sqrt(5.0)
            return np.asarray((1.0 + distance + distance**2 / 3.0) * np.exp(-distance))
        if self.nu == math.inf:
            return np.exp(-(distance**2) / 2.0)
        return self._by_bessel(distance)

    def _by_bessel(self, distance: Array) -> Array:
        from scipy.special import gamma, kv  # here, since most lessons do without it

        with np.errstate(invalid="ignore", over="ignore"):
            scaled = math.sqrt(2.0 * self.nu) * distance
            values = 2.0 ** (1.0 - self.nu) / gamma(self.nu) * scaled**self.nu * kv(self.nu, scaled)
        values[scaled == 0.0] = 1.0
        return np.asarray(values)

    def reach(self, cut: float = CUT) -> float:
        return float(np.max(self.length_scale)) * distance_at(self.at_distance, cut)

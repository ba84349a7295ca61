"""The RBF kernel, in the paper's form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.kernels.distances import Scale
from nimt.kernels.kernel import CUT, ROUNDED_UP, normalise
from nimt.kernels.radial import Radial, as_scale

ROOT_2 = math.sqrt(2.0)


@dataclass(frozen=True, repr=False)
class Gaussian(Radial):
    """K(x, y) = exp(-|x - y|^2 / width^2), or exp(-sum_i (x_i - y_i)^2 / width_i^2); `nimt.rbf` makes it."""

    width: Scale
    word: ClassVar[str] = "rbf"

    def __post_init__(self) -> None:
        normalise(self, width=as_scale("width", self.width))

    @classmethod
    def of_length_scale(cls, length_scale: float | Sequence[float] = 1.0) -> Gaussian:
        """Return exp(-|x - y|^2 / (2 length_scale^2)), as scikit-learn's RBF is written."""
        scale = as_scale("length_scale", length_scale)
        return cls(tuple(ROOT_2 * part for part in scale) if isinstance(scale, tuple) else ROOT_2 * scale)

    @cached_property
    def scale(self) -> Scale:
        # scikit-learn's length scale: figures stay the same to the last bit
        return tuple(part / ROOT_2 for part in self.width) if isinstance(self.width, tuple) else self.width / ROOT_2

    def at_distance(self, distance: Array) -> Array:
        return self.at_squares(distance * distance)

    def at_squares(self, squares: Array) -> Array:
        squares *= -0.5
        return np.exp(squares, out=squares)

    def reach(self, cut: float = CUT) -> float:
        return float(np.max(self.scale)) * math.sqrt(-2.0 * math.log(cut)) * ROUNDED_UP


def rbf(width: float | Sequence[float]) -> Gaussian:
    r"""Return k(x, y) = exp(-|x - y|^2 / width^2), the paper's form.

    Gaussian-process libraries write exp(-|x - y|^2 / (2 l^2)): width = sqrt(2) * l. The published curves of
    [Zhang23] have width 0.5, although the text states width 2.

    Parameters
    ----------
    width : float, or one for each axis
        Positive.

    Examples
    --------
    >>> kernel = rbf(width=0.5)
    >>> kernel.width, round(float(kernel([[0.0]], [[0.5]])[0, 0]), 6)  # exp(-1)
    (0.5, 0.367879)
    """
    return Gaussian(width)  # type: ignore[arg-type]  # made a tuple there

"""Wendland's kernels, which are zero beyond a distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array, check_count, check_positive, is_whole
from nimt.errors import InvalidInput
from nimt.kernels.kernel import CUT, normalise
from nimt.kernels.radial import Radial


@dataclass(frozen=True, repr=False)
class Wendland(Radial):
    r"""Wendland's compactly supported kernel: zero beyond `width`, positive definite up to `dimension`.

    With r = |x - y| / width, l = floor(dimension / 2) + smoothness + 1 and (.)_+ the positive part,

    - smoothness 0: (1 - r)_+^l                                                        (continuous)
    - smoothness 1: (1 - r)_+^(l + 1) ((l + 1) r + 1)                                  (twice differentiable)
    - smoothness 2: (1 - r)_+^(l + 2) ((l^2 + 4 l + 3) r^2 + (3 l + 6) r + 3) / 3      (four times)

    Parameters
    ----------
    width : float
        The distance at which the kernel reaches zero.
    dimension : int
        The largest dimension of points it may be used on; it refuses others, where it would not be positive definite.
    smoothness : {0, 1, 2}

    Examples
    --------
    >>> k = Wendland(width=1.0, dimension=3)
    >>> k([[0.0], [0.5], [1.0]], [[0.0]]).ravel()
    array([1.    , 0.1875, 0.    ])
    """

    width: float = 1.0
    dimension: int = 3
    smoothness: int = 1

    def __post_init__(self) -> None:
        check_positive("width", self.width)
        check_count("dimension", self.dimension, at_least=1)
        if not is_whole(self.smoothness) or self.smoothness not in (0, 1, 2):
            raise InvalidInput(f"must be 0, 1 or 2, got {self.smoothness!r}", parameter="smoothness")
        normalise(self, width=float(self.width), dimension=int(self.dimension), smoothness=int(self.smoothness))

    def check_dimension(self, dimension: int) -> None:
        if dimension > self.dimension:
            raise InvalidInput(
                f"Wendland(dimension={self.dimension}) is not positive definite on points of dimension {dimension}; "
                f"make it with dimension={dimension}"
            )

    def reach(self, cut: float = CUT) -> float:
        return self.width

    def at_distance(self, distance: Array) -> Array:
        r = distance / self.width
        ell = self.dimension // 2 + self.smoothness + 1
        rest = np.maximum(1.0 - r, 0.0)
        if self.smoothness == 0:
            return np.asarray(rest**ell)
        if self.smoothness == 1:
            return np.asarray(rest ** (ell + 1) * ((ell + 1) * r + 1))
        return np.asarray(rest ** (ell + 2) * ((ell**2 + 4 * ell + 3) * r**2 + (3 * ell + 6) * r + 3) / 3)

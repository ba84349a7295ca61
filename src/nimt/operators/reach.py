"""How far a kernel reaches: where a stationary one has fallen below rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Exponentiation,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
)

from nimt.kernels import Wendland

Array = NDArray[np.float64]

CUT = 1e-16  # of K(0): smaller contributions are lost in rounding anyway

_FALLING = (RBF, Matern, RationalQuadratic, Wendland, ConstantKernel)


def falls_with_distance(kernel: Any) -> bool:
    """Say whether the kernel is known never to rise with a coordinate's distance, so that a search bounds its reach."""
    if isinstance(kernel, Sum | Product):
        return falls_with_distance(kernel.k1) and falls_with_distance(kernel.k2)
    if isinstance(kernel, Exponentiation):
        return bool(kernel.exponent > 0) and falls_with_distance(kernel.kernel)
    return type(kernel) in _FALLING


def height(kernel: Any, dimension: int) -> float:
    """Return K(0), the constant diagonal of a stationary kernel."""
    return float(kernel.diag(np.zeros((1, dimension)))[0])


def profile(kernel: Any, differences: Array) -> Array:
    """Return K(x - x') at given differences, shape (m,)."""
    return np.asarray(kernel(differences, np.zeros((1, differences.shape[1]))), dtype=np.float64)[:, 0]


def radius_of(kernel: Any, dimension: int, cut: float = CUT) -> float:
    """Return a distance beyond which K is below `cut` K(0) in every direction, or inf where none can be found."""
    if not falls_with_distance(kernel):
        return np.inf
    round_kernel = _without_direction(clone(kernel))
    least = cut * height(kernel, dimension)

    def small_at(distance: float) -> bool:
        point = np.zeros((1, dimension))
        point[0, 0] = distance
        return bool(profile(round_kernel, point)[0] < least)

    outer = 1e-6
    while not small_at(outer):
        outer *= 2.0
        if outer > 1e9:
            return np.inf
    inner = outer / 2.0
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        inner, outer = (inner, middle) if small_at(middle) else (middle, outer)
    return outer


def _without_direction(kernel: Any) -> Any:
    """Replace length scales per axis by the largest of them: nowhere below the kernel itself."""
    if isinstance(kernel, Sum | Product):
        return type(kernel)(_without_direction(kernel.k1), _without_direction(kernel.k2))
    if isinstance(kernel, Exponentiation):
        return Exponentiation(_without_direction(kernel.kernel), kernel.exponent)
    if np.ndim(getattr(kernel, "length_scale", 0.0)):
        return kernel.set_params(length_scale=float(np.max(kernel.length_scale)))
    return kernel

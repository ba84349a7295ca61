"""What K(x, x') is: scikit-learn's kernel objects, the paper's widths as helpers, and a compactly supported kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Hyperparameter,
    Kernel,
    Matern,
    NormalizedKernelMixin,
    Product,
    RationalQuadratic,
    StationaryKernelMixin,
    Sum,
    WhiteKernel,
)

from nimt.arrays import Array, check_count, check_positive, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.pools.base import Pool


def rbf(width: float) -> Kernel:
    r"""Return k(x, y) = exp(-|x - y|^2 / width^2), the paper's form.

    Gaussian-process libraries write exp(-|x - y|^2 / (2 l^2)): width = sqrt(2) * l. The published curves of
    [Zhang23] were made with width 0.5, although the text states width 2.

    Parameters
    ----------
    width : float
        Positive.

    Examples
    --------
    >>> round(float(rbf(width=0.5)([[0.0]], [[0.5]])[0, 0]), 6)  # exp(-1)
    0.367879
    """
    check_positive("width", width)
    return RBF(length_scale=float(width) / np.sqrt(2.0), length_scale_bounds="fixed")


def linear(c: float = 1.0) -> Kernel:
    """Return k(x, y) = <x, y> + c, the kernel under which a kernel learner is a linear one.

    It equals the parametric learner with features (x, sqrt(c)), so with an intercept of its own (feature 1)
    only for c = 1, and without one for c = 0.

    Examples
    --------
    >>> float(linear()([[2.0]], [[3.0]])[0, 0])
    7.0
    """
    if not is_number(c) or not 0 <= float(c) < np.inf:
        raise InvalidInput(f"c must be a finite number >= 0, or the kernel is not positive definite; got {c!r}")
    return DotProduct(sigma_0=float(np.sqrt(float(c))), sigma_0_bounds="fixed")


class Wendland(StationaryKernelMixin, NormalizedKernelMixin, Kernel):  # type: ignore[misc]
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
    width_bounds : pair of floats or "fixed"
        For scikit-learn's hyperparameter search.

    Examples
    --------
    >>> k = Wendland(width=1.0, dimension=3)
    >>> k([[0.0], [0.5], [1.0]], [[0.0]]).ravel()
    array([1.    , 0.1875, 0.    ])
    """

    def __init__(
        self,
        width: float = 1.0,
        dimension: int = 3,
        smoothness: int = 1,
        width_bounds: tuple[float, float] | str = (1e-5, 1e5),
    ) -> None:
        check_positive("width", width)
        check_count("dimension", dimension, at_least=1)
        if not is_whole(smoothness) or smoothness not in (0, 1, 2):
            raise InvalidInput(f"smoothness must be 0, 1 or 2, got {smoothness!r}")
        self.width = width
        self.dimension = dimension
        self.smoothness = smoothness
        self.width_bounds = width_bounds

    @property
    def hyperparameter_width(self) -> Hyperparameter:
        return Hyperparameter("width", "numeric", self.width_bounds)

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        X = np.atleast_2d(np.asarray(X, dtype=float))
        if X.shape[1] > self.dimension:
            raise InvalidInput(
                f"Wendland(dimension={self.dimension}) is not positive definite on points of dimension {X.shape[1]}; "
                f"make it with dimension={X.shape[1]}"
            )
        other = X if Y is None else np.atleast_2d(np.asarray(Y, dtype=float))
        r = cdist(X, other) / self.width
        values = self._profile(r)
        if not eval_gradient:
            return values
        if Y is not None:
            raise ValueError("the gradient can only be evaluated when Y is None")
        if self.hyperparameter_width.fixed:
            return values, np.empty((*values.shape, 0))
        return values, (-r * self._profile_slope(r))[:, :, np.newaxis]  # by log(width), as scikit-learn expects

    def _exponent(self) -> int:
        return self.dimension // 2 + self.smoothness + 1

    def _profile(self, r: Array) -> Array:
        ell = self._exponent()
        rest = np.maximum(1.0 - r, 0.0)
        if self.smoothness == 0:
            return np.asarray(rest**ell)
        if self.smoothness == 1:
            return np.asarray(rest ** (ell + 1) * ((ell + 1) * r + 1))
        return np.asarray(rest ** (ell + 2) * ((ell**2 + 4 * ell + 3) * r**2 + (3 * ell + 6) * r + 3) / 3)

    def _profile_slope(self, r: Array) -> Array:
        ell = self._exponent()
        rest = np.maximum(1.0 - r, 0.0)
        if self.smoothness == 0:
            return np.asarray(-ell * rest ** (ell - 1) * (r < 1))
        if self.smoothness == 1:
            return np.asarray(-(ell + 1) * (ell + 2) * r * rest**ell)
        return np.asarray(-(ell + 3) * (ell + 4) / 3 * r * (1 + (ell + 1) * r) * rest ** (ell + 1))

    def __repr__(self) -> str:
        return f"Wendland(width={self.width:.3g}, dimension={self.dimension}, smoothness={self.smoothness})"


def diagonal(kernel: Kernel, pool: Pool) -> Array:
    """Return K(x, x) at every point of a pool; for a stationary kernel one number, repeated without memory."""
    if kernel.is_stationary():
        return np.broadcast_to(np.asarray(kernel.diag(np.zeros((1, pool.dimension))), np.float64), len(pool))
    return np.asarray(kernel.diag(pool.points), dtype=np.float64)


def check_kernel_on(kernel: Kernel, pool: Pool) -> None:
    """Refuse a kernel that cannot take points of this dimension."""
    try:
        kernel(pool.take(np.zeros(1, dtype=np.intp)))
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(f"{kernel!r} cannot be used on points of dimension {pool.dimension}: {error}") from None


def check_kernel(kernel: Any) -> Kernel:
    """Return `kernel`, or say why it is not one: it must be a scikit-learn kernel that is a function of two points."""
    if not isinstance(kernel, Kernel):
        raise InvalidInput(
            f"kernel must be a scikit-learn kernel such as nimt.rbf(width=0.5) or "
            f"sklearn.gaussian_process.kernels.Matern(), got {kernel!r}"
        )
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, WhiteKernel | CompoundKernel):
            raise InvalidInput(
                f"{type(part).__name__} is not a function of two points, so no learner can hold it; "
                f"leave it out of {kernel!r}"
            )
    return kernel


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

"""What K(x, x') is: scikit-learn's kernel objects, the paper's widths as helpers, and a compactly supported kernel."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import singledispatch
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
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
from nimt.errors import InvalidInput, first_call_of
from nimt.inheritance import behaves_like
from nimt.pools.base import Pool

CUT = 1e-16  # of K(0): smaller contributions are lost in rounding
ROUNDED_UP = 1.0 + 1e-9  # on a distance, so that no value at the cut is lost to rounding
FAR = 16.0  # extents from zero: from there on points are moved to zero before a kernel rounds them
PROBED = 5  # points of a pool at which a kernel is evaluated as a check
SYMMETRIC_WITHIN = 1e-9  # of the largest value: matrix products round differently in the two triangles


def rbf(width: float) -> Kernel:
    r"""Return k(x, y) = exp(-|x - y|^2 / width^2), the paper's form.

    Gaussian-process libraries write exp(-|x - y|^2 / (2 l^2)): width = sqrt(2) * l. The published curves of
    [Zhang23] have width 0.5, although the text states width 2.

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

    @overload
    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: Literal[False] = False) -> Array: ...

    @overload
    def __call__(self, X: ArrayLike, Y: None = None, *, eval_gradient: Literal[True]) -> tuple[Array, Array]: ...

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> Array | tuple[Array, Array]:
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        d = points.shape[1]
        if d > self.dimension:
            raise InvalidInput(
                f"Wendland(dimension={self.dimension}) is not positive definite on points of dimension {d}; "
                f"make it with dimension={d}"
            )
        other = points if Y is None else np.atleast_2d(np.asarray(Y, dtype=np.float64))
        r = cdist(points, other) / self.width
        values = self._profile(r)
        if not eval_gradient:
            return values
        if Y is not None:
            raise ValueError("the gradient can only be evaluated when Y is None")
        if self.hyperparameter_width.fixed:
            return values, np.empty((*values.shape, 0))
        return values, (-r * self._profile_slope(r))[:, :, np.newaxis]  # by log(width), as scikit-learn expects

    def reach(self) -> float:
        """Return the distance beyond which it is zero; a subclass with another profile must override this."""
        return float(self.width)

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
        return (
            f"{type(self).__name__}(width={self.width:.3g}, dimension={self.dimension}, smoothness={self.smoothness})"
        )


def diagonal(kernel: Kernel, pool: Pool) -> Array:
    """Return K(x, x) at every point of a pool; for a stationary kernel one number, broadcast without a copy."""
    if kernel.is_stationary():
        return np.broadcast_to(np.asarray(kernel.diag(np.zeros((1, pool.dimension))), np.float64), len(pool))
    return np.asarray(kernel.diag(pool.points), dtype=np.float64)


def height(kernel: Kernel, dimension: int) -> float:
    """Return K(0), the constant diagonal of a stationary kernel."""
    return float(kernel.diag(np.zeros((1, dimension)))[0])


def profile(kernel: Kernel, differences: Array) -> Array:
    """Return K(x - x') of a stationary kernel at given differences (m, d), shape (m,)."""
    return np.asarray(kernel(differences, np.zeros((1, differences.shape[1]))), dtype=np.float64)[:, 0]


def on_one_axis(kernel: Kernel) -> Callable[[Array, Array], Array]:
    """Return K as a function of points (n, 1) and (m, 1), scikit-learn's values to the last bit.

    An RBF kernel is then computed without the calls around scikit-learn's, which take longer than the values where one
    of the arrays is short.

    Examples
    --------
    >>> values = on_one_axis(rbf(width=0.5))
    >>> round(float(values(np.array([[0.0]]), np.array([[0.5]]))[0, 0]), 6)  # exp(-1)
    0.367879
    """
    if not behaves_like(kernel, RBF, "__call__") or np.size(kernel.length_scale) > 1:
        return lambda points, others: np.asarray(kernel(points, others))
    scale = float(np.ravel(kernel.length_scale)[0])

    def values(points: Array, others: Array) -> Array:
        gaps = points / scale - (others / scale).T
        gaps *= gaps
        gaps *= -0.5
        return np.exp(gaps, out=gaps)

    return values


def origin_for(kernel: Kernel, around: Array) -> Array:
    """Return a point (d,) to subtract from points (n, d) before a stationary kernel is evaluated at them.

    A stationary kernel depends on differences only, but most divide points by a width before they subtract them: of
    1e15 and 1e15 + 1, over a width of 0.7, the difference is then wrong in the first digit. Along an axis whose
    numbers are many times farther from zero than from each other it is one of them, and subtracting it is exact
    [Sterbenz 1974]; elsewhere 0, so that nothing changes.

    Examples
    --------
    >>> origin_for(rbf(1.0), np.array([[1e15, 0.5], [1e15 + 2, -0.5]])).tolist()
    [1000000000000000.0, 0.0]
    """
    if len(around) == 0 or not kernel.is_stationary():
        return np.zeros(around.shape[1])
    low, high = around.min(axis=0), around.max(axis=0)
    nearest = np.maximum(np.maximum(low, -high), 0.0)  # to zero, of numbers with one sign
    with np.errstate(over="ignore"):
        return np.where(nearest >= FAR * (high - low), around[0], 0.0)


def keep_digits(
    kernel: Kernel, around: Array, values: Callable[..., Array] | None = None
) -> Callable[[Array, Array], Array]:
    """Return K as a function of points (n, d) and (m, d) that is exact also far from zero, near the points `around`.

    `values` computes it, the kernel itself by default.

    Examples
    --------
    >>> far = np.array([[1e15], [1e15 + 1]])
    >>> keep_digits(rbf(1.0), far)(far, far)[0].round(6)  # exp(-1)
    array([1.      , 0.367879])
    """
    compute: Callable[..., Array] = kernel if values is None else values
    origin = origin_for(kernel, around)
    if not origin.any():
        return lambda points, others: np.asarray(compute(points, others))
    return lambda points, others: np.asarray(compute(points - origin, others - origin))


# ---------------------------------------------------------------- the reach of a kernel


@singledispatch
def reach(kernel: Kernel, cut: float = CUT) -> float:
    """Return a distance beyond which |K(x - x')| <= cut K(0) in every direction, inf where none is known.

    A kernel of your own gives its reach by a method `reach()`; for a class that is not yours, register a function:
    `nimt.kernels.reach.register(TheirKernel)`. With a finite reach a lesson on scattered points runs on the
    neighbours engine, and a window on a grid is found without evaluating the whole grid.

    Examples
    --------
    >>> reach(Wendland(width=2.0)), reach(linear())
    (2.0, inf)
    """
    return _told(kernel)


def _told(kernel: Kernel) -> float:
    """Return what the kernel's own method `reach()` returns, inf where it has none."""
    own = getattr(kernel, "reach", None)
    if own is None:
        return math.inf
    try:
        distance = own()
    except Exception as error:  # a kernel of the user may raise anything
        raise InvalidInput(f"{kernel!r}.reach() raised {type(error).__name__}: {error}") from error
    if not is_number(distance) or not float(distance) > 0:
        raise InvalidInput(f"{kernel!r}.reach() returned {distance!r}: it must be a positive distance, or inf")
    return float(distance)


@reach.register
def _(kernel: RBF, cut: float = CUT) -> float:
    if not behaves_like(kernel, RBF, "__call__"):
        return _told(kernel)
    return _largest_scale(kernel) * math.sqrt(-2.0 * math.log(cut)) * ROUNDED_UP


@reach.register
def _(kernel: Matern, cut: float = CUT) -> float:
    if not behaves_like(kernel, Matern, "__call__"):
        return _told(kernel)
    return _largest_scale(kernel) * _distance_at(Matern(1.0, nu=kernel.nu), cut)


@reach.register
def _(kernel: RationalQuadratic, cut: float = CUT) -> float:
    if not behaves_like(kernel, RationalQuadratic, "__call__"):
        return _told(kernel)
    alpha = float(kernel.alpha)
    with np.errstate(over="ignore"):
        distance = float(kernel.length_scale) * math.sqrt(2.0 * alpha) * float(np.sqrt(np.power(cut, -1.0 / alpha)))
    return distance * ROUNDED_UP


@reach.register
def _(kernel: Sum, cut: float = CUT) -> float:
    return max(reach(kernel.k1, cut), reach(kernel.k2, cut))


@reach.register
def _(kernel: Product, cut: float = CUT) -> float:
    return min(reach(kernel.k1, cut), reach(kernel.k2, cut))  # a kernel never exceeds its value at 0


@reach.register
def _(kernel: Exponentiation, cut: float = CUT) -> float:
    power = float(kernel.exponent)
    return reach(kernel.kernel, cut ** (1.0 / power)) if power > 0 else math.inf


def _largest_scale(kernel: Kernel) -> float:
    return float(np.max(np.abs(kernel.length_scale)))


def _distance_at(kernel: Kernel, cut: float) -> float:
    """Return the distance at which a decreasing kernel has fallen to `cut`, by bisection."""
    inner, outer = 0.0, 1.0
    while profile(kernel, np.array([[outer]]))[0] >= cut:
        inner, outer = outer, 2.0 * outer
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if profile(kernel, np.array([[middle]]))[0] >= cut else (inner, middle)
    return outer * ROUNDED_UP


# ---------------------------------------------------------------- checks


def check_kernel_on(kernel: Kernel, pool: Pool) -> None:
    """Refuse a kernel that cannot take points of this dimension, or whose values cannot be those of a kernel."""
    some = pool.take(np.unique(np.linspace(0, len(pool) - 1, PROBED).astype(np.intp)))
    try:
        returned = kernel(some, some)
        if np.ma.is_masked(returned):
            raise InvalidInput(f"{kernel!r} returned masked values: a kernel has a value between any two points")
        values = np.asarray(returned)
    except InvalidInput:
        raise
    except Exception as error:  # a kernel of the user may raise anything
        what = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise InvalidInput(
            f"{kernel!r} cannot be used on points of dimension {pool.dimension}: {what}{error}"
        ) from error
    with first_call_of(f"the reach of {kernel!r}"):  # may be registered by the user
        reach(kernel)
    with first_call_of(f"{kernel!r}.diag"):
        kernel.diag(some)
    if values.shape != (len(some), len(some)) or values.dtype.kind not in "fiu":
        raise InvalidInput(
            f"{kernel!r} returned dtype {values.dtype} and shape {values.shape} for {len(some)} points: it must "
            f"return real numbers of shape ({len(some)}, {len(some)})"
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise InvalidInput(f"{kernel!r} is {values[i, j]} between {some[i].tolist()} and {some[j].tolist()}")
    uneven = np.abs(values - values.T) > SYMMETRIC_WITHIN * np.abs(values).max()
    if uneven.any():
        i, j = np.argwhere(uneven)[0]
        raise InvalidInput(
            f"{kernel!r} is not symmetric: K(x, y) = {values[i, j]!s} and K(y, x) = {values[j, i]!s} at "
            f"x = {some[i].tolist()}, y = {some[j].tolist()}"
        )


def check_kernel(kernel: object) -> Kernel:
    """Return `kernel`, or refuse it: it must be a scikit-learn kernel that is a function of two points."""
    if not isinstance(kernel, Kernel):
        raise InvalidInput(
            f"kernel must be a scikit-learn kernel such as nimt.rbf(width=0.5) or "
            f"sklearn.gaussian_process.kernels.Matern(), got {kernel!r}"
        )
    for part in (kernel, *kernel.get_params(deep=True).values()):
        if isinstance(part, WhiteKernel | CompoundKernel):
            raise InvalidInput(
                f"{type(part).__name__} is not a function of two points, so a learner cannot use it; "
                f"leave it out of {kernel!r}"
            )
    return kernel

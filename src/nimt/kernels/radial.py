"""Kernels that are a function of the distance: the RBF kernel, and what it shares with the other families."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.kernels.kernel import CUT, ROUNDED_UP, Kernel, as_rows, normalise
from nimt.pools.pool import Pool

FEW = 2  # coordinates up to which numpy takes as long as scipy, whose module for distances takes long to load
BLOCK = 2**15  # values computed at once: they stay in the processor's cache
FAR = 2.0**12  # in units of the scale: farther from zero, coordinates are subtracted before they are scaled
SHORT = 8  # numbers that Python looks at faster than numpy does
REPEATED = 4  # reads of a coordinate from which on it is copied to lie in order
ROOT_2 = math.sqrt(2.0)
SMALLEST = float(np.finfo(float).tiny)  # that can be divided by

Scale = float | tuple[float, ...]


class Radial(Kernel):
    """K(x, y) as a function of |x - y|. A kernel of your own needs `at_distance` alone.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Exponential(Radial):
    ...     width: float
    ...     def at_distance(self, distance):
    ...         return np.exp(-distance / self.width)
    >>> round(float(Exponential(2.0)([[0.0, 0.0]], [[3.0, 4.0]])[0, 0]), 6)  # exp(-5 / 2)
    0.082085
    """

    @property
    def scale(self) -> Scale:
        """What differences are divided by before a distance is taken: one number, or one for each axis."""
        return 1.0

    @abstractmethod
    def at_distance(self, distance: Array) -> Array:
        """Return K at distances, which it may overwrite, of any shape."""

    def at_squares(self, squares: Array) -> Array:
        """Return K at squared distances, which it may overwrite."""
        return np.asarray(self.at_distance(np.sqrt(squares, out=squares)))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        points, others = as_rows(X), None if Y is None else as_rows(Y)
        self.check_dimension(points.shape[1])
        return evaluate(points, others, self.scale, self.at_squares)

    def diag(self, X: ArrayLike) -> Array:
        return np.full(len(as_rows(X)), self.at_squares(np.zeros(1))[0])

    def is_stationary(self) -> bool:
        return True

    def check_dimension(self, dimension: int) -> None:
        """Refuse points of a dimension that this kernel cannot take."""
        scale = self.scale
        if isinstance(scale, tuple) and len(scale) != dimension:
            raise InvalidInput(
                f"{self!r} cannot be used on points of dimension {dimension}: it has one scale for each of "
                f"{len(scale)} axes"
            )


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

    def check_on(self, pool: Pool) -> None:
        if type(self) is Gaussian and isinstance(self.scale, float) and self.scale >= SMALLEST:
            return  # its values are finite at any distance, in any dimension
        super().check_on(pool)

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


def on_one_axis(kernel: Kernel, points: Array) -> Callable[[Array, Array], Array]:
    """Return K as a function of points (n, 1) and (m, 1), none of them farther from zero than these.

    The values are the same to the last bit, without the checks that take longer where the arrays are short.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> values = on_one_axis(rbf(width=0.5), np.array([[-1.0], [1.0]]))
    >>> round(float(values(np.array([[0.0]]), np.array([[0.5]]))[0, 0]), 6)  # exp(-1)
    0.367879
    """
    if not isinstance(kernel, Radial) or isinstance(kernel.scale, tuple) or is_far(points / kernel.scale):
        return kernel
    scale, at_squares = kernel.scale, kernel.at_squares

    def values(points: Array, others: Array) -> Array:
        gaps = points / scale - (others / scale).T
        gaps *= gaps
        return at_squares(gaps)

    return values


def as_scale(name: str, value: object) -> Scale:
    """Return a positive number, or one for each axis as a tuple; refuse anything else.

    Examples
    --------
    >>> as_scale("width", [1, 2]), as_scale("width", [3])
    ((1.0, 2.0), 3.0)
    """
    if type(value) is float and 0 < value < np.inf:
        return value
    try:
        parts = np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    except ValueError:
        parts = []
    if not parts or not all(is_number(part) and 0 < float(part) < np.inf for part in parts):
        raise InvalidInput(f"must be a positive number, or one for each axis, got {value!r}", parameter=name)
    return float(parts[0]) if len(parts) == 1 else tuple(float(part) for part in parts)


def distance_at(values: Callable[[Array], Array], cut: float) -> float:
    """Return the distance at which a decreasing function of it has fallen to `cut`, by bisection."""
    inner, outer = 0.0, 1.0
    while values(np.array([outer]))[0] >= cut:
        inner, outer = outer, 2.0 * outer
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if values(np.array([middle]))[0] >= cut else (inner, middle)
    return outer * ROUNDED_UP


# ------------------------------------------------------------ the arithmetic of distances


def is_far(scaled: Array) -> bool:
    """Say whether scaled points are so far from zero that a difference of two of them has lost digits."""
    if scaled.size <= SHORT:
        return any(abs(x) > FAR for row in scaled.tolist() for x in row)
    return bool(np.abs(scaled).max() > FAR)


def evaluate(points: Array, others: Array | None, scale: Scale, values: Callable[[Array], Array]) -> Array:
    """Return values(|(x - y) / scale|^2) for every row x of `points` and y of `others`, or of `points` again.

    `values` may overwrite what it is given.

    Examples
    --------
    >>> evaluate(np.array([[0.0], [3.0]]), None, 1.0, np.sqrt)
    array([[0., 3.],
           [3., 0.]])
    """
    if others is not None and others.shape[1] != points.shape[1]:
        raise ValueError(f"points of dimension {points.shape[1]} and {others.shape[1]} have no distance")
    with np.errstate(over="ignore", invalid="ignore"):  # a square may become inf, at which a kernel has a value
        one = points if scale == 1.0 else points / scale
        other = one if others is None else others if scale == 1.0 else others / scale
        if not is_far(one if len(one) <= len(other) else other):  # digits are lost between two points that are both far
            return _evaluate(one, other, None, values)
        divisors = np.broadcast_to(np.asarray(scale, dtype=np.float64), points.shape[1])
        return _evaluate(points, points if others is None else others, divisors, values)


def _evaluate(one: Array, other: Array, divisors: Array | None, values: Callable[[Array], Array]) -> Array:
    if len(one) * len(other) <= BLOCK:
        return values(_squares(one, other, divisors))
    return _by_blocks(one, other, divisors, values, mirrored=other is one)


def _by_blocks(
    one: Array, other: Array, divisors: Array | None, values: Callable[[Array], Array], *, mirrored: bool
) -> Array:
    """Compute block after block of rows; of a symmetric matrix only what is right of the diagonal."""
    result = np.empty((len(one), len(other)))
    start = 0
    while start < len(one):
        first = start if mirrored else 0
        stop = start + max(1, BLOCK // (len(other) - first))
        block = values(_squares(one[start:stop], other[first:], divisors))
        result[start:stop, first:] = block
        if mirrored:
            result[stop:, start:stop] = block[:, stop - start :].T
        start = stop
    return result


def _squares(one: Array, other: Array, divisors: Array | None) -> Array:
    """Return |x - y|^2, the coordinates added in their order, as scipy adds them."""
    if divisors is None and one.shape[1] > FEW:
        from scipy.spatial.distance import cdist  # here, since it takes a third of a second to load

        return np.asarray(cdist(one, other, "sqeuclidean"))
    columns = other.T if one.shape[1] == 1 or len(one) < REPEATED else np.ascontiguousarray(other.T)
    total = _square(one[:, :1] - columns[0], divisors, 0)
    for axis in range(1, one.shape[1]):
        total += _square(one[:, axis : axis + 1] - columns[axis], divisors, axis)
    return total


def _square(gaps: Array, divisors: Array | None, axis: int) -> Array:
    if divisors is not None:
        gaps /= divisors[axis]
    gaps *= gaps
    return gaps

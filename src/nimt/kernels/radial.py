"""Kernels that are a function of the distance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.kernels.distances import Scale, as_rows, evaluate, is_far
from nimt.kernels.kernel import ROUNDED_UP, Kernel


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

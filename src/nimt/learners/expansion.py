"""A function in a kernel's space as an object: a sum of kernel columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, check_finite, freeze, is_number, real_array
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, as_kernel
from nimt.pools.pool import Pool, as_pool

EVALUATE_BLOCK = 2**26  # bytes of kernel values held at once


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""f = sum_j c_j K(z_j, .): a function in H, the kernel's space, whose norm and inner products are exact.

    It is called with points, as any target is; as `y` or as `initial` of a `KernelLearner` it makes the measure "rkhs"
    exact. Functions over one kernel are added and subtracted, and multiplied and divided by numbers.

    Parameters
    ----------
    kernel : Kernel
    centers : array (m, d), or (m,) for numbers
    coefficients : array (m,), or (m, q) for q outputs

    Examples
    --------
    >>> import nimt
    >>> f = Expansion(nimt.rbf(width=0.5), [0.0, 1.0], [1.0, -1.0])
    >>> g = 2.0 * f - Expansion(nimt.rbf(width=0.5), [0.0], [2.0])
    >>> g.coefficients, round(g.norm(), 6), round(f.inner(g), 6)
    (array([ 0., -2.]), 2.0, 1.963369)
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 0.5], f, measure="rkhs", tol=None, max_iterations=0)
    >>> bool(np.isclose(lesson.discrepancy[0], f.norm()))
    True
    """

    kernel: Kernel
    centers: Array
    coefficients: Array

    def __init__(self, kernel: Any, centers: ArrayLike, coefficients: ArrayLike) -> None:
        points = real_array("centers", centers)
        points = points[:, np.newaxis] if points.ndim == 1 else points
        weights = real_array("coefficients", coefficients)
        if points.ndim != 2 or not points.shape[1]:
            raise InvalidInput(f"must be points (m, d), got shape {points.shape}", parameter="centers")
        if weights.ndim not in (1, 2) or len(weights) != len(points):
            raise InvalidInput(
                f"must be one per center, ({len(points)},) or ({len(points)}, q) for q outputs, got shape "
                f"{weights.shape}",
                parameter="coefficients",
            )
        weights = weights[:, 0] if weights.shape[1:] == (1,) else weights
        check_finite("centers", points)
        check_finite("coefficients", weights)
        known = {"kernel": as_kernel(kernel), "centers": freeze(points), "coefficients": freeze(weights)}
        for name, value in known.items():
            object.__setattr__(self, name, value)

    def __call__(self, X: ArrayLike | Pool) -> Array:
        return self.predict(X)

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,), or (n, q)."""
        return evaluate(self.kernel, self.centers, self.coefficients, as_pool(X, "X").points)

    def inner(self, other: Expansion) -> float:
        """Return <f, g> in H, sum_j c_j g(z_j); over several outputs the sum of theirs."""
        self._check_same(other)
        if not len(self.centers) or not len(other.centers):
            return 0.0
        return float(np.sum(self.coefficients * other.predict(self.centers)))

    def norm(self) -> float:
        """Return |f| in H, sqrt(c' K c)."""
        return float(np.sqrt(max(0.0, self.inner(self))))

    def expand(self, kernel: Kernel) -> tuple[float, Expansion] | None:
        """Return 0 and itself: what it starts from and what a kernel adds; None for another kernel."""
        return (0.0, self) if kernel == self.kernel else None

    def __add__(self, other: object) -> Expansion:
        if is_number(other) and other == 0:
            return self  # the sum of a list starts from 0
        if not isinstance(other, Expansion):
            return NotImplemented
        self._check_same(other)
        if not len(self.centers) or not len(other.centers):
            return self if len(self.centers) else other
        parts = (np.concatenate([getattr(one, name) for one in (self, other)]) for name in ("centers", "coefficients"))
        return Expansion(self.kernel, *merge_centers(*parts))

    __radd__ = __add__

    def __sub__(self, other: object) -> Expansion:
        return self + -other if isinstance(other, Expansion) else NotImplemented

    def __neg__(self) -> Expansion:
        return self * -1.0

    def __mul__(self, factor: object) -> Expansion:
        if not is_number(factor):
            return NotImplemented
        return Expansion(self.kernel, self.centers, self.coefficients * float(factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Expansion:
        if not is_number(divisor):
            return NotImplemented
        if divisor == 0:
            raise InvalidInput("a function cannot be divided by 0")
        return self * (1.0 / float(divisor))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expansion):
            return NotImplemented
        arrays = ("centers", "coefficients")
        return self.kernel == other.kernel and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def __hash__(self) -> int:
        return hash((type(self), self.kernel, self.centers.shape))

    def __repr__(self) -> str:
        count, dimension = self.centers.shape
        outputs = f", {self.coefficients.shape[1]} outputs" if self.coefficients.ndim > 1 else ""
        return f"Expansion({self.kernel!r}, {count} centers in {dimension}-D{outputs})"

    def _check_same(self, other: Expansion) -> None:
        if not isinstance(other, Expansion):
            raise InvalidInput(f"an inner product is with another Expansion, got {other!r}")
        if self.kernel != other.kernel:
            raise InvalidInput(f"the functions live in different spaces: {self.kernel!r} and {other.kernel!r}")
        if not len(self.centers) or not len(other.centers):
            return
        for name, what in (("centers", "dimensions"), ("coefficients", "outputs")):
            one, two = (getattr(part, name).shape[1:] for part in (self, other))
            if one != two:
                raise InvalidInput(f"the functions differ in their {what}: {(*one, 1)[0]} and {(*two, 1)[0]}")


def evaluate(kernel: Kernel, centers: Array, coefficients: Array, points: Array) -> Array:
    """Return sum_j c_j K(z_j, .) at points, shape (n,) or (n, q)."""
    if not len(centers):
        return np.zeros((len(points), *coefficients.shape[1:]))
    if points.shape[1] != centers.shape[1]:
        raise InvalidInput(
            f"this function is known in {centers.shape[1]} dimensions and is now asked at points of {points.shape[1]}"
        )
    rows = max(1, EVALUATE_BLOCK // (8 * len(centers)))
    if len(points) <= rows:
        return np.asarray(kernel(points, centers) @ coefficients, dtype=np.float64)
    total = np.empty((len(points), *coefficients.shape[1:]))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        total[part] = np.asarray(kernel(points[part], centers)) @ coefficients
    return total


class KeptColumns:
    """K at fixed points, kept while the centers stay what they are: in a lesson the same are shown again and again.

    Values are those of `evaluate` to the last bit.

    Examples
    --------
    >>> import nimt
    >>> kept = KeptColumns(np.array([[0.0], [1.0]]))
    >>> [kept.evaluate(nimt.rbf(0.5), np.zeros((1, 1)), np.array([c])).round(3).tolist() for c in (1.0, 2.0)]
    [[1.0, 0.018], [2.0, 0.037]]
    """

    def __init__(self, points: Array) -> None:
        self.points = points
        self.known: tuple[Kernel, Array, Array] | None = None

    def evaluate(self, kernel: Kernel, centers: Array, coefficients: Array) -> Array:
        """Return sum_j c_j K(z_j, .) at the points."""
        if 8 * len(centers) * len(self.points) > EVALUATE_BLOCK:
            return evaluate(kernel, centers, coefficients, self.points)
        if self.known is None or self.known[0] is not kernel or not np.array_equal(self.known[1], centers):
            self.known = kernel, centers.copy(), np.asarray(kernel(self.points, centers))
        return np.asarray(self.known[2] @ coefficients)


def add_center(centers: Array, coefficients: Array, center: Array, coefficient: Array) -> tuple[Array, Array]:
    """Do what `merge_centers` does for different centers and one more, (1, d), in a tenth of the time.

    Examples
    --------
    >>> add_center(np.array([[2.0], [0.0]]), np.array([1.0, 5.0]), np.array([[-0.0]]), np.array([3.0]))
    (array([[2.],
           [0.]]), array([1., 8.]))
    """
    known = np.flatnonzero((centers == center).all(axis=1))
    if not known.size:
        return np.concatenate([centers, center + 0.0]), np.concatenate([coefficients, coefficient])
    summed = coefficients.copy()  # the caller may have kept what was there
    summed[known[0]] += coefficient[0]
    return centers, summed


def merge_centers(centers: Array, coefficients: Array) -> tuple[Array, Array]:
    """Return every center once, in the order of their first, with the sum of its coefficients.

    Examples
    --------
    >>> merge_centers(np.array([[2.0], [0.0], [2.0]]), np.array([1.0, 5.0, 3.0]))
    (array([[2.],
           [0.]]), array([4., 5.]))
    """
    both = centers + 0.0  # -0.0 and 0.0 are one point
    _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    merged = np.zeros((len(order), *coefficients.shape[1:]))
    np.add.at(merged, rank[np.ravel(place)], coefficients)
    return np.asarray(both[first[order]]), merged

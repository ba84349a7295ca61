"""Approximations for very large pools: K replaced by a product of features, or the pool by a part of it.

They are what the paper's remark on complexity names. None is exact, so none is chosen automatically. An approximate
kernel is a kernel like any other: the learner that is taught by it, and returned, has that kernel.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices, check_count
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, KernelLike, as_kernel, as_rows
from nimt.kernels.kernel import normalise
from nimt.kernels.radial import Gaussian, Scale, is_far
from nimt.pools.pool import FunctionLike, Points, Pool, as_pool, name_target, values_on

SMALLEST_VALUE = 1e-12  # of the singular values of a Gram matrix that is inverted


class FeatureKernel(Kernel):
    """K(x, y) = <phi(x), phi(y)> with m features."""

    @abstractmethod
    def features(self, X: Array) -> Array:
        """Return phi at the rows of X, shape (n, m)."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        one = self.features(as_rows(X))
        other = one if Y is None else self.features(as_rows(Y))
        return np.asarray(one @ other.T)

    def diag(self, X: ArrayLike) -> Array:
        return np.asarray(np.sum(self.features(as_rows(X)) ** 2, axis=1))


@dataclass(frozen=True, repr=False)
class RandomFeatureKernel(FeatureKernel):
    """Random Fourier features of an RBF kernel.

    Parameters
    ----------
    width : float, or one for each axis
        Of the RBF kernel exp(-|x - y|^2 / width^2).
    components, seed : int
    shift : float, or one for each axis
        Subtracted from the points, so that those far from zero keep their digits.

    Examples
    --------
    >>> kernel = RandomFeatureKernel(1.0, components=4000)
    >>> bool(abs(kernel([[0.0]], [[1.0]])[0, 0] - np.exp(-1.0)) < 0.05)
    True
    """

    width: Scale = 1.0
    components: int = 500
    seed: int = 0
    shift: Scale = 0.0

    def __post_init__(self) -> None:
        normalise(self, width=Gaussian(self.width).width)

    def features(self, X: Array) -> Array:
        # the same draws, in the same order, as scikit-learn's RBFSampler
        rng = np.random.RandomState(self.seed)
        frequencies = rng.normal(size=(X.shape[1], self.components))
        offsets = rng.uniform(0, 2 * np.pi, size=self.components)
        angles = (X - np.asarray(self.shift)) / Gaussian(self.width).scale @ frequencies + offsets
        return np.asarray(np.cos(angles) * np.sqrt(2.0 / self.components))


@dataclass(frozen=True, repr=False, eq=False)
class NystroemKernel(FeatureKernel):
    """The projection of a kernel onto its columns at a few points.

    Parameters
    ----------
    kernel : Kernel, or a kernel of scikit-learn
    basis : array (m, d)
        The points.
    """

    kernel: KernelLike
    basis: ArrayLike

    def __post_init__(self) -> None:
        normalise(self, kernel=as_kernel(self.kernel), basis=as_rows(self.basis))

    @cached_property
    def _whitening(self) -> Array:
        """K^(-1/2) on the basis."""
        left, values, right = np.linalg.svd(np.asarray(self.kernel(self.basis), dtype=np.float64))
        whitening: Array = left / np.sqrt(np.maximum(values, SMALLEST_VALUE)) @ right
        return whitening

    def features(self, X: Array) -> Array:
        return np.asarray(self.kernel(X, self.basis) @ self._whitening.T)

    def __repr__(self) -> str:
        points = say_count(len(np.asarray(self.basis)), "point", "d")
        return f"{type(self).__name__}(kernel={self.kernel!r}, basis=<{points}>)"


class FeatureOperator:
    """A `FeatureKernel` on a pool: a step costs O(n m), and the Gram matrix is never formed."""

    name = "features"

    def __init__(self, kernel: FeatureKernel, pool: Pool) -> None:
        self.features: Array = np.ascontiguousarray(kernel.features(pool.points), dtype=np.float64)

    def diagonal(self) -> Array:
        return np.asarray(np.sum(self.features**2, axis=1))

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        values += self.features @ (self.features[indices].T @ coefficients)


@dataclass(frozen=True)
class RandomFeatures:
    """Teach with random Fourier features in place of an RBF kernel; give it as `engine=`.

    The learner that is returned has the approximate kernel: it is the one that was taught.

    Parameters
    ----------
    components : int
        The error falls like 1 / sqrt(components).
    seed : int

    Examples
    --------
    >>> RandomFeatures(components=200).name
    'random features (200), an approximation'
    """

    components: int = 500
    seed: int = 0
    label: ClassVar[str] = "random features"

    def __post_init__(self) -> None:
        check_count("components", self.components, at_least=1)
        check_count("seed", self.seed, at_least=0, at_most=None)

    @property
    def name(self) -> str:
        return f"{self.label} ({self.components}), an approximation"

    def kernel(self, kernel: KernelLike, pool: Pool) -> Kernel:
        """Return the approximation of a kernel on a pool."""
        kernel = as_kernel(kernel)
        if type(kernel) is not Gaussian:
            raise InvalidInput(f"random features are known for the RBF kernel, not for {kernel!r}: use nimt.Nystroem")
        points = pool.points
        shift = tuple(points[0].tolist()) if is_far(points / kernel.scale) else 0.0
        return RandomFeatureKernel(kernel.width, self.components, self.seed, shift)


@dataclass(frozen=True)
class Nystroem(RandomFeatures):
    """Teach with the kernel's columns at a few points of the pool in place of all; give it as `engine=`.

    Works for every kernel. With as many components as points it is exact up to rounding.

    Examples
    --------
    >>> Nystroem(components=50).name
    'Nystroem (50), an approximation'
    """

    components: int = 200
    label: ClassVar[str] = "Nystroem"

    def kernel(self, kernel: KernelLike, pool: Pool) -> Kernel:
        if self.components > len(pool):
            raise InvalidInput(
                f"must be at most the {len(pool)} points of the pool, got {self.components}", parameter="components"
            )
        chosen = np.random.RandomState(self.seed).permutation(len(pool))[: self.components]  # as scikit-learn chooses
        return NystroemKernel(kernel, pool.take(chosen))


def subsample(X: Pool | ArrayLike, y: FunctionLike, size: int, *, seed: int = 0) -> tuple[Points, Array]:
    """Return part of a pool and the target there: teach on it, and evaluate the taught learner anywhere.

    The discrepancy of such a lesson is that of the part; `lesson.learner.predict(X)` gives the values elsewhere.

    Examples
    --------
    >>> part, target = subsample(np.arange(100.0), np.sin(np.arange(100.0)), 10)
    >>> len(part), target.shape
    (10, (10,))
    """
    pool = name_target(as_pool(X), y)
    check_count("size", size, at_least=1)
    if size > len(pool):
        raise InvalidInput(f"must be at most the {len(pool)} points of the pool, got {size}", parameter="size")
    chosen = np.sort(np.random.default_rng(seed).choice(len(pool), size=int(size), replace=False))
    part = Points(pool.take(chosen), pool.axis_names, pool.target_name)
    return part, values_on(pool, y, "the target")[chosen]

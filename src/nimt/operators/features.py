"""Approximations for very large pools: K replaced by a product of features, or the pool by a part of it.

They are what the paper's remark on complexity names. None is exact, so none is chosen automatically. An approximate
kernel is a kernel like any other: the learner that is taught by it, and returned, has that kernel.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process.kernels import RBF, Kernel

from nimt.arrays import Array, Indices, check_count
from nimt.counting import counted
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.kernels import origin_for
from nimt.pools.base import FunctionLike, Points, Pool, as_pool, values_on

if TYPE_CHECKING:
    from sklearn.kernel_approximation import Nystroem as Sampler


class FeatureKernel(Kernel):  # type: ignore[misc]
    """K(x, y) = <phi(x), phi(y)> with m features."""

    @abstractmethod
    def features(self, X: Array) -> Array:
        """Return phi at the rows of X, shape (n, m)."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Array:
        if eval_gradient:
            raise ValueError("an approximate kernel has no gradient by its parameters")
        one = self.features(np.atleast_2d(np.asarray(X, dtype=np.float64)))
        other = one if Y is None else self.features(np.atleast_2d(np.asarray(Y, dtype=np.float64)))
        return np.asarray(one @ other.T)

    def diag(self, X: ArrayLike) -> Array:
        return np.asarray(np.sum(self.features(np.atleast_2d(np.asarray(X, dtype=np.float64))) ** 2, axis=1))

    def is_stationary(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._shown().items())})"

    def _shown(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)
        return parameters


class RandomFeatureKernel(FeatureKernel):
    """Random Fourier features of an RBF kernel.

    Parameters
    ----------
    length_scale : float or array (d,)
        Of the RBF kernel.
    components, seed : int
    origin : float or array (d,)
        Subtracted from the points, so that those far from zero keep their digits.

    Examples
    --------
    >>> kernel = RandomFeatureKernel(1.0, components=4000)
    >>> bool(abs(kernel([[0.0]], [[1.0]])[0, 0] - np.exp(-0.5)) < 0.05)
    True
    """

    def __init__(
        self, length_scale: ArrayLike = 1.0, components: int = 500, seed: int = 0, origin: ArrayLike = 0.0
    ) -> None:
        self.length_scale = length_scale
        self.components = components
        self.seed = seed
        self.origin = origin

    def features(self, X: Array) -> Array:
        from sklearn.kernel_approximation import RBFSampler

        sampler = RBFSampler(gamma=0.5, n_components=self.components, random_state=self.seed)
        scaled = (X - np.asarray(self.origin)) / np.asarray(self.length_scale)
        return np.asarray(sampler.fit(scaled[:1]).transform(scaled))


class NystroemKernel(FeatureKernel):
    """The projection of a kernel onto its columns at a few points.

    Parameters
    ----------
    kernel : scikit-learn kernel
    basis : array (m, d)
        The points.
    """

    def __init__(self, kernel: Kernel, basis: ArrayLike) -> None:
        self.kernel = kernel
        self.basis = basis

    @cached_property
    def _sampler(self) -> Sampler:
        from sklearn.kernel_approximation import Nystroem as Sampler

        basis = np.asarray(self.basis) - self._origin
        return Sampler(kernel=self.kernel, n_components=len(basis), random_state=0).fit(basis)

    @cached_property
    def _origin(self) -> Array:
        return origin_for(self.kernel, np.asarray(self.basis))

    def features(self, X: Array) -> Array:
        return np.asarray(self._sampler.transform(X - self._origin))

    def _shown(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "basis": f"<{counted(len(np.asarray(self.basis)), 'point', 'd')}>"}


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

    def kernel(self, kernel: Kernel, pool: Pool) -> Kernel:
        """Return the approximation of a kernel on a pool."""
        if not behaves_like(kernel, RBF, "__call__"):
            raise InvalidInput(f"random features are known for the RBF kernel, not for {kernel!r}: use nimt.Nystroem")
        origin = origin_for(kernel, pool.points)
        return RandomFeatureKernel(kernel.length_scale, self.components, self.seed, origin if origin.any() else 0.0)


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

    def kernel(self, kernel: Kernel, pool: Pool) -> Kernel:
        if self.components > len(pool):
            raise InvalidInput(f"components must be at most the {len(pool)} points of the pool, got {self.components}")
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
    pool = as_pool(X)
    check_count("size", size, at_least=1)
    if size > len(pool):
        raise InvalidInput(f"size must be at most the {len(pool)} points of the pool, got {size}")
    chosen = np.sort(np.random.default_rng(seed).choice(len(pool), size=int(size), replace=False))
    return Points(pool.take(chosen)), values_on(pool, y, "the target")[chosen]

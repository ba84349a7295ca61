"""Approximations for very large pools: K replaced by a product of features, or the pool by a part of it.

They are what the paper's remark on complexity names. None is exact, so none is ever chosen by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process.kernels import RBF

from nimt.arrays import Array, Indices, check_count
from nimt.errors import InvalidInput
from nimt.pools.base import Points, Pool, as_pool, values_on


class FeatureOperator:
    """K approximated by Phi Phi', m features a point: a step costs O(n m) and the Gram matrix never exists."""

    def __init__(self, name: str, features: Array) -> None:
        self.name = name
        self.features = np.ascontiguousarray(features, dtype=np.float64)

    def diagonal(self) -> Array:
        return np.asarray(np.sum(self.features**2, axis=1))

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        values += self.features @ (coefficients @ self.features[indices])


@dataclass(frozen=True)
class RandomFeatures:
    """Teach with random Fourier features in place of an RBF kernel; give it as `engine=`.

    Parameters
    ----------
    components : int
        More of them, a smaller error: it falls like 1 / sqrt(components).
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
        check_count("seed", self.seed, at_least=0)

    @property
    def name(self) -> str:
        return f"{self.label} ({self.components}), an approximation"

    def operator(self, kernel: Any, pool: Pool) -> FeatureOperator:
        """Return the approximate operator of a kernel on a pool."""
        from sklearn.kernel_approximation import RBFSampler

        if type(kernel) is not RBF:
            raise InvalidInput(f"random features are known for the RBF kernel, not for {kernel!r}: use nimt.Nystroem")
        sampler = RBFSampler(gamma=0.5, n_components=self.components, random_state=self.seed)
        return FeatureOperator(self.name, sampler.fit_transform(pool.points / kernel.length_scale))


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

    def operator(self, kernel: Any, pool: Pool) -> FeatureOperator:
        from sklearn.kernel_approximation import Nystroem as Sampler

        if self.components > len(pool):
            raise InvalidInput(f"components must be at most the {len(pool)} points of the pool, got {self.components}")
        sampler = Sampler(kernel=kernel, n_components=self.components, random_state=self.seed)
        return FeatureOperator(self.name, sampler.fit_transform(pool.points))


def subsample(X: Pool | ArrayLike, y: Any, size: int, *, seed: int = 0) -> tuple[Points, Array]:
    """Return part of a pool and the target there: teach on it, and ask the taught learner anywhere.

    The discrepancy of such a lesson is that of the part; `lesson.learner.predict(X)` tells the rest.

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

"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.kernels.kernel import Kernel, as_rows, normalise


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    """K(x, y) = <x, y> + c; `nimt.linear` makes it."""

    c: float
    word: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        if not is_number(self.c) or not 0 <= float(self.c) < np.inf:
            raise InvalidInput(
                f"must be a finite number >= 0, or the kernel is not positive definite; got {self.c!r}", parameter="c"
            )
        normalise(self, c=float(self.c))

    @classmethod
    def of_sigma(cls, sigma_0: float = 1.0) -> Linear:
        """Return <x, y> + sigma_0^2, as scikit-learn's DotProduct is written."""
        if not is_number(sigma_0) or not 0 <= float(sigma_0) < 1e150:
            raise InvalidInput(f"must be a finite number >= 0, got {sigma_0!r}", parameter="sigma_0")
        return cls(float(sigma_0) ** 2)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        points = as_rows(X)
        return np.asarray(np.inner(points, points if Y is None else as_rows(Y)) + self.c)

    def diag(self, X: ArrayLike) -> Array:
        points = as_rows(X)
        return np.asarray(np.einsum("ij,ij->i", points, points) + self.c)

    def rank(self, dimension: int) -> float:
        return float(dimension + (self.c > 0))


def linear(c: float = 1.0) -> Linear:
    """Return k(x, y) = <x, y> + c, the kernel under which a kernel learner is a linear one.

    It equals the parametric learner with features (x, sqrt(c)), so with an intercept of its own (feature 1)
    only for c = 1, and without one for c = 0.

    Examples
    --------
    >>> float(linear()([[2.0]], [[3.0]])[0, 0])
    7.0
    """
    return Linear(c)

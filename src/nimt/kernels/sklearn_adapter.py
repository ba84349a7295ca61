"""Kernels of scikit-learn as ours: the same kernel where we have it, otherwise theirs inside one of ours.

Loaded only where a kernel of scikit-learn is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import kernels as theirs

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.kernels.families import BY_SKLEARN
from nimt.kernels.kernel import CUT, Kernel, KernelPower, KernelProduct, KernelSum, as_kernel


@dataclass(frozen=True, repr=False)
class SklearnKernel(Kernel):
    """A kernel of scikit-learn's that has no equal among ours, for instance of a class of the user."""

    kernel: theirs.Kernel

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        # not made an array of numbers here: what a kernel of the user may return is checked where it is first used
        values: Array = self.kernel(np.atleast_2d(X), None if Y is None else np.atleast_2d(Y))
        return values

    def diag(self, X: ArrayLike) -> Array:
        return np.asarray(self.kernel.diag(np.atleast_2d(X)), dtype=np.float64)

    def is_stationary(self) -> bool:
        return bool(self.kernel.is_stationary())

    def reach(self, cut: float = CUT) -> float:
        own = getattr(self.kernel, "reach", None)
        if own is not None:
            distance: float = own()
            return distance
        for name in BY_SKLEARN:
            if behaves_like(self.kernel, getattr(theirs, name), "__call__"):
                return _ours(name, self.kernel).reach(cut)
        return math.inf

    @property
    def origin(self) -> object:
        return self.kernel

    def __hash__(self) -> int:
        return hash(type(self.kernel))

    def __repr__(self) -> str:
        return repr(self.kernel)


def convert(kernel: theirs.Kernel) -> Kernel:
    """Return a kernel of scikit-learn as ours.

    Examples
    --------
    >>> convert(2.0 * theirs.Matern(0.5, nu=2.5) + theirs.DotProduct(3.0))
    2.0 * Matern(length_scale=0.5, nu=2.5) + linear(c=9.0)
    """
    kind = type(kernel)
    if isinstance(kernel, theirs.WhiteKernel | theirs.CompoundKernel):
        raise InvalidInput(
            f"{kind.__name__} is not a function of two points, so a learner cannot use it; leave {kernel!r} out"
        )
    if kind is theirs.Sum or kind is theirs.Product:
        combine = KernelSum if kind is theirs.Sum else KernelProduct
        return combine(as_kernel(kernel.k1), as_kernel(kernel.k2))
    if kind is theirs.Exponentiation:
        return KernelPower(as_kernel(kernel.kernel), kernel.exponent)
    if kind is theirs.ConstantKernel and isinstance(kernel.constant_value, Kernel):
        return kernel.constant_value  # made before scikit-learn was loaded, which then took it for a number
    if BY_SKLEARN.get(kind.__name__) is not None and getattr(theirs, kind.__name__) is kind:
        return _ours(kind.__name__, kernel)
    return SklearnKernel(kernel)


def _ours(name: str, kernel: theirs.Kernel) -> Kernel:
    own = getattr(theirs, name)
    numbers = {key: getattr(kernel, key) for key in own().get_params(deep=False) if not key.endswith("_bounds")}
    return BY_SKLEARN[name](**numbers)

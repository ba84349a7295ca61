"""A kernel on a pool: its diagonal, its values at differences, and the checks before it is used there."""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput, first_call_of
from nimt.kernels.gaussian import Gaussian
from nimt.kernels.kernel import Kernel, reach
from nimt.pools.pool import Pool

SMALLEST = float(np.finfo(float).tiny)  # that can be divided by
PROBED = 5  # points of a pool at which a kernel is evaluated as a check
SYMMETRIC_WITHIN = 1e-9  # of the largest value: matrix products round differently in the two triangles


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


def check_kernel_on(kernel: Kernel, pool: Pool) -> None:
    """Refuse a kernel that cannot take points of this dimension, or whose values cannot be those of a kernel."""
    if type(kernel) is Gaussian and isinstance(kernel.scale, float) and kernel.scale >= SMALLEST:
        return  # its values are finite at any distance, in any dimension
    named = getattr(kernel, "names", ())  # of a precomputed kernel: its rows and the pool must be the same things
    if named and pool.point_names and named != pool.point_names:
        raise InvalidInput(f"{kernel!r} and {pool!r} have different names: teach on kernel.pool")
    last = len(pool) - 1
    some = pool.take(np.array(sorted({last * part // (PROBED - 1) for part in range(PROBED)})))
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
    reach(kernel)
    with first_call_of(lambda: f"{kernel!r}.diag"):
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

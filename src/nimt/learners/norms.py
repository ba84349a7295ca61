"""Distances in a kernel's space: between two expansions exactly, elsewhere from values on a pool."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, TypeGuard, cast

import numpy as np

from nimt.arrays import Array
from nimt.errors import IllConditioned, InvalidInput
from nimt.kernels import Kernel
from nimt.learners.learner import InitialFunction, StartsFromInitial
from nimt.pools.pool import Pool, values_on

WORST_CONDITION = 1e12  # beyond it fewer than four digits of a squared norm would be right
LARGEST_SOLVE = 20_000  # points; the solve holds two dense matrices of this size


class Expansion(Protocol):
    """A learner that is an initial function and a kernel expansion."""

    kernel: Kernel
    initial: InitialFunction
    centers_: Array
    coefficients_: Array

    def has_centers(self) -> bool: ...

    def initial_is_table(self) -> bool: ...

    def is_mixed(self) -> bool: ...

    def expansion(self, points: Array) -> Array: ...


class Seated(Protocol):
    """Such a learner at work on a pool, with what it has learned there."""

    @property
    def learner(self) -> Expansion: ...

    pool: Pool
    values: Array
    coefficients: Array


def inner(one: Array, other: Array) -> float:
    """Return the sum of products over all points and outputs."""
    return float(np.ravel(one) @ np.ravel(other))


def is_expansion_from(target: object, pupil: Seated) -> TypeGuard[Expansion]:
    """Say whether f - f* is a kernel expansion: both start from the same function, over the same kernel."""
    if not isinstance(target, StartsFromInitial) or not hasattr(target, "expansion"):
        return False
    learner, goal = pupil.learner, cast(Expansion, target)
    if goal.kernel != learner.kernel or goal.is_mixed() or learner.is_mixed():
        return False
    if any(getattr(one, "scale_", 1.0) != 1.0 for one in (goal, learner)):  # decay and forgetting change the start
        return False
    one, other = learner.initial, goal.initial
    if learner.initial_is_table() or goal.initial_is_table():  # known on this pool only, so compared there
        return np.array_equal(values_on(pupil.pool, one, "initial"), values_on(pupil.pool, other, "initial"))
    if callable(one) or callable(other):
        return bool(one == other)  # a formula with a name equals its copies, any other function only itself
    return float(np.asarray(one)) == float(np.asarray(other))


def between_expansions(pupil: Seated, target: Array, goal: Expansion) -> Callable[[], float]:
    r"""|f - f*|_H^2 = sum_j a_j (f - f*)(z_j), with a the coefficients of f - f* and z its centers."""
    start = pupil.learner
    parts = [(learner, sign) for learner, sign in ((start, 1.0), (goal, -1.0)) if learner.has_centers()]
    if not parts:
        centers, weights = np.empty((0, pupil.pool.dimension)), np.empty((0, *target.shape[1:]))
    else:
        centers = np.concatenate([learner.centers_ for learner, _ in parts])
        weights = np.concatenate([sign * learner.coefficients_ for learner, sign in parts])
    fixed = np.zeros((len(centers), *target.shape[1:]))
    for learner, sign in parts:
        fixed += sign * learner.expansion(centers)
    columns = start.kernel(centers, pupil.pool.points) if len(centers) else np.empty((0, len(target)))

    def norm() -> float:
        at_centers = fixed + columns @ pupil.coefficients
        return root(inner(weights, at_centers) + inner(pupil.coefficients, pupil.values - target))

    return norm


def of_interpolant(pupil: Seated, target: Array) -> Callable[[], float]:
    """Solve once for the coefficients of f^0 - f* on the pool; each step then adds its own to them exactly."""
    at_start = pupil.coefficients.copy()
    residual = gram_solver(pupil.learner.kernel, pupil.pool.points)(pupil.values - target)

    def norm() -> float:
        return root(inner(residual + pupil.coefficients - at_start, pupil.values - target))

    return norm


def root(square: float) -> float:
    """Return the root of a square that rounding may have made a little negative; what is not finite stays so."""
    return math.sqrt(max(0.0, square)) if math.isfinite(square) else square


def gram_solver(kernel: Kernel, points: Array) -> Callable[[Array], Array]:
    """Return v -> K^-1 v on these points, refused where the Gram matrix is too ill-conditioned to mean anything."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve  # here, since few lessons measure in H
    from scipy.linalg.lapack import dpocon

    n = len(points)
    if n > LARGEST_SOLVE:
        raise InvalidInput(
            f"the norm in H needs a solve with a Gram matrix of {n} points; the limit is {LARGEST_SOLVE}"
        )
    gram = np.asarray(kernel(points, points), dtype=np.float64)
    size = float(np.abs(gram).sum(axis=0).max())
    try:
        factor = cho_factor(gram, lower=True)
        reciprocal, _ = dpocon(factor[0], size, uplo="L")
    except LinAlgError:
        reciprocal = 0.0
    if reciprocal * WORST_CONDITION < 1.0:
        condition = f"about {1.0 / reciprocal:.0e}" if reciprocal > 0 else "beyond rounding"
        raise IllConditioned(
            f"the Gram matrix of {kernel!r} on these {n} points has a condition number {condition}, so a norm in H "
            f"computed from values alone would mean nothing: measure in 'paper' or 'rms', use a narrower kernel or a "
            f"coarser pool, or give the target as a KernelLearner"
        )
    return lambda values: np.asarray(cho_solve(factor, values))

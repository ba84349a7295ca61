"""Distances in a kernel's space: between two expansions exactly, elsewhere from values on a pool."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nimt.arrays import Array
from nimt.errors import IllConditioned, InvalidInput, OutsideOfSpaceWarning, warn
from nimt.kernels import Kernel, profile
from nimt.learners.expansion import Expansion
from nimt.learners.learner import InitialFunction
from nimt.operators.grid import find_window
from nimt.pools.pool import Pool, values_on

WORST_CONDITION = 1e12  # beyond it fewer than four digits of a squared norm would be right
LARGEST_SOLVE = 20_000  # points; the solve holds two dense matrices of this size
NO_REST = 1e-9  # of |f - f*|: what rounding leaves outside of the kernel's functions


class InSpace(Protocol):
    """A learner that is an initial function and a kernel expansion."""

    kernel: Kernel
    initial: InitialFunction

    def initial_is_table(self) -> bool: ...

    def expand(self, kernel: Kernel) -> tuple[InitialFunction, Expansion] | None: ...


class Seated(Protocol):
    """Such a learner at work on a pool, with what it has learned there."""

    @property
    def learner(self) -> InSpace: ...

    pool: Pool
    values: Array
    coefficients: Array


def inner(one: Array, other: Array) -> float:
    """Return the sum of products over all points and outputs."""
    return float(np.ravel(one) @ np.ravel(other))


def expand_difference(pupil: Seated, target_function: object) -> Expansion | None:
    """Return f - f* as an expansion of the pupil's kernel, None where it is none: the starts must be one function."""
    kernel = pupil.learner.kernel
    expand: Callable[[Kernel], tuple[InitialFunction, Expansion] | None] = getattr(
        target_function, "expand", lambda _: None
    )
    own, goal = pupil.learner.expand(kernel), expand(kernel)
    if own is None or goal is None or not _are_equal(pupil.pool, own[0], goal[0]):
        return None
    return own[1] + -goal[1]


def _are_equal(pool: Pool, one: InitialFunction, other: InitialFunction) -> bool:
    if any(not callable(start) and np.ndim(start) for start in (one, other)):  # known on this pool only
        return np.array_equal(values_on(pool, one, "initial"), values_on(pool, other, "initial"))
    if callable(one) or callable(other):
        return bool(one == other)  # a formula with a name equals its copies, any other function only itself
    return float(np.asarray(one)) == float(np.asarray(other))


def measure_expansion(pupil: Seated, target: Array, difference: Expansion) -> Callable[[], float]:
    r"""|f - f*|_H^2 = sum_j a_j (f - f*)(z_j), with a the coefficients of f - f* and z its centers."""
    centers, weights = difference.centers, difference.coefficients
    if len(centers):
        fixed, columns = difference.predict(centers), difference.kernel(centers, pupil.pool.points)
    else:
        weights = fixed = np.zeros((0, *target.shape[1:]))
        columns = np.empty((0, len(target)))

    def norm() -> float:
        at_centers = fixed + columns @ pupil.coefficients
        return root(inner(weights, at_centers) + inner(pupil.coefficients, pupil.values - target))

    return norm


def of_interpolant(pupil: Seated, target: Array) -> Callable[[], float]:
    """Solve once for the coefficients of f^0 - f* on the pool; each step then adds its own to them exactly."""
    at_start = pupil.coefficients.copy()
    solve = gram_solver(pupil.learner.kernel, pupil.pool)
    solve.say_rest(pupil.values - target)
    residual = solve(pupil.values - target)

    def norm() -> float:
        return root(inner(residual + pupil.coefficients - at_start, pupil.values - target))

    return norm


def root(square: float) -> float:
    """Return the root of a square that rounding may have made a little negative; what is not finite stays so."""
    return math.sqrt(max(0.0, square)) if math.isfinite(square) else square


@dataclass(frozen=True, eq=False)
class GramSolver:
    """v -> K^-1 v on some points; for a singular K the pseudo-inverse, on the functions that the kernel makes there.

    Attributes
    ----------
    solve : function of an array (n,) or (n, q)
    range : array (n, r) or None
        An orthonormal basis of what the kernel makes there, None where that is everything.
    """

    kernel: Kernel
    solve: Callable[[Array], Array]
    range: Array | None = None

    def __call__(self, values: Array) -> Array:
        return self.solve(values)

    def rest(self, values: Array) -> float:
        """Return the share of |v| that no function of the kernel takes on these points."""
        size = float(np.linalg.norm(values))
        if self.range is None or size == 0.0:
            return 0.0
        return float(np.linalg.norm(values - self.range @ (self.range.T @ values))) / size

    def say_rest(self, errors: Array) -> None:
        """Warn where f - f* is not in the kernel's space."""
        share = self.rest(errors)
        if share > NO_REST:
            warn(
                f"of |f - f*| on the pool {share:.2g} is outside of the functions that {self.kernel!r} makes there: no "
                f"lesson changes that part, and the norm in H is of the others",
                OutsideOfSpaceWarning,
            )


def gram_solver(kernel: Kernel, pool: Pool) -> GramSolver:
    """Return v -> K^-1 v on a pool, refused where the Gram matrix is too ill-conditioned to mean anything.

    A kernel of finite rank, such as a linear one, is singular on many points, and has a pseudo-inverse there. On a grid
    where K is a product over the axes, its inverse is one too: 64 x 64 points take two matrices of 64 x 64.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve  # here, since few lessons measure in H
    from scipy.linalg.lapack import dpocon

    parts = _grams_of_axes(kernel, pool) or [_whole_gram(kernel, pool)]
    factors, reciprocal = [], 1.0
    try:
        for gram in parts:
            size = float(np.abs(gram).sum(axis=0).max())
            factors.append(cho_factor(gram, lower=True))
            reciprocal *= float(dpocon(factors[-1][0], size, uplo="L")[0])  # in this norm that of K is their product
    except LinAlgError:
        reciprocal = 0.0
    if reciprocal * WORST_CONDITION >= 1.0:

        def solve(values: Array) -> Array:
            result = np.reshape(values, (*(len(gram) for gram in parts), -1))
            for axis, factor in enumerate(factors):
                lines = np.moveaxis(result, axis, 0)
                solved = cho_solve(factor, lines.reshape(len(lines), -1)).reshape(lines.shape)
                result = np.moveaxis(solved, 0, axis)
            return np.asarray(result.reshape(np.shape(values)))

        return GramSolver(kernel, solve)
    if math.isfinite(kernel.rank(pool.dimension)):
        return _solve_on_range(kernel, _whole_gram(kernel, pool))
    condition = f"about {1.0 / reciprocal:.0e}" if reciprocal > 0 else "beyond rounding"
    raise IllConditioned(
        f"the Gram matrix of {kernel!r} on these {len(pool)} points has a condition number {condition}, so a norm in H "
        f"computed from values alone would mean nothing: measure in 'paper' or 'rms', use a narrower kernel or a "
        f"coarser pool, or give the target as a KernelLearner or an Expansion"
    )


def _whole_gram(kernel: Kernel, pool: Pool) -> Array:
    if len(pool) > LARGEST_SOLVE:
        raise InvalidInput(
            f"the norm in H needs a solve with a Gram matrix of {len(pool)} points; the limit is {LARGEST_SOLVE}"
        )
    return np.asarray(kernel(pool.points, pool.points), dtype=np.float64)


def _grams_of_axes(kernel: Kernel, pool: Pool) -> list[Array] | None:
    """Return a matrix per axis of a grid, where K is their Kronecker product; None elsewhere."""
    window = find_window(kernel, pool) if pool.dimension > 1 else None
    if window is None or window.taps is None or max(window.grid.shape) > LARGEST_SOLVE:
        return None
    grams = []
    for axis, (length, spacing) in enumerate(zip(window.grid.shape, window.grid.spacing, strict=True)):
        apart = np.zeros((length, pool.dimension))
        apart[:, axis] = spacing * np.arange(length)
        places = np.arange(length)
        column = profile(kernel, apart) / (window.height if axis else 1.0)  # the height once
        grams.append(column[np.abs(places[:, np.newaxis] - places)])
    return grams


def _solve_on_range(kernel: Kernel, gram: Array) -> GramSolver:
    """Return the pseudo-inverse of K = L L' = Q R R' Q', by a Cholesky factor L (n, r) with pivots."""
    from scipy.linalg import qr, solve_triangular
    from scipy.linalg.lapack import dpstrf

    packed, pivots, rank, _ = dpstrf(gram, tol=-1.0, lower=1)  # below n eps max K(x, x) it is rounding
    factor = np.empty((len(gram), int(rank)))
    factor[pivots - 1] = np.tril(packed)[:, : int(rank)]
    basis, corner = qr(factor, mode="economic")

    def solve(values: Array) -> Array:
        inside = solve_triangular(corner, solve_triangular(corner, basis.T @ values), trans="T")
        return np.asarray(basis @ inside)

    return GramSolver(kernel, solve, np.asarray(basis))

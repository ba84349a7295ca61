"""How far the learner still is from the target: the discrepancy M(f, f*)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpocon

from nimt.arrays import Array
from nimt.errors import IllConditioned, InvalidInput
from nimt.learners.base import Pupil
from nimt.learners.kernel import KernelLearner, KernelPupil
from nimt.learners.linear import LinearLearner, LinearPupil
from nimt.pools.base import values_on

Measure = Callable[[], float]

MEASURES = ("paper", "rms", "rkhs", "parameters")
WORST_CONDITION = 1e12  # beyond it fewer than four digits of a squared norm would be right
LARGEST_SOLVE = 20_000  # points; the solve holds two dense matrices of this size


def scale_of(measure: str, n: int) -> float:
    """Return s such that M = s * sqrt(sum (f - f*)^2): 1 / n for "paper", 1 / sqrt(n) for "rms"."""
    return 1.0 / n if measure == "paper" else 1.0 / float(np.sqrt(n))


def check_measure(measure: Any) -> str:
    """Return the name, or say which names there are."""
    if not isinstance(measure, str) or measure not in MEASURES:
        raise InvalidInput(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
    return str(measure)


def measure_of(name: str, pupil: Pupil, target: Array, target_function: Any) -> Measure:
    """Return a function of no arguments that measures the pupil as it is when called.

    Parameters
    ----------
    name : {"paper", "rms", "rkhs", "parameters"}
    pupil : Pupil
    target : array (n,)
        f* on the pool.
    target_function : object
        What the caller gave as y; a `KernelLearner` makes "rkhs" exact, a `LinearLearner` gives "parameters" its w*.
    """
    if name in ("paper", "rms"):
        scale = scale_of(name, len(target))

        def on_pool() -> float:
            return scale * float(np.linalg.norm(pupil.values - target))

        return on_pool
    if name == "parameters":
        return _in_parameters(pupil, target_function)
    if not isinstance(pupil, KernelPupil):
        raise InvalidInput("measure='rkhs' needs a KernelLearner: no other learner lives in a kernel's space")
    if _is_expansion_from(target_function, pupil):
        return _between_expansions(pupil, target, target_function)
    return _of_interpolant(pupil, target)


def _in_parameters(pupil: Pupil, target_function: Any) -> Measure:
    if not isinstance(pupil, LinearPupil) or not isinstance(target_function, LinearLearner):
        raise InvalidInput("measure='parameters' is |w - w*|: both the learner and y must be a LinearLearner")
    goal = target_function.current_weights()
    if goal.shape != pupil.learner.current_weights().shape:
        raise InvalidInput(f"the target has {goal.size} weights, the learner {pupil.learner.current_weights().size}")
    return lambda: float(np.linalg.norm(pupil.learner.current_weights() - goal))


def _is_expansion_from(target: Any, pupil: KernelPupil) -> bool:
    """Say whether f - f* is a kernel expansion: both start from the same function, over the same kernel."""
    learner = pupil.learner
    if not isinstance(target, KernelLearner) or target.kernel != learner.kernel:
        return False
    one, other = learner.initial, target.initial
    if learner.initial_is_table() or target.initial_is_table():  # known on this pool only, so compared there
        return np.array_equal(values_on(pupil.pool, one, "initial"), values_on(pupil.pool, other, "initial"))
    return one is other or (not callable(one) and not callable(other) and float(one) == float(other))


def _between_expansions(pupil: KernelPupil, target: Array, goal: KernelLearner) -> Measure:
    r"""|f - f*|_H^2 = sum_j a_j (f - f*)(z_j), with a the coefficients of f - f* and z its centers."""
    start = pupil.learner
    parts = [(learner, sign) for learner, sign in ((start, 1.0), (goal, -1.0)) if learner.steps_so_far()]
    if not parts:
        centers, weights = np.empty((0, pupil.pool.dimension)), np.empty(0)
    else:
        centers = np.concatenate([learner.centers_ for learner, _ in parts])
        weights = np.concatenate([sign * learner.coefficients_ for learner, sign in parts])
    fixed = start.expansion(centers) - goal.expansion(centers)
    columns = pupil.learner.kernel(centers, pupil.pool.points) if len(centers) else np.empty((0, len(target)))

    def norm() -> float:
        at_centers = fixed + columns @ pupil.coefficients
        square = weights @ at_centers + pupil.coefficients @ (pupil.values - target)
        return root(float(square))

    return norm


def _of_interpolant(pupil: KernelPupil, target: Array) -> Measure:
    """Solve once for the coefficients of f^0 - f* on the pool; each step then adds its own to them exactly."""
    at_start = pupil.coefficients.copy()
    residual = gram_solver(pupil.learner.kernel, pupil.pool.points)(pupil.values - target)

    def norm() -> float:
        square = (residual + pupil.coefficients - at_start) @ (pupil.values - target)
        return root(float(square))

    return norm


def root(square: float) -> float:
    """Return the root of a square that rounding may have made a little negative; what is not finite stays so."""
    return math.sqrt(max(0.0, square)) if math.isfinite(square) else square


def gram_solver(kernel: Any, points: Array) -> Callable[[Array], Array]:
    """Return v -> K^-1 v on these points, refused where the Gram matrix is too ill-conditioned to mean anything."""
    n = len(points)
    if n > LARGEST_SOLVE:
        raise InvalidInput(
            f"the norm in H needs a solve with a Gram matrix of {n} points; the limit is {LARGEST_SOLVE}"
        )
    gram = np.asarray(kernel(points), dtype=np.float64)
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

"""What no lesson can change: the part of f - f* that a limited pool, or equal points with different labels, leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array
from nimt.pools.pool import Pool
from nimt.theory.lesson_start import LessonStart, lesson_start
from nimt.theory.whole import decay_of


@dataclass(frozen=True, eq=False)
class PoolLimit:
    """Where the lessons of a teacher end that may show some points only.

    Attributes
    ----------
    residual : array (n,)
        f - f* in the limit: r0 - K_{.P} K_PP^-1 r0_P.
    discrepancy : float
        M there.
    """

    residual: Array
    discrepancy: float


def pool_limit(
    learner: Any, teacher: Any, X: Pool | ArrayLike, y: Any, *, measure: Any = "paper", seed: int = 0
) -> PoolLimit:
    r"""Return what remains of f - f* when a teacher has taught all its points, r_inf = r0 - K_{.P} K_PP^-1 r0_P.

    A step at a point of P adds a multiple of its kernel column, so r_t - r0 stays among the combinations of these
    columns, and the lesson rests where f = f* on P. One combination does that, and r_inf is what it leaves elsewhere.
    It does not depend on the learning rate, nor on what is shown when. A direction of K_PP that rounding cannot tell
    from 0 counts as one that no step changes.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> limit = pool_limit(learner, nimt.GreedyTeacher(pool=[0]), [0.0, 1.0], [1.0, 0.0])
    >>> limit.residual.round(4)  # learned at 0, and with it exp(-1) at 1
    array([0.    , 0.3679])
    """
    start = lesson_start(learner, teacher, X, y, tol=1.0, measure=measure, seed=seed)
    residual = limit_residual(start)
    return PoolLimit(residual, start.scale * float(np.linalg.norm(residual)))


def limit_residual(start: LessonStart) -> Array:
    """Return f - f* in the limit of a lesson whose rate is small enough."""
    if start.rows is not None:
        rest = decay_of(start).rest
        assert rest is not None
        return rest
    return find_unreachable(start)


def find_unreachable(start: LessonStart) -> Array:
    """Return what remains because f has one value where points are equal: each difference from their common mean.

    Two points that are equal have one kernel column, so every step changes f by the same at both.
    """
    if start.pool.has_distinct_points:
        return np.zeros(len(start.pool))
    _, place, count = np.unique(start.pool.points + 0.0, axis=0, return_inverse=True, return_counts=True)
    place = np.ravel(place)
    means = np.bincount(place, weights=start.residual) / count
    differences = start.residual - means[place]
    return np.where(count[place] > 1, differences, 0.0)

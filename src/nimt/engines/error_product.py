"""K r, r = f - f*, kept up to date for a score that needs it (`Score.keeps_product`).

A compiled engine makes one `ErrorProduct`. The last q rows of the score's constants are K r, one row per output, so
that the score reads it like any constant. A step that adds c_j K(x_j, .) to f adds c_j times an *effect* to it: the
column K P K(x_j, .), with P = 1 at the points that may be shown and 0 elsewhere. The K on the left is that of the
score, which may be another one than the learner's: a gray-box teacher has an estimate of it. Effects are computed when
a point is first shown and kept (`effects`, for whole columns), or all at once where they are short
(`make_effect_lists`). Every RENEWED steps K r is computed anew, so that rounding does not add up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags
from nimt.kernels import CUT, Kernel
from nimt.operators.dense import GRAM_LIMIT, DenseOperator
from nimt.operators.grid import find_window
from nimt.operators.neighbours import Lists, count_pairs
from nimt.operators.streamed_columns import CACHE, StreamedOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores import JointDecrease, Score

RENEWED = 1024  # steps
SHORT = 4  # points of a pool for one in an effect, from which lists of effects are cheaper than whole columns
FEW = 3  # points of a pool for one in a column of K, from which it is cheaper to leave the others out
EFFECTS_LIMIT = 2**30  # bytes of lists of effects


def is_same_kernel(one: Kernel, other: Kernel) -> bool:
    """Say whether two kernels are of one class with the same parameters."""
    return type(one) is type(other) and bool(one == other)


class ErrorProduct:
    """What K r is for a score on a pool.

    Parameters
    ----------
    score : Score
        One with `keeps_product`.
    pool : Pool
    offered : array (n,) of bool
        The points that may be shown.
    """

    def __init__(self, score: Score, pool: Pool, offered: Flags) -> None:
        self.pool = pool
        self.offered = offered
        self.operator: DenseOperator = score.operator_on(pool)
        self.own: Array = score.constants_among(self.operator, offered)

    def of(self, errors: Array) -> Array:
        """Return K r for errors (n,) or (n, q), as rows: (q, n)."""
        rows = errors.reshape(len(errors), -1)
        return np.ascontiguousarray(self.operator.apply(np.where(self.offered[:, np.newaxis], rows, 0.0)).T)

    def effects(self, columns: StreamedOperator) -> StreamedOperator:
        """Return the columns K P K(x_j, .), computed from the learner's when they are asked for."""

        def fill(index: int, result: Array) -> None:
            column = np.where(self.offered, columns.column(index), 0.0)
            near = np.flatnonzero(np.abs(column) > CUT * np.abs(column).max())
            if self.operator.keeps_gram and FEW * len(near) < len(column):
                result[:] = column[near] @ self.operator.gram[near]
            else:
                result[:] = self.operator.apply(column)

        return StreamedOperator(columns.kernel, self.pool, CACHE, fill)

    def expect_effects(self, columns: StreamedOperator, effects: StreamedOperator | None) -> StreamedOperator | None:
        """Return the effects that the teacher expects: with the score's K on both sides, in place of the learner's."""
        if self.operator.kernel is columns.kernel or is_same_kernel(self.operator.kernel, columns.kernel):
            return effects
        return self.effects(StreamedOperator(self.operator.kernel, self.pool))


def make_effect_lists(lists: Lists, of_score: Lists, offered: Flags) -> Lists:
    """Return the effects of all points as lists, from those of the learner's K and of the score's."""
    from scipy.sparse import csr_array

    begin, members, weights = lists
    own_begin, own_members, own_weights = of_score
    n = len(begin) - 1
    gram = csr_array((weights, members, begin), shape=(n, n))
    rows = np.repeat(np.arange(n), np.diff(own_begin))
    effects = gram @ csr_array((own_weights * offered[rows], own_members, own_begin), shape=(n, n))
    effects.sort_indices()
    return effects.indptr.astype(np.int64), effects.indices.astype(np.int32, copy=False), np.asarray(effects.data)


def find_obstacle_to_lists(score: Score, kernel: Kernel, pool: Pool, cells: float) -> str | None:
    """Return why effects are not kept as lists, for a kernel whose columns have so many cells; None if they are."""
    own = score.operator_on(pool).kernel
    if not is_same_kernel(own, kernel):
        window = find_window(own, pool)
        if not own.is_stationary():
            return f"its score is of the kernel {own!r}, which is not stationary"
        cells = max(cells, count_pairs(own, pool) / len(pool) if window is None else window.cells)
    wide = 2**pool.dimension * cells
    if SHORT * wide > len(pool):
        return "a step changes K r at most points"
    if 12 * wide * len(pool) > EFFECTS_LIMIT:
        return f"the columns of K K would take {12 * wide * len(pool) / 2**30:.1f} GiB"
    return None


def find_obstacle_to_columns(score: Score, pool: Pool, k: int) -> str | None:
    """Return why whole columns of K K cannot be computed, or not kept for a pack of k, None if they can."""
    if isinstance(score, JointDecrease) and 8 * k * len(pool) > CACHE:
        return f"the columns of K K of {k:,} points would take {8 * k * len(pool) / 2**30:.1f} GiB"
    if not score.keeps_product or 8 * len(pool) ** 2 <= GRAM_LIMIT:
        return None
    if find_window(score.operator_on(pool).kernel, pool) is not None:
        return None
    return f"K r needs a Gram matrix of {len(pool):,} points"


def product_rows(constants: Array, q: int) -> NDArray[np.float64]:
    """Return the rows of a score's constants that hold K r."""
    return constants[len(constants) - q :]

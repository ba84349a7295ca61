"""Which points of a lesson's pool a teacher may show."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Indices, is_number
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.wording import Wording


def refuse_pool(pool: object) -> InvalidInput:
    """Return the error for a pool that is neither a share nor a list of points."""
    other = Wording(", a boolean mask or indices", "")
    return InvalidInput(other.embed("must be a share in (0, 1]", f", got {pool!r}"), parameter="pool")


def candidates_of(pool: ArrayLike | None, shape: tuple[int, ...], rng: np.random.Generator) -> Indices | None:
    """Return the sorted pool indices a teacher may show, or None for all of them.

    Parameters
    ----------
    pool : None, a share, a boolean mask of shape (n,) or the grid's, or indices
        The teacher's option.
    shape : tuple of int
        Of the pool of the lesson.
    rng : numpy Generator
        Draws the share, and is used only for this.
    """
    n = math.prod(shape)
    if pool is None:
        return None
    if is_number(pool):
        return np.sort(rng.choice(n, size=max(1, int(float(pool) * n)), replace=False)).astype(np.intp)
    if np.ma.is_masked(pool):
        raise InvalidInput("the teacher's pool has masked values, which are missing: leave these points out")
    array = np.asarray(pool)
    if array.dtype == bool:
        if array.shape not in ((n,), shape):
            raise InvalidInput(
                f"the teacher's pool is a mask of shape {array.shape}, the lesson's pool has "
                f"{say_count(n, 'point', 'd')} and takes "
                f"one of shape {' or '.join(str(allowed) for allowed in dict.fromkeys([(n,), shape]))}"
            )
        chosen = np.flatnonzero(array.reshape(n))
    elif array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0):
        chosen = np.unique(array.astype(np.intp))
        if chosen.size and (chosen[0] < 0 or chosen[-1] >= n):
            wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
            raise InvalidInput(f"the teacher's pool names the point {wrong}, the lesson's pool has 0 to {n - 1}")
    else:
        raise refuse_pool(pool)
    if chosen.size == 0:
        raise InvalidInput("the teacher's pool is empty: it has nothing to show")
    return chosen

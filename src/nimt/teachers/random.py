"""Random functional teaching: examples drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices, check_finite, real_array
from nimt.errors import InvalidInput
from nimt.teachers.base import Selection, Teacher, View, check_k, count_of


@dataclass(frozen=True, eq=False)
class RandomTeacher(Teacher):
    """Random functional teaching (RFT): examples drawn at random, labelled truly [Zhang23, Alg. 1].

    Parameters
    ----------
    k : int or float
        A count from 1 to n, or a share in (0, 1] of what the teacher may show.
    replace : bool
        Draw with replacement, as the published experiments do.
    weights : array (n,), optional
        The distribution over the pool of the lesson, up to a factor; uniform by default.

    Examples
    --------
    >>> RandomTeacher(k=0.05).pack_size(8464)
    423
    """

    k: int | float = 1
    replace: bool = True
    weights: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if not isinstance(self.replace, bool | np.bool_):
            raise InvalidInput(f"replace must be True or False, got {self.replace!r}")
        if self.weights is not None:
            weights = real_array("weights", self.weights)
            if weights.ndim != 1:
                raise InvalidInput(f"weights must have shape (n,), got {weights.shape}")
            check_finite("weights", weights)
            if (negative := np.flatnonzero(weights < 0)).size:
                raise InvalidInput(f"weights must be >= 0, got {weights[negative[0]]!s} at index {negative[0]}")
            if not weights.any():
                raise InvalidInput(f"weights must not all be zero, got {len(weights)} zeros")
            if weights.max() > np.finfo(np.float64).max / len(weights):
                raise InvalidInput(f"weights must have a finite sum, got {weights.max()!s}: divide them by the largest")

    def select(self, view: View) -> Selection:
        n = len(view)
        k = count_of(self.k, n)
        if self.weights is None:
            indices = view.rng.integers(n, size=k) if self.replace else view.rng.choice(n, size=k, replace=False)
        else:
            shares = self.shares(view.candidates, k)
            if self.replace:
                indices = np.searchsorted(cumulative(shares), view.rng.random(k), side="right")
            else:
                indices = view.rng.choice(n, size=k, replace=False, p=shares)
        return view.shown(indices)

    def shares(self, candidates: Indices, k: int) -> Array:
        """Return the probability of each candidate."""
        weights = np.asarray(self.weights, dtype=np.float64)
        if len(candidates) and candidates[-1] >= len(weights):
            raise InvalidInput(f"weights has {len(weights)} entries and the pool more: give one weight per point")
        mine = weights[candidates]
        possible = np.count_nonzero(mine)
        if possible == 0 or (not self.replace and possible < k):
            raise InvalidInput(f"only {possible} of the points this teacher may show have a positive weight, k is {k}")
        return np.asarray(mine / mine.sum())


def cumulative(shares: Array) -> Array:
    """Return the cumulative distribution, its last entry exactly 1."""
    total = np.cumsum(shares)
    return np.asarray(total / total[-1])

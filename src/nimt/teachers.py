"""Teachers: from what a gray-box teacher may see to what it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.checks import is_number, is_whole
from nimt.errors import InvalidInput
from nimt.kernels import check_kernel
from nimt.losses import Loss, as_loss
from nimt.pools import Pool, check_finite, real_array

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Memory = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Selection:
    """What a teacher shows: pool indices and labels, the scores it chose by, and what it wants to remember."""

    indices: Indices
    labels: Array
    scores: Array | None = None
    memory: Memory | None = None


@dataclass(frozen=True, eq=False)
class View:
    """All a teacher may see. Neither the loss, nor the learning rate, nor the kernel is in it: a gray box.

    A teacher with a limited pool is given the view of that pool alone, so it cannot show anything else.

    Attributes
    ----------
    step : int
    pool : Grid or Points
        The points it may show, n of them.
    predictions : array (n,)
        The learner's values there, read-only.
    target : array (n,)
        f* there, read-only.
    rng : numpy Generator
        The teacher's own stream.
    memory : mapping of names to arrays, or None
        What this teacher returned as `Selection.memory` the step before.
    candidates : array (n,) of int
        Where the points stand in the pool of the lesson.
    """

    step: int
    pool: Pool
    predictions: Array
    target: Array
    rng: np.random.Generator
    memory: Memory | None
    candidates: Indices

    def shown(
        self,
        indices: ArrayLike,
        scores: Array | None = None,
        *,
        labels: ArrayLike | None = None,
        memory: Memory | None = None,
    ) -> Selection:
        """Make the selection that shows these points, with the truth as labels unless others are given."""
        chosen = checked_indices(indices, len(self))
        return Selection(chosen, self.target[chosen] if labels is None else np.atleast_1d(labels), scores, memory)

    def __len__(self) -> int:
        return len(self.target)


@dataclass(frozen=True, eq=False)
class AlternativeLabels:
    """Label a step's whole pack by another target, with a probability: the paper's alternative teaching.

    The examples are still chosen by the true target.

    Parameters
    ----------
    other_target : array or callable
        Like the target of the lesson.
    probability : float in [0, 1]
    """

    other_target: Any
    probability: float = 0.2

    def __post_init__(self) -> None:
        if not is_number(self.probability) or not 0 <= self.probability <= 1:
            raise InvalidInput(f"probability must be a number from 0 to 1, got {self.probability!r}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Teacher:
    """The options every teacher has; a teacher of your own inherits them and adds `select(view)`.

    Parameters
    ----------
    pool : None, float in (0, 1], boolean mask (n,) or of the grid's shape, or indices
        The points it can show: all, a share drawn once from the seed, or these.
    labels : None or AlternativeLabels
        The truth, or another target now and then.
    """

    pool: Any = None
    labels: AlternativeLabels | None = None

    def __post_init__(self) -> None:
        if self.labels is not None and not isinstance(self.labels, AlternativeLabels):
            raise InvalidInput(f"labels must be None or nimt.AlternativeLabels(other_target), got {self.labels!r}")
        if isinstance(self.pool, bool) or (is_number(self.pool) and not 0 < float(self.pool) <= 1):
            raise InvalidInput(f"pool must be a share in (0, 1], a boolean mask or indices, got {self.pool!r}")
        if is_whole(self.pool):
            raise InvalidInput(f"pool={self.pool!r} could be a share or a point: write pool=1.0 or pool=[{self.pool}]")

    def pack_size(self, n: int) -> int | None:
        """Return how many examples a pack from n points has, or None where that is known only once it is chosen."""
        k = getattr(self, "k", None)
        return None if k is None else count_of(k, n)

    def select(self, view: View) -> Selection:
        """Choose what to show next."""
        raise InvalidInput(f"{type(self).__name__} has no select(view): a teacher chooses by that method")


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


@dataclass(frozen=True, eq=False)
class GreedyTeacher(Teacher):
    """Greedy functional teaching (GFT): the k points where the learner is furthest off [Zhang23, Alg. 1].

    Ties go to the lowest index, and a pack is listed in the order of the pool.

    Parameters
    ----------
    k : int or float
        A count from 1 to n, or a share in (0, 1]: k=1 shows one example a step, k=1.0 the whole pool.
    score : {"residual", "gradient"}
        "residual" is |f - f*|, all a gray-box teacher can know. "gradient" is the paper's exact rule
        |dL/df| sqrt(K(x, x)), for a teacher who is given the learner's `loss` and `kernel`.

    Examples
    --------
    >>> GreedyTeacher(k=1.0).pack_size(280)
    280
    """

    k: int | float = 1
    score: str = "residual"
    loss: str | Loss | None = None
    kernel: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if self.score not in ("residual", "gradient"):
            raise InvalidInput(f"score must be 'residual' or 'gradient', got {self.score!r}")
        if self.score == "gradient":
            if self.loss is None or self.kernel is None:
                raise InvalidInput("score='gradient' needs the learner's loss= and kernel=: no view holds them")
            as_loss(self.loss)
            check_kernel(self.kernel)
        elif self.loss is not None or self.kernel is not None:
            raise InvalidInput("loss= and kernel= are used by score='gradient' only")

    def select(self, view: View) -> Selection:
        scores = self.scores(view)
        return view.shown(largest(scores, count_of(self.k, len(view))), scores)

    def scores(self, view: View) -> Array:
        """Return how much each point is worth showing."""
        if self.score == "residual":
            return residual_size(view.predictions, view.target)
        assert self.loss is not None
        slopes = as_loss(self.loss).slope(view.predictions, view.target)
        return np.asarray(np.abs(slopes) * np.sqrt(self.kernel.diag(view.pool.points)))


def checked_indices(indices: ArrayLike, n: int) -> Indices:
    """Return the indices of a pack, or say what is wrong with what a teacher chose."""
    chosen = np.atleast_1d(np.asarray(indices))
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise InvalidInput(f"a teacher must show at least one whole-numbered index, it chose {indices!r}")
    if chosen.min() < 0 or chosen.max() >= n:
        wrong = chosen.min() if chosen.min() < 0 else chosen.max()
        raise InvalidInput(f"a teacher chose the index {wrong}, and may show 0 to {n - 1}")
    return chosen.astype(np.intp, copy=False)


def residual_size(predictions: Array, target: Array) -> Array:
    """Return |f - f*| at every point; with several outputs, its Euclidean length."""
    difference = predictions - target
    return np.abs(difference) if difference.ndim == 1 else np.asarray(np.linalg.norm(difference, axis=1))


def largest(scores: Array, k: int) -> Indices:
    """Return the indices of the k largest scores in ascending order; of equals, those with the lowest index.

    A score that is NaN counts as the largest: a learner that has lost its way is corrected first.

    Examples
    --------
    >>> largest(np.array([1.0, 3.0, 3.0, 2.0]), 1)
    array([1])
    >>> largest(np.array([1.0, 3.0, 3.0, 2.0]), 3)
    array([1, 2, 3])
    """
    n = len(scores)
    if k == 1:
        return np.array([np.argmax(scores)])
    if k == n:
        return np.arange(n)
    known = np.where(np.isnan(scores), np.inf, scores)
    threshold = np.partition(known, n - k)[n - k]
    above = np.flatnonzero(known > threshold)
    equal = np.flatnonzero(known == threshold)[: k - len(above)]
    return np.sort(np.concatenate([above, equal]))


def cumulative(shares: Array) -> Array:
    """Return the cumulative distribution, its last entry exactly 1."""
    total = np.cumsum(shares)
    return np.asarray(total / total[-1])


def check_k(k: Any) -> None:
    """Refuse a k that can be right for no pool."""
    if not is_number(k):
        raise InvalidInput(f"k must be a count >= 1 or a share in (0, 1], got {k!r}")
    if is_whole(k):
        if int(k) < 1:
            raise InvalidInput(f"k must be a count >= 1 or a share in (0, 1], got {k!r}")
    elif not 0 < float(k) <= 1:
        hint = f"; for a count write k={int(k)}" if float(k) > 1 and float(k).is_integer() else ""
        raise InvalidInput(f"k as a float is a share in (0, 1], got {k!r}{hint}")


def count_of(k: int | float, n: int) -> int:
    """Return how many of n points k means: a count as it is, a share floored and at least 1.

    Examples
    --------
    >>> count_of(1, 280), count_of(1.0, 280), count_of(0.05, 8464)
    (1, 280, 423)
    """
    check_k(k)
    if is_whole(k):
        if int(k) > n:
            raise InvalidInput(f"k must be a count from 1 to {n} or a share in (0, 1], got {k!r}")
        return int(k)
    return max(1, int(float(k) * n))


def candidates_of(pool: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Indices | None:
    """Return the sorted pool indices a teacher may show, or None for all of them.

    Parameters
    ----------
    pool : None, a share, a boolean mask of shape (n,) or the grid's, or indices
        The teacher's option.
    shape : tuple of int
        Of the pool of the lesson.
    rng : numpy Generator
        Draws the share; used for nothing else.
    """
    n = math.prod(shape)
    if pool is None:
        return None
    if is_number(pool):
        return np.sort(rng.choice(n, size=count_of(float(pool), n), replace=False)).astype(np.intp)
    array = np.asarray(pool)
    if array.dtype == bool:
        if array.shape not in ((n,), shape):
            raise InvalidInput(
                f"the teacher's pool is a mask of shape {array.shape}, the lesson's pool has {n} points and takes "
                f"one of shape {' or '.join(str(allowed) for allowed in dict.fromkeys([(n,), shape]))}"
            )
        chosen = np.flatnonzero(array.reshape(n))
    elif array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0):
        chosen = np.unique(array.astype(np.intp))
        if chosen.size and (chosen[0] < 0 or chosen[-1] >= n):
            wrong = chosen[0] if chosen[0] < 0 else chosen[-1]
            raise InvalidInput(f"the teacher's pool names the point {wrong}, the lesson's pool has 0 to {n - 1}")
    else:
        raise InvalidInput(f"pool must be a share in (0, 1], a boolean mask or indices, got {pool!r}")
    if chosen.size == 0:
        raise InvalidInput("the teacher's pool is empty: it has nothing to show")
    return chosen

"""Random functional teaching: examples drawn at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices, check_finite, check_flag, real_array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.schedules import PackSchedule, check_pack
from nimt.teachers.never_twice import add_shown, find_left
from nimt.teachers.rule import Drawn, InEpochs, NeverTwice, Rule
from nimt.teachers.teacher import BLUE, Selection, Teacher, View, count_of

ORDERS = ("step", "epoch")


@dataclass(frozen=True, eq=False)
class RandomTeacher(Teacher):
    """Random functional teaching (RFT): examples drawn at random, with true labels [Zhang23, Alg. 1].

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1] of what the teacher may show; a schedule (`nimt.schedules`) changes
        it with the step.
    replace : bool
        Draw with replacement, as the published experiments do. Without, no point is twice in one pack, which says
        nothing of other packs: every step draws from all points again, so that packs of one repeat points all the same.
    weights : array (n,), optional
        The distribution over the pool of the lesson, up to a factor; uniform by default.
    order : {"step", "epoch"}
        "step" draws every pack from all points. "epoch" shuffles the points, shows each once, and shuffles again: no
        point is shown twice before all were shown. A pack that an epoch does not fill is filled from the next one, by
        points that the pack does not hold; `replace` says nothing then. Such lessons run in the plain loop.
    never_twice : bool
        Show no point again, whatever `replace`. k counts as before, a share is one of all points; the last pack is what
        is left (with `weights`, of the points whose weight is positive), and the lesson then ends with
        `Outcome.ALL_SHOWN`. Such lessons run in the plain loop.

    Examples
    --------
    >>> RandomTeacher(k=0.05).pack_size(8464)
    423
    >>> import nimt
    >>> x = np.arange(100.0)
    >>> once = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), RandomTeacher(replace=False), x, x, max_iterations=100)
    >>> len(np.unique(once.indices))
    63
    >>> epoch = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), RandomTeacher(order="epoch"), x, x, max_iterations=100)
    >>> len(np.unique(epoch.indices))
    100
    """

    k: int | float | PackSchedule = 1
    replace: bool = True
    weights: ArrayLike | None = None
    order: str = "step"
    never_twice: bool = field(default=False, kw_only=True)

    at_random: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = BLUE
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"random": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_flag("replace", self.replace)
        if not isinstance(self.order, str) or self.order not in ORDERS:
            raise InvalidInput(f"must be 'step' or 'epoch', got {self.order!r}", parameter="order")
        check_flag("never_twice", self.never_twice)
        if self.never_twice and self.order == "epoch":
            raise InvalidInput(
                "never_twice=True ends the lesson when each point was shown once, so there is no second epoch",
                way_out="leave order= out",
            )
        if self.weights is not None and self.order == "epoch":
            raise InvalidInput("an epoch shows every point once, so it has no weights", way_out="leave weights= out")
        if self.weights is not None:
            weights = real_array("weights", self.weights)
            if weights.ndim != 1:
                raise InvalidInput(f"must have shape (n,), got {weights.shape}", parameter="weights")
            check_finite("weights", weights)
            if (negative := np.flatnonzero(weights < 0)).size:
                raise InvalidInput(
                    f"must be >= 0, got {weights[negative[0]]!s} at index {negative[0]}", parameter="weights"
                )
            if not weights.any():
                raise InvalidInput(f"must not all be zero, got {len(weights)} zeros", parameter="weights")
            if weights.max() > np.finfo(np.float64).max / len(weights):
                raise InvalidInput(
                    f"must have a finite sum, got {weights.max()!s}",
                    parameter="weights",
                    way_out="divide them by the largest",
                )

    def check_on(self, n: int) -> None:
        if self.weights is not None and np.shape(self.weights) != (n,):
            raise InvalidInput(
                f"weights has shape {np.shape(self.weights)} for {say_count(n, 'point', 'd')}: give one per point"
            )

    @property
    def method(self) -> str:
        if isinstance(self.k, float) and self.k == 1.0 and not self.may_repeat and not self.never_twice:
            return "whole"
        if self.never_twice:
            return f"RFT-{self.k} (never twice)"
        return f"RFT-{self.k}" if self.order == "step" else f"RFT-{self.k} (epoch)"

    @property
    def may_repeat(self) -> bool:
        return bool(self.replace) and self.order == "step" and not self.never_twice

    def select(self, view: View) -> Selection:
        k = count_of(self.k, len(view), view.step)
        if self.never_twice:
            return self._select_new(view, k)
        if self.order == "step":
            return view.show(self.draw(view.rng, view.candidates, k, 1)[0])
        nothing = np.empty(0, dtype=np.intp)
        pack, rest = take_from_epoch(nothing if view.memory is None else view.memory["rest"], len(view), k, view.rng)
        return view.show(pack, memory={"rest": rest})

    def _select_new(self, view: View, k: int) -> Selection:
        possible = None
        if self.weights is not None:
            possible = np.flatnonzero(np.asarray(self.weights)[view.candidates] > 0)
        left = find_left(view, possible)
        k = min(k, len(left))
        shares = None if self.weights is None else self.shares(view.candidates[left], k)
        chosen = left[view.rng.choice(len(left), size=k, replace=False, p=shares)]
        return view.show(chosen, memory={"shown": add_shown(view, chosen)})

    def compiled_rule(self) -> Rule | None:
        if not behaves_like(self, RandomTeacher, "select", "draw"):
            return None
        if self.never_twice:
            return Rule(NeverTwice())
        return Rule(Drawn(self.draw) if self.order == "step" else InEpochs())

    def looks_at(self, step: int) -> bool:
        return False

    def draw(self, rng: np.random.Generator, candidates: Indices, k: int, steps: int) -> Indices:
        """Draw the packs of some steps, as positions among the candidates, shape (steps, k)."""
        n = len(candidates)
        shares = None if self.weights is None else self.shares(candidates, k)
        if not self.replace:
            drawn = np.array([rng.choice(n, size=k, replace=False, p=shares) for _ in range(steps)])
            return drawn.reshape(steps, k).astype(np.intp)
        if shares is None:
            return rng.integers(n, size=(steps, k))
        return np.searchsorted(cumulative(shares), rng.random((steps, k)), side="right")

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


def take_from_epoch(rest: Indices, n: int, k: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Return the next k of n points, and what is left of the epoch; where `rest` is too short, a new one begins.

    Examples
    --------
    >>> pack, rest = take_from_epoch(np.array([3, 1]), 4, 3, np.random.default_rng(0))
    >>> pack[:2], len(np.unique(pack)), np.sort(np.append(pack[2:], rest))
    (array([3, 1]), 3, array([0, 1, 2, 3]))
    """
    if k <= len(rest):
        return rest[:k], rest[k:]
    order = rng.permutation(n)
    free = np.flatnonzero(~np.isin(order, rest))[: k - len(rest)]
    return np.concatenate([rest, order[free]]), np.delete(order, free)


def cumulative(shares: Array) -> Array:
    """Return the cumulative distribution, its last entry exactly 1."""
    total = np.cumsum(shares)
    return np.asarray(total / total[-1])

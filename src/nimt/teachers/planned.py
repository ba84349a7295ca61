"""Epochs planned by the errors last seen: each epoch shows points with larger errors more often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, is_number
from nimt.errors import InvalidInput
from nimt.schedules import PackSchedule, check_pack
from nimt.teachers.teacher import Selection, Teacher, View, count_of, residual_size

BITS = 16  # per coordinate of the space-filling curve


@dataclass(frozen=True, eq=False)
class PlannedTeacher(Teacher):
    r"""Plan each epoch of n examples by the errors last seen, and spread every pack over the pool.

    At the beginning of an epoch the teacher reads |f - f*| at the points that the epoch before showed (m_i; the mean,
    for a point that was never shown); it never looks at the others. In a training loop (`nimt.torch.teach`) these are
    the values that the training itself computed when it was shown the point, so they cost nothing. Point i gets
    floor(c_i) or ceil(c_i) of the n places of the epoch, c_i = n (1 - floor) m_i / sum m + floor, by systematic
    rounding along a space-filling curve. The list of places, in the order of the curve, is cut into runs of
    round(n / k) places; each run is shuffled, and the j-th pack takes the j-th place of every run. So every pack covers
    the whole pool. Examples are not reweighted.

    With floor=1 the errors do not count: every epoch shows every point once, in packs that cover the pool.

    Parameters
    ----------
    k : int, float or schedule
        The size of a pack, about: an epoch has round(n / k) packs of nearly equal size, by k at its beginning.
    floor : float in [0, 1]
        The share of the places that is given to all points equally.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.2)
    >>> x = np.linspace(-2, 2, 20)
    >>> lesson = nimt.teach(learner, PlannedTeacher(k=5), x, np.sign(x), max_iterations=4)
    >>> sorted(lesson.indices.ravel().tolist()) == list(range(20))  # the first epoch: nothing is known yet
    True
    """

    k: int | float | PackSchedule = 0.1
    floor: float = 0.3

    at_random: ClassVar[bool] = True
    watches_packs: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#1B7837"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"planned": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        if not is_number(self.floor) or not 0 <= float(self.floor) <= 1:
            raise InvalidInput(f"must be a number from 0 to 1, got {self.floor!r}", parameter="floor")

    @property
    def method(self) -> str:
        return f"planned-{self.k}"

    def looks_at(self, step: int) -> bool:
        return False

    def pack_size(self, n: int) -> int | None:
        size = super().pack_size(n)
        return None if size is None or n % size else size

    def has_equal_packs(self, n: int) -> bool:
        """Say whether all packs of an epoch of n points have one size, as far as this is known before."""
        return isinstance(self.k, PackSchedule) or n % self._count_packs(n, 0) == 0

    def _count_packs(self, n: int, step: int) -> int:
        return max(1, round(n / count_of(self.k, n, step)))  # no pack is much smaller than the others

    def select(self, view: View) -> Selection:
        memory: dict[str, NDArray[Any]] = self._begin(view) if view.memory is None else dict(view.memory)
        place = int(memory["place"])
        if place == len(memory["ends"]):
            memory["sizes"] = self._remember(view, memory)
            memory |= self._epoch(view, memory)
            place = 0
        ends = memory["ends"]
        pack = memory["plan"][ends[place - 1] if place else 0 : ends[place]]
        return view.show(pack, memory=memory | {"place": np.array(place + 1)})

    def _begin(self, view: View) -> dict[str, NDArray[Any]]:
        sizes = np.full(len(view), np.nan)
        nothing = np.empty(0, dtype=np.intp)
        order = curve_order(view.pool.points)
        return {"sizes": sizes, "order": order, "plan": nothing, "ends": nothing, "place": np.array(0)}

    def _remember(self, view: View, memory: dict[str, NDArray[Any]]) -> Array:
        """Return the errors known of each point: those of the points shown in the latest epoch are new."""
        shown = np.unique(memory["plan"])
        seen = residual_size(view.predictions[shown], view.target[shown])
        sizes = np.array(memory["sizes"])
        known = np.isfinite(seen)
        sizes[shown[known]] = seen[known]
        return sizes

    def _epoch(self, view: View, memory: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        n = len(view)
        places = plan_places(memory["sizes"], memory["order"], float(self.floor), view.rng)
        packs = self._count_packs(n, view.step)
        full = n // packs * packs
        runs = view.rng.permuted(places[:full].reshape(-1, packs), axis=1)
        rest = view.rng.choice(packs, size=n - full, replace=False)  # the packs that get one place of the last run
        chosen = [np.append(runs[:, pack], places[full:][rest == pack]) for pack in range(packs)]
        return {"plan": np.concatenate(chosen), "ends": np.cumsum([len(pack) for pack in chosen])}


def plan_places(sizes: Array, order: Indices, floor: float, rng: np.random.Generator) -> Indices:
    """Return n places along the order: point i floor or ceil of n ((1 - floor) m_i / sum m + floor / n) times.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plan_places(np.array([3.0, 1.0, 0.0, 0.0]), np.arange(4), 0.0, rng)
    array([0, 0, 0, 1])
    """
    n = len(sizes)
    known = np.isfinite(sizes)
    usual = float(np.mean(sizes[known])) if known.any() else 1.0
    weights = np.where(known, sizes, usual)
    total = float(np.sum(weights))
    shares = np.full(n, 1.0 / n) if not 0 < total < np.inf else weights / total
    expected = n * ((1 - floor) * shares[order] + floor / n)
    marks = np.minimum(np.floor(np.cumsum(expected) + rng.random()), n)
    marks[-1] = n  # whatever the rounding of the sum
    return np.repeat(order, np.diff(marks, prepend=0.0).astype(np.intp))


def curve_order(points: Array) -> Indices:
    """Return the points in the order of a Hilbert curve, so that neighbours in the list are neighbours in space.

    By Skilling's transform of coordinates to the bits of the index, over all points at once.

    Examples
    --------
    >>> curve_order(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    array([0, 2, 3, 1])
    """
    n, d = points.shape
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    scaled = (points - low) / np.where(span > 0, span, 1.0)
    axes = list(np.floor(scaled * (2**BITS - 1)).astype(np.int64).T)
    bit = 1 << (BITS - 1)
    while bit > 1:
        below = bit - 1
        for i in range(d):
            high = (axes[i] & bit) != 0
            swapped = np.where(high, 0, (axes[0] ^ axes[i]) & below)
            axes[0] = np.where(high, axes[0] ^ below, axes[0]) ^ swapped
            axes[i] = axes[i] ^ swapped
        bit >>= 1
    for i in range(1, d):
        axes[i] = axes[i] ^ axes[i - 1]
    turned = np.zeros(n, dtype=np.int64)
    bit = 1 << (BITS - 1)
    while bit > 1:
        turned = np.where(axes[d - 1] & bit, turned ^ (bit - 1), turned)
        bit >>= 1
    axes = [axis ^ turned for axis in axes]
    keys = [((axes[i] >> level) & 1) for level in range(BITS) for i in reversed(range(d))]  # the last is the first
    return np.lexsort(keys)

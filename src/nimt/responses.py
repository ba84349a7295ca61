"""How a learner responds to labels, estimated from nothing but what can be seen: predictions before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nimt.teachers import Memory

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

FORGET = 0.8  # a fit sees about its latest five observations: few enough to follow a rate, enough to average noise
FORGET_ERRORS = 0.9  # whether responses agree is decided over about ten
AGREE = 0.25  # responses agree while their common fit is off by less than this share of the movement
TELLING = 1.5  # two label distances at one point tell of growth when they differ by this factor


@dataclass(eq=False)
class Responses:
    """The responses rho = movement / offset of a learner, for all points together and for each alone.

    An offset is y - f^t(x), a movement f^{t+1}(x) - f^t(x). Every fit is the weighted least squares
    sum(offset * movement) / sum(offset^2) with older steps forgotten: large offsets, which stand out of observation
    noise, count most, and a changing rate is followed.

    Attributes
    ----------
    identity : array (n,) of int
        Which points the columns below belong to; a column whose point changed starts afresh.
    radius, reach : float
        No label is made further from a prediction than both; `reach` falls where movement stops growing.
    common : array (2,)
        sum(offset * movement), sum(offset^2) over all points.
    own : array (2, n)
        The same for each point alone.
    latest : array (2, n)
        The latest |offset| and |movement| at each point, 0 where there was none.
    errors : array (4,)
        Squares, summed and forgotten: errors of the common fit, movements, and at points seen before the errors of
        the common fit and of their own.
    probed, warned : bool
        Whether two telling distances were compared, and whether growth was ever seen to stop.
    """

    identity: Indices
    radius: float
    reach: float
    common: Array
    own: Array
    latest: Array
    errors: Array
    probed: bool = False
    warned: bool = False
    shown: Indices | None = None
    before: Array | None = None
    offset: Array | None = None

    @classmethod
    def unknown(cls, identity: Indices, radius: float) -> Self:
        """Return the state before anything was shown."""
        n = len(identity)
        return cls(identity, radius, radius, np.zeros(2), np.zeros((2, n)), np.zeros((2, n)), np.zeros(4))

    @classmethod
    def recalled(cls, memory: Memory, identity: Indices) -> Self:
        """Return the state that `remembered` put into a teacher's memory."""
        own, latest = np.array(memory["own"]), np.array(memory["latest"])
        moved = memory["identity"] != identity
        moved[memory["shown"]] = False  # these were at their place when they were shown
        own[:, moved] = latest[:, moved] = 0.0
        radius, reach, probed, warned = memory["settled"]
        return cls(
            identity, float(radius), float(reach), np.array(memory["common"]), own, latest, np.array(memory["errors"]),
            bool(probed), bool(warned), memory["shown"], memory["before"], memory["offset"],
        )  # fmt: skip

    def remembered(self, shown: Indices, before: Array, offset: Array) -> Memory:
        """Return all this as arrays, with what is being shown now."""
        return {
            "identity": self.identity,
            "settled": np.array([self.radius, self.reach, self.probed, self.warned], dtype=np.float64),
            "common": self.common,
            "own": self.own,
            "latest": self.latest,
            "errors": self.errors,
            "shown": shown,
            "before": before,
            "offset": offset,
        }

    def observe(self, predictions: Array) -> tuple[float, float] | None:
        """Take in what the latest pack did.

        Returns the nearer and the further label distance when growth was first seen to stop, else None.
        """
        assert self.shown is not None and self.before is not None and self.offset is not None
        useful = (self.offset != 0) & np.isfinite(predictions[self.shown])
        shown, offset = self.shown[useful], self.offset[useful]
        movement = predictions[shown] - self.before[useful]
        self._weigh_errors(shown, offset, movement)
        stopped = self._look_for_growth(shown, offset, movement)
        sums = np.array([offset * movement, offset**2])
        self.common = FORGET * self.common + sums.sum(axis=1) if len(shown) else self.common
        self.own[:, shown] = FORGET * self.own[:, shown] + sums
        return stopped

    def offsets(self, shown: Indices, error: Array) -> Array:
        """Return how far from the prediction to put each label: far enough to land on the target, if that is allowed.

        Where the response is unknown, or not in the direction of the label, the true label (offset = error) is kept.
        """
        response = self.of(shown)
        known = response > 0
        wanted = np.where(known, np.abs(error) / np.where(known, response, 1.0), np.abs(error))
        size = np.minimum(wanted, np.maximum(self.reach, np.abs(error)))
        if not self.probed:
            before = self.latest[0, shown]
            alike = known & (before > 0) & (size < TELLING * before) & (before < TELLING * size)
            size = np.where(alike, before / 2, size)  # half as far once: does it move half as far?
        return np.asarray(np.sign(error) * np.minimum(size, self.radius))

    def of(self, shown: Indices) -> Array:
        """Return the responses at these points, 0 where none is known."""
        if self.agree:
            return np.full(len(shown), fitted(self.common))
        return np.asarray(fitted(self.own[:, shown]))

    @property
    def agree(self) -> bool:
        """Whether one response fits all points: its errors are small, or each point's own fit does no better."""
        common, size, common_again, own_again = self.errors
        return bool(common <= AGREE**2 * size or 0 < common_again <= own_again)

    def _weigh_errors(self, shown: Indices, offset: Array, movement: Array) -> None:
        if not self.common[1]:
            return
        error = (movement - fitted(self.common) * offset) ** 2
        again = self.own[1, shown] > 0
        own_error = (movement - fitted(self.own[:, shown]) * offset) ** 2
        self.errors = FORGET_ERRORS * self.errors + np.array(
            [error.sum(), (movement**2).sum(), error[again].sum(), own_error[again].sum()]
        )

    def _look_for_growth(self, shown: Indices, offset: Array, movement: Array) -> tuple[float, float] | None:
        """Compare with the step before at the same point: of two label distances the further must move it further."""
        first: tuple[float, float] | None = None
        for i, distance, moved in zip(shown, np.abs(offset), movement * np.sign(offset), strict=True):
            distance_before, moved_before = self.latest[:, i]
            self.latest[:, i] = distance, max(moved, 0.0)
            near, far = min(distance, distance_before), max(distance, distance_before)
            if near <= 0 or far < TELLING * near:
                continue
            self.probed = True
            moved_near, moved_far = (moved, moved_before) if distance < distance_before else (moved_before, moved)
            if moved_far**2 * near >= moved_near**2 * far:  # at least like the root of the distance
                self.reach = min(self.radius, max(self.reach, 2 * far))
            elif far > self.reach / 2:
                self.reach = min(self.reach, near / 4)
                if not self.warned:
                    self.warned, first = True, (float(near), float(far))
        return first


def fitted(sums: Array) -> Array:
    """Return sum(offset * movement) / sum(offset^2), 0 where nothing was seen."""
    return np.asarray(np.divide(sums[0], sums[1], out=np.zeros_like(sums[0]), where=sums[1] > 0))

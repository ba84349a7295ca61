"""How a learner responds to labels, estimated from its predictions before and after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from nimt.arrays import Array, Indices, check_stored_array, check_stored_indices
from nimt.teachers.teacher import Memory

FORGET = 0.8  # a fit uses about the latest five observations: few, to follow a rate; enough to average noise
FORGET_ERRORS = 0.9  # whether responses agree is decided over about ten
AGREE = 0.25  # responses agree while the error of their common fit is below this share of the movement
TELLING = 1.5  # two label distances at one point are compared when they differ by this factor
SURE = 9.0  # of two explanations the better is accepted when its squared errors are this many times smaller
PROBES = 4  # labels at half the distance, at most, to test whether the movement grows with the distance


@dataclass(eq=False)
class Responses:
    """The responses rho = movement / offset of a learner, for all points together and for each alone.

    An offset is y - f^t(x), a movement f^{t+1}(x) - f^t(x). Every fit is the weighted least squares
    sum(offset * movement) / sum(offset^2) with exponentially decreasing weights for older steps: large offsets, which
    exceed observation noise, count most, and a changing rate is followed.

    Attributes
    ----------
    identity : array (n,) of int
        Which points the columns below belong to; a column whose point changed is reset.
    radius, reach : float
        No label is made further from a prediction than both; `reach` falls where movement stops growing.
    common : array (2,)
        sum(offset * movement), sum(offset^2) over all points.
    own : array (2, n)
        The same for each point alone.
    latest : array (3, n)
        The latest |offset| at each point, the movement towards the label, and the step; 0 where there was none.
    errors : array (4,)
        Sums of squares with decreasing weights: errors of the common fit, movements, and at points seen before the
        errors of the common fit and of their own.
    growth : array (2,)
        Squared errors, over pairs of distances compared, of "moves in proportion" and of "moves the same".
    probes : int
        How many more labels may be used to decide between the two.
    warned : bool
        Whether the movement was ever seen to stop growing.
    """

    identity: Indices
    radius: float
    reach: float
    common: Array
    own: Array
    latest: Array
    errors: Array
    growth: Array
    probes: int = PROBES
    warned: bool = False
    shown: Indices | None = None
    before: Array | None = None
    offset: Array | None = None

    @classmethod
    def unknown(cls, identity: Indices, radius: float) -> Self:
        """Return the state before anything was shown."""
        n = len(identity)
        return cls(identity, radius, radius, np.zeros(2), np.zeros((2, n)), np.zeros((3, n)), np.zeros(4), np.zeros(2))

    @classmethod
    def recall(cls, memory: Memory, identity: Indices) -> Self:
        """Return the state that `remember` wrote to a teacher's memory."""
        n = len(identity)
        own, latest = check_stored_array(memory, "own", (2, n)), check_stored_array(memory, "latest", (3, n))
        check_stored_array(memory, "identity", (n,), "iu")
        shown = check_stored_indices(memory, "shown", (None,), n)
        for name in ("before", "offset"):
            check_stored_array(memory, name, shown.shape)
        for name, length in (("settled", 4), ("common", 2), ("errors", 4), ("growth", 2)):
            check_stored_array(memory, name, (length,))
        stayed = memory["identity"] == identity
        own[:, ~stayed] = latest[:, ~stayed] = 0.0
        seen = stayed[memory["shown"]]  # the response at a point that is no longer offered is unknown
        radius, reach, probes, warned = memory["settled"]
        common, errors, growth = (np.array(memory[name]) for name in ("common", "errors", "growth"))
        return cls(
            identity, float(radius), float(reach), common, own, latest, errors, growth, int(probes), bool(warned),
            memory["shown"][seen], memory["before"][seen], memory["offset"][seen],
        )  # fmt: skip

    def remember(self, shown: Indices, before: Array, offset: Array) -> Memory:
        """Return the state as arrays, together with the pack that is being shown."""
        return {
            "identity": self.identity,
            "settled": np.array([self.radius, self.reach, self.probes, self.warned], dtype=np.float64),
            "common": self.common,
            "own": self.own,
            "latest": self.latest,
            "errors": self.errors,
            "growth": self.growth,
            "shown": shown,
            "before": before,
            "offset": offset,
        }

    def observe(self, predictions: Array, step: int) -> tuple[float, float] | None:
        """Update the estimates by the effect of the latest pack, observed at this step.

        Returns the nearer and the further label distance when the movement first stopped growing, else None.
        """
        assert self.shown is not None and self.before is not None and self.offset is not None
        useful = (self.offset != 0) & np.isfinite(predictions[self.shown])
        shown, offset = self.shown[useful], self.offset[useful]
        movement = predictions[shown] - self.before[useful]
        self._weigh_errors(shown, offset, movement)
        stopped = self._look_for_growth(shown, np.abs(offset), movement * np.sign(offset), step)
        sums = np.array([offset * movement, offset**2])
        self.common = FORGET * self.common + sums.sum(axis=1) if len(shown) else self.common
        self.own[:, shown] = FORGET * self.own[:, shown] + sums
        return stopped

    def offsets(self, shown: Indices, error: Array) -> Array:
        """Return how far from the prediction to put each label: far enough to reach the target, if that is allowed.

        Where the response is unknown, or not in the direction of the label, the true label (offset = error) is kept.
        """
        response = self.of(shown)
        before, moved, _ = self.latest[:, shown]
        known = (response > 0) & ((before == 0) | (moved > 0))
        wanted = np.where(known, np.abs(error) / np.where(known, response, 1.0), np.abs(error))
        size = np.minimum(wanted, np.maximum(self.reach, np.abs(error)))
        if self.probes and self._were_shown_together(shown):
            alike = known & (size < TELLING * before) & (before < TELLING * size)
            size = before / 2 if alike.all() else size  # half the distance once, to see whether the movement halves too
        return np.asarray(np.sign(error) * np.minimum(size, self.radius))

    def of(self, shown: Indices) -> Array:
        """Return the responses at these points, 0 where none is known."""
        if self.agree:
            return np.full(len(shown), fit_slope(self.common))
        return np.asarray(fit_slope(self.own[:, shown]))

    @property
    def agree(self) -> bool:
        """Whether one response fits all points: its errors are small, or each point's own fit does no better."""
        common, size, common_again, own_again = self.errors
        return bool(common <= AGREE**2 * size or 0 < common_again <= own_again)

    def _weigh_errors(self, shown: Indices, offset: Array, movement: Array) -> None:
        if not self.common[1]:
            return
        error = (movement - fit_slope(self.common) * offset) ** 2
        again = self.own[1, shown] > 0
        own_error = (movement - fit_slope(self.own[:, shown]) * offset) ** 2
        self.errors = FORGET_ERRORS * self.errors + np.array(
            [error.sum(), (movement**2).sum(), error[again].sum(), own_error[again].sum()]
        )

    def _look_for_growth(self, shown: Indices, distance: Array, moved: Array, step: int) -> tuple[float, float] | None:
        """Compare with the previous time at the same points: the larger label distance must cause the larger movement.

        The points of a pack move each other, so a pack is compared only with the same pack at a scaled distance.
        """
        distance_before, moved_before, _ = self.latest[:, shown]
        scaled = self._were_shown_together(shown) and np.ptp(distance / distance_before) <= 1e-6
        self.latest[:, shown] = distance, moved, np.full(len(shown), step)
        if not scaled:
            return None
        times = [(distance, moved), (distance_before, moved_before)]
        pack = [(rms(d), float(d @ (m / rms(d))) / len(d)) for d, m in times]
        (near, moved_near), (far, moved_far) = sorted(pack)
        if far < TELLING * near:
            return None
        self.probes = max(0, self.probes - 1)
        # the larger movement is less affected by noise, so it predicts the smaller one, not the reverse
        self.growth += np.square([moved_near - moved_far * near / far, moved_near - moved_far])
        in_proportion, the_same = self.growth
        if SURE * in_proportion < the_same and moved_far > 0:
            self.reach = min(self.radius, max(self.reach, 2 * far))
            self.growth, self.probes = np.zeros(2), 0
        elif SURE * the_same < in_proportion or moved_far <= 0 < moved_near:
            self.reach = min(self.reach, near / 4)
            self.growth, self.probes = np.zeros(2), 0
            if not self.warned:
                self.warned = True
                return near, far
        return None

    def _were_shown_together(self, shown: Indices) -> bool:
        """Whether all of these were shown before, and the latest time in one pack."""
        before, _, when = self.latest[:, shown]
        return bool(len(shown) and (before > 0).all() and (when == when[0]).all())


def rms(values: Array) -> float:
    """Return the root mean square of positive numbers, without overflow or underflow."""
    largest = float(np.max(values))
    return largest * float(np.sqrt(np.mean((values / largest) ** 2)))


def fit_slope(sums: Array) -> Array:
    """Return sum(offset * movement) / sum(offset^2), 0 where nothing was seen."""
    return np.asarray(np.divide(sums[0], sums[1], out=np.zeros_like(sums[0]), where=sums[1] > 0))

r"""A random teacher's lesson in the mean over its draws: the mean of r_t exactly, its variance mode by mode.

A pack of k points drawn from m with probabilities 1 / m moves r by -(2 eta / k) sum_j r_{i_j} K_{i_j}. So the mean of r
follows the lesson that shows everything, and the covariance C obeys, with S = E r r',

    C' = (I - c K) C (I - c K) + (4 eta^2 nu / k) K [diag(S) / m - S / m^2] K,   c = 2 eta / m,

nu = 1 with replacement and (m - k) / (m - 1) without. Of C only the diagonal in the eigenbasis of K is kept, one second
moment per mode: that is the one approximation made here.

For the deviation of |r_T|^2 that is not enough, since what a draw changes is local and modes are not. To first order
a draw i at step s changes |r_T|^2 by -4 eta r_i(s) h_i(s) / k with h(s) = K (I - c K)^(T - s) E r_T, and draws are
independent: Var |r_T|^2 = (16 eta^2 nu / k) sum_s mean_i E r_i(s)^2 h_i(s)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from nimt.arrays import Array
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import Spectrum, spectrum_of
from nimt.theory.whole import Steps

LONGEST = 10**9  # steps
LEAP = 1 / 40  # of the steps so far are taken at once
FEWEST_LEAPS = 8  # over which the slope of M is taken
PATIENCE = 40  # leaps without progress, after which the mean lesson is taken to rest


@dataclass(frozen=True, eq=False)
class MeanLesson:
    """The root of the mean of M^2 over the draws and M of the mean of f, at some steps, and of the last of them the
    deviation of M, the share of the variance in M^2, and whether M no longer falls.
    """

    step: Steps
    discrepancy: Array
    of_mean: Array
    deviation: float
    noise_share: float
    resting: bool


class Moments:
    """Mean and variance of r_t on the candidates, by modes, moved forward by several steps at once."""

    def __init__(self, start: LessonStart, spectrum: Spectrum, pack: int, *, replace: bool) -> None:
        self.start = start
        self.spectrum = spectrum
        self.values: Array = np.where(spectrum.values > spectrum.rounding, spectrum.values, 0.0)
        self.count: int = len(start.candidates)
        free = 1.0 if replace or self.count == 1 else (self.count - pack) / (self.count - 1)
        self.noise: float = free / pack
        self.mean: Array = spectrum.modes(start.residual[start.candidates])
        self.variance: Array = np.zeros(self.count)
        self.rest: Array | None
        self.columns: Array | None
        self.rest, self.columns = self._to_all_points()
        self.lengths: Array | None = None if self.columns is None else np.sum(self.columns**2, axis=0)

    def _to_all_points(self) -> tuple[Array | None, Array | None]:
        """Return what no step changes and how each mode is seen at all points, for a limited pool."""
        start = self.start
        if start.rows is None:
            return None, None
        points = start.pool.points
        images = start.learner.kernel(points, points[start.rows]) @ self.spectrum.axes[0]
        columns = np.divide(images, self.values, out=np.zeros_like(images), where=self.values > 0)
        return start.residual - columns @ self.mean, columns

    def advance(self, steps: int, rate: float) -> Array:
        """Take some steps at one rate, with the noise of the middle of them; return E r_i^2 there."""
        mean, variance = self.mean, self.variance
        self._move(steps / 2, rate, self._source(self.squares(), rate), mean, variance)
        middle = self.squares()
        self._move(steps, rate, self._source(middle, rate), mean, variance)
        return middle

    def squares(self) -> Array:
        """Return E r_i^2 on the candidates."""
        return np.asarray(self.spectrum.points(self.mean) ** 2 + self.spectrum.spread(self.variance))

    def _source(self, squares: Array, rate: float) -> Array:
        """Return what one step adds to the variance of each mode."""
        drawn = self.spectrum.collect(squares) / self.count - (self.mean**2 + self.variance) / self.count**2
        return np.asarray(4.0 * rate**2 * self.noise * self.values**2 * np.maximum(drawn, 0.0))

    def _move(self, steps: float, rate: float, source: Array, mean: Array, variance: Array) -> None:
        factor = 1.0 - 2.0 * rate / self.count * self.values
        kept = np.abs(factor) ** (2.0 * steps)
        lost = 1.0 - factor**2
        held = np.where(np.abs(lost) > 1e-14, (1.0 - kept) / np.where(lost == 0.0, 1.0, lost), steps)
        self.mean = mean * np.where(factor < 0, -1.0, 1.0) ** np.ceil(steps) * np.sqrt(kept)
        self.variance = kept * variance + held * source

    def discrepancies(self) -> tuple[float, float]:
        """Return the root of the mean of M^2, and M of the mean of f: the variance is their difference in squares."""
        if self.columns is None or self.rest is None or self.lengths is None:
            calm, noise = float(self.mean @ self.mean), float(self.variance.sum())
        else:
            seen = self.rest + self.columns @ self.mean
            calm, noise = float(seen @ seen), float(self.lengths @ self.variance)
        return self.start.scale * math.sqrt(calm + noise), self.start.scale * math.sqrt(calm)

    def noise_share(self) -> float:
        """Return how much of E |r|^2 on the candidates is variance."""
        noise = float(self.variance.sum())
        total = noise + float(self.mean @ self.mean)
        return noise / total if 0.0 < total < np.inf else 1.0

    def slope(self) -> Array:
        """Return half the gradient of |r|^2 at all points by the modes of r on the candidates, at the mean."""
        if self.columns is None or self.rest is None:
            return self.mean
        return np.asarray(self.columns.T @ (self.rest + self.columns @ self.mean))


@dataclass(frozen=True, eq=False)
class _Leap:
    """Some steps at one rate, and E r_i^2 on the candidates in the middle of them."""

    steps: int
    rate: float
    squares: Array


def mean_lesson(start: LessonStart, pack: int, *, replace: bool) -> MeanLesson | None:
    """Follow the mean lesson until it is below the tolerance; None where its modes are too many to find."""
    spectrum = spectrum_of(start.learner.kernel, start.pool, start.rows)
    if spectrum is None:
        return None
    with threadpool_limits(limits=1):  # thousands of small products: threads would wait for each other
        return _follow(start, Moments(start, spectrum, pack, replace=replace))


def _follow(start: LessonStart, moments: Moments) -> MeanLesson:
    limit = LONGEST if start.max_iterations is None else start.max_iterations
    first, calm = moments.discrepancies()
    steps, found, of_mean, leaps = [0], [first], [calm], list[_Leap]()
    resting = 0
    while steps[-1] < limit and found[-1] >= start.tol and np.isfinite(found[-1]) and resting < PATIENCE:
        leap = min(max(1, int(steps[-1] * LEAP)), limit - steps[-1])
        rate = start.rate(steps[-1] + leap // 2)
        leaps.append(_Leap(leap, rate, moments.advance(leap, rate)))
        steps.append(steps[-1] + leap)
        last, calm = moments.discrepancies()
        found.append(last)
        of_mean.append(calm)
        resting = resting + 1 if found[-1] >= found[-2] * (1.0 - 1e-9 * leap) else 0
    return MeanLesson(
        step=np.array(steps, dtype=np.int64),
        discrepancy=np.array(found),
        of_mean=np.array(of_mean),
        deviation=_deviation(moments, leaps, found[-1]),
        noise_share=moments.noise_share(),
        resting=resting >= PATIENCE or not np.isfinite(found[-1]),
    )


def _deviation(moments: Moments, leaps: list[_Leap], last: float) -> float:
    """Return the deviation of M at the last step, by going back through the leaps."""
    if last == 0.0 or not np.isfinite(last):
        return 0.0
    scale, total = moments.start.scale, 0.0
    carried = moments.values * moments.slope()
    for leap in reversed(leaps):
        factor = 1.0 - 2.0 * leap.rate / moments.count * moments.values
        carried = carried * np.abs(factor) ** (leap.steps / 2)
        felt = moments.spectrum.points(carried) ** 2
        total += 16.0 * leap.rate**2 * moments.noise * leap.steps * float(np.mean(leap.squares * felt))
        carried = carried * np.abs(factor) ** (leap.steps / 2)
    return scale**2 * float(np.sqrt(total)) / (2.0 * last)


def crossing(step: Steps, discrepancy: Array, tol: float) -> float | None:
    """Return when a curve first meets the tolerance, between two of its steps.

    Examples
    --------
    >>> crossing(np.array([0, 10, 20]), np.array([1.0, 0.1, 0.001]), 0.01)
    15.0
    """
    below = np.flatnonzero(discrepancy < tol)
    if not below.size:
        return None
    place = int(below[0])
    if place == 0:
        return 0.0
    high, low = np.log(np.maximum(discrepancy[place - 1 : place + 1], 1e-300))
    share = (high - np.log(tol)) / (high - low) if high > low else 1.0
    before, after = step[place - 1 : place + 1].tolist()
    return float(before + min(max(share, 0.0), 1.0) * (after - before))


def deviation_of_steps(lesson: MeanLesson) -> float:
    """Return the deviation of the number of steps: that of M where it meets the tolerance, over the slope of M."""
    if len(lesson.step) < 3:
        return 0.0
    before = max(0, len(lesson.step) - 1 - FEWEST_LEAPS)
    fall = lesson.discrepancy[before] - lesson.discrepancy[-1]
    taken = float(lesson.step[-1] - lesson.step[before])
    return float(lesson.deviation * taken / fall) if fall > 0 else 0.0

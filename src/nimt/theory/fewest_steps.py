r"""A number of steps below which no teacher with true labels reaches the tolerance, whatever the packs: proved.

A lesson has moved f by coefficients b, with sum_t 2 eta_t e_t >= |b|_1, where e_t is the mean |f - f*| at what a step
shows. Such a step lowers E(b) = b'Kb + 2 r0'b, the change of |f - f*|_H^2, by 4 eta_t (1 - eta_t kappa) e_t^2 or more.
So for each weight m >= 0

    sum_t 2 eta_t e_t - 4 m eta_t (1 - eta_t kappa) e_t^2  >=  min { |b|_1 + m E(b) : |r0 + K b|_2 <= R },

and a step adds no more to the left side than the best e_t gives. How large is each side?

**The right side.** For any vector c and multiplier n >= 0, with s = r0 + K c and size = 2 |(m + n K) s|_inf, every b of
a lesson that arrives has size |b|_1 + m E(b) >= n (|r0|^2 - R^2) - c'(m K + n K^2) c, since the difference is at least
(b - c)'(m K + n K^2)(b - c). Divided by the size, that is a bound for the weight m / size. Good c and n are those of
the minimum; the alternating direction method of multipliers (ADMM) comes near it with two products by V per step.

**The left side.** With L_t = min { |b|_1 : |r_t + K b|_2 <= R } every |f - f*| is at most kappa L_t + R, and L_t is at
most what the steps from t on move in sum. So the j-th step before the end, j = 1, 2, ..., shows a mean error of at most
R prod 1 / (1 - 2 eta kappa) over the last j steps. Errors are small at the end, and small errors cost steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import Product, Spectrum, product_with

FIRST_LOOK, LAST_LOOK = 4096, 200_000  # steps of a schedule: more of them take longer than a lesson
FIRST_STEPS, MORE_STEPS = 75, 200  # for each threshold, and for the best of them
EVERY = 25  # steps after which the proof of a step is looked at, and the weight is chosen again
NEWTON_STEPS = 40
RELAXED = 1.6  # over-relaxation, as is usual
THRESHOLDS = (0.3, 5.0, 100.0, 2000.0)  # over |a|_1 / n: large where f* is rough, so that a is no measure of b
RIDGE = 1e-6  # of lambda_max, for the coefficients a by which the problem is scaled
NO_LIMIT = 300.0  # of the logarithm of an error: a step that corrects half of one or more has no limit
LEAST_WEIGHT = 1e-100  # so that errors stay finite
TRIED = 3  # of the proofs, the strongest: on a schedule each takes a search


@dataclass(frozen=True, eq=False)
class Proof:
    """That sum_t 2 eta_t e_t - 4 weight eta_t (1 - eta_t) e_t^2 >= worth in every lesson that arrives, kappa = 1."""

    worth: float
    weight: float

    @property
    def strength(self) -> float:
        """What sum_t eta_t / (1 - eta_t) is at least: each step gives most where its error is as large as it likes."""
        return 4.0 * self.weight * self.worth


def fewest_steps(start: LessonStart, spectrum: Spectrum) -> int:
    """Return a number of steps below which no teacher with true labels reaches the tolerance, whatever the packs."""
    if float(np.linalg.norm(start.residual)) < start.radius:
        return 0
    height = float(start.diagonal.max())
    if not height > 0.0 or not float(spectrum.values.max()) > 0.0:
        return 1
    proofs = [proof for proof in _search(start, spectrum, height) if proof.strength > 0.0]
    rate = start.constant_rate
    if rate is not None:
        return max([1, *(_steps_at_a_rate(proof, rate * height, start.radius) for proof in proofs)])
    best = sorted(proofs, key=lambda proof: proof.strength)[-TRIED:]
    return max([1, *(_steps_on_a_schedule(proof, start, height) for proof in best)])


# ---------------------------------------------------------------- the right side


def _search(start: LessonStart, spectrum: Spectrum, height: float) -> Iterator[Proof]:
    """Yield proofs for K / kappa, by which coefficients are kappa times as large."""
    product = product_with(start.learner.kernel, start.pool)
    residual, values = start.residual, spectrum.values / height
    inside = spectrum.modes(residual)
    ridge = RIDGE * float(values.max())
    size = float(np.abs(spectrum.points(inside / (values + ridge))).sum())
    searches = [
        _Search(spectrum, values, inside, start.radius, share * len(residual) / size)
        for share in (THRESHOLDS if size > 0.0 else ())
    ]

    def prove(search: _Search, steps: int) -> Iterator[Proof]:
        for _ in range(steps // EVERY):
            coefficients = search.go_on(EVERY)
            proof = _prove(product, residual, start.radius, height, coefficients, search.weight, search.multiplier)
            search.best = max(search.best, proof.strength)
            search.choose_weight()
            yield proof

    for search in searches:
        yield from prove(search, FIRST_STEPS)
    if searches:
        yield from prove(max(searches, key=lambda search: search.best), MORE_STEPS)


def _prove(
    product: Product,
    residual: Array,
    radius: float,
    height: float,
    coefficients: Array,
    weight: float,
    multiplier: float,
) -> Proof:
    """Return what c and n prove, by products with K itself: its spectrum is known to rounding only."""
    moved = product(coefficients) / height
    left = residual + moved
    size = 2.0 * float(np.abs(weight * left + multiplier * (product(left) / height)).max())
    if not size > 0.0 or not math.isfinite(size):
        return Proof(0.0, 0.0)
    gap = float(residual @ residual) - radius**2
    worth = multiplier * (gap - float(moved @ moved)) - weight * float(coefficients @ moved)
    if weight / size < LEAST_WEIGHT:
        return Proof(0.0, 0.0)
    return Proof(worth / size, weight / size)


class _Search:
    """Near min |b|_1 + m (b'Kb + 2 r0'b) over |r0 + K b| <= R, in the modes of K.

    The minimum over m of the steps is where m = |b|_1 / (2 (|f0 - f*|_H^2 - |f - f*|_H^2)), so that m follows b.
    """

    def __init__(self, spectrum: Spectrum, values: Array, inside: Array, radius: float, penalty: float) -> None:
        self.spectrum, self.values, self.inside, self.radius, self.penalty = spectrum, values, inside, radius, penalty
        self.sparse: Array = np.zeros(len(values))
        self.price: Array = np.zeros(len(values))
        self.smooth: Array = np.zeros(len(values))  # b in the modes
        self.multiplier: float = 0.0
        self.best: float = 0.0  # of what was proved, to which the steps are proportional
        self.weight: float = 0.75 / float(np.abs(spectrum.points(inside)).max())

    def go_on(self, steps: int) -> Array:
        """Return b after so many steps."""
        points = self.sparse
        for _ in range(steps):
            self._meet_the_tolerance(self.spectrum.modes(self.sparse - self.price))
            points = self.spectrum.points(self.smooth)
            raw = RELAXED * points + (1.0 - RELAXED) * self.sparse + self.price
            self.sparse = np.sign(raw) * np.maximum(np.abs(raw) - 1.0 / self.penalty, 0.0)
            self.price = raw - self.sparse
        return points

    def _meet_the_tolerance(self, wanted: Array) -> None:
        """Find b near the one wanted, and n by Newton's method on |r0 + K b| = R, which rises to its root."""
        values = self.values
        base = self.penalty * wanted - 2.0 * self.weight * self.inside
        fixed, slope = self.penalty + 2.0 * self.weight * values, 2.0 * values * values
        left = fixed * self.inside + values * base
        found = 0.0
        if float(np.linalg.norm(left / fixed)) > self.radius:
            found = self._find_multiplier(left, fixed, slope)
        self.multiplier = found
        self.smooth = (base - 2.0 * found * values * self.inside) / (fixed + found * slope)

    def _find_multiplier(self, left: Array, fixed: Array, slope: Array) -> float:
        found = self.multiplier
        for _ in range(NEWTON_STEPS):
            rest = left / (fixed + found * slope)
            square = float(rest @ rest)
            falls = float((rest * rest) @ (slope / (fixed + found * slope)))
            if not falls > 0.0:  # nothing that is left can be taught
                return found
            before, found = found, max(0.0, found + square * (math.sqrt(square) / self.radius - 1.0) / falls)
            if abs(found - before) <= 1e-6 * found:
                break
        return found

    def choose_weight(self) -> None:
        gained = -float(self.smooth @ (2.0 * self.inside + self.values * self.smooth))
        moved = float(np.abs(self.sparse).sum())
        if gained > 0.0 and moved > 0.0:
            self.weight = moved / (2.0 * gained)


# ---------------------------------------------------------------- the left side


def _steps_at_a_rate(proof: Proof, rate: float, radius: float) -> int:
    """Return how many steps the sum of a proof takes: errors grow from R, backwards, until they give most.

    With the largest errors P = R / (1 - 2 eta)^j the last j steps give P - R - m (P^2 - R^2).
    """
    if rate >= 1.0:
        return 1
    level = 1.0 / (4.0 * proof.weight * (1.0 - rate))
    each = rate * level
    if 2.0 * rate >= 1.0 or level <= radius:
        return _up(proof.worth / each)
    clock = -math.log1p(-2.0 * rate)
    late = math.floor(math.log(level / radius) / clock)
    largest = radius * math.exp(late * clock)
    given = largest * (1.0 - proof.weight * largest) - radius * (1.0 - proof.weight * radius)
    if given < proof.worth:
        return late + _up((proof.worth - given) / each)
    wanted = proof.worth + radius * (1.0 - proof.weight * radius)
    root = 2.0 * wanted / (1.0 + math.sqrt(max(0.0, 1.0 - 4.0 * proof.weight * wanted)))
    return _up(math.log(root / radius) / clock)


def _steps_on_a_schedule(proof: Proof, start: LessonStart, height: float) -> int:
    """Return how many steps the sum of a proof takes on a schedule; of a long one at most as many as are looked at."""
    count = FIRST_LOOK
    while True:
        count = min(count, LAST_LOOK)
        sums = _Sums(proof, start.first_rates(count) * height, start.radius)
        if count == LAST_LOOK or sums.at(count) >= proof.worth:
            break
        count *= 4
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if sums.at(middle) >= proof.worth * (1.0 - 1e-12) else (middle + 1, high)
    return high


class _Sums:
    """The largest sum of a proof over so many steps of a schedule."""

    def __init__(self, proof: Proof, rates: Array, radius: float) -> None:
        room = np.maximum(1.0 - rates, 0.0)
        self.weight, self.rates, self.radius = proof.weight, rates, radius
        self.level: Array = np.divide(0.25 / proof.weight, room, out=np.full(len(rates), math.inf), where=room > 0.0)
        self.free: Array = np.concatenate([[0.0], np.cumsum(rates * self.level)])
        pulled = np.minimum(2.0 * rates, 1.0 - 1e-15)
        limited = np.where(2.0 * rates < 1.0, -np.log1p(-pulled), NO_LIMIT)
        self.clock: Array = np.concatenate([[0.0], np.cumsum(limited)])
        highest = float(self.level[np.isfinite(self.level)].max(initial=0.0))
        self.late: float = math.log(highest / radius) if highest > radius else 0.0

    def at(self, count: int) -> float:
        """Return the sum over the first steps, if the tolerance is met after them."""
        if math.isinf(self.free[count]):
            return math.inf
        first = int(np.searchsorted(self.clock, self.clock[count] - self.late))
        rates = self.rates[first:count]
        largest = self.radius * np.exp(np.minimum(self.clock[count] - self.clock[first:count], NO_LIMIT))
        errors = np.minimum(self.level[first:count], largest)
        gains = 2.0 * rates * errors * (1.0 - 2.0 * self.weight * (1.0 - rates) * errors)
        return float(self.free[first] + gains.sum())


def _up(steps: float) -> int:
    return max(1, math.ceil(steps * (1.0 - 1e-12)))

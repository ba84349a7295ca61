r"""How many steps a lesson takes at least, whoever teaches, and at most, if greedily: what is proved, before it begins.

With f0 - f* = sum_i a_i K_{x_i} + delta on the pool (delta is what rounding leaves, and no step changes it), D the
squared norm of the sum in H, kappa the largest K(x, x), R the length of f - f* at the tolerance and
c = 4 eta (1 - eta kappa):

**Lower.** See `fewest_steps`.

**Upper**, one greedy example per step. D_t = sum_i a_i (f - f*)(x_i) <= |a_t|_1 e_t, while |a_t|_1 grows by at most
2 eta e_t and D_t falls by c e_t^2. So |a_t|_1 D_t^p never grows, p = 2 eta / c, and
D_t <= D (1 + (1 + 2 p) c D t / B^2)^(-1 / (1 + 2 p)), B = |a_0|_1; also D_t <= D (1 - c lambda_min / n)^t. As long as M
is not below the tolerance, e_t^2 >= R^2 / n, so from any step s on at most D_s n / (c R^2) more are possible. A delta
that is not 0 costs the share |delta| sqrt(n) / R of c, and of B as much again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.theory.fewest_steps import FIRST_LOOK, LAST_LOOK, fewest_steps
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import Spectrum, limit_threads, spectrum_of

RIDGES = 10.0 ** np.arange(-13, -3, 0.5)  # of lambda_max, how far from a true interpolant the sum may be


@dataclass(frozen=True, eq=False)
class StartExpansion:
    """A sum of kernel columns that equals f0 - f* on the pool up to delta: its norm, its coefficients, the rest."""

    square: float
    coefficients: float
    rest_largest: float
    rest_length: float


def expansions(spectrum: Spectrum, residual: Array) -> list[StartExpansion]:
    """Return expansions of f0 - f*, from one that leaves next to nothing to smoother ones."""
    inside = spectrum.modes(residual)
    found = []
    for ridge in RIDGES * float(spectrum.values.max()):
        scaled = inside / (spectrum.values + ridge)
        rest = spectrum.points(ridge * scaled)
        found.append(
            StartExpansion(
                square=float(scaled**2 @ spectrum.values),
                coefficients=float(np.abs(spectrum.points(scaled)).sum()),
                rest_largest=float(np.abs(rest).max()),
                rest_length=float(np.linalg.norm(rest)),
            )
        )
    return found


def most_steps(start: LessonStart, spectrum: Spectrum) -> int | None:
    """Return a number of steps by which one greedy example per step has reached the tolerance, or None."""
    rates = _rates_to_look_at(start)
    kappa, count = float(start.diagonal.max()), len(start.pool)
    found = []
    for one in expansions(spectrum, start.residual):
        missed = max(one.rest_largest * math.sqrt(count) / start.radius, one.rest_length / start.radius)
        room = 1.0 - float(rates.max()) * kappa - missed
        if room <= 0.0:
            continue
        clock = _greedy_clock(one, spectrum, start, room, missed, float(rates.min()))
        found.append(_first_step(start, clock, functools.partial(_fall, kappa=kappa, missed=missed)))
    possible = [steps for steps in found if steps < LAST_LOOK or start.constant_rate is not None]
    return min(possible, default=None)


def _fall(rates: Array, kappa: float, missed: float) -> Array:
    """Return c_t of the steps, 4 eta (1 - eta kappa), less the share that is not in the sum."""
    return np.asarray(4.0 * rates * (1.0 - rates * kappa - missed))


def _greedy_clock(
    one: StartExpansion, spectrum: Spectrum, start: LessonStart, room: float, missed: float, rate: float
) -> float:
    """Return the sum of c_t by which the tolerance is met: s steps by the decay of D, the rest by what D allows."""
    count = len(start.pool)
    power = 0.5 * (1.0 + missed) / room
    width = one.coefficients * (1.0 + missed)
    slowest = float(spectrum.values.min()) / (count * (1.0 + missed) ** 2)
    least = 4.0 * rate * room
    exponent = -math.log1p(-least * slowest) / least if least * slowest < 1.0 else slowest
    patience = count / start.radius**2

    def remaining(passed: float) -> float:
        slow = math.log1p((1.0 + 2.0 * power) * one.square * passed / width**2) / (1.0 + 2.0 * power)
        return one.square * math.exp(-max(slow, exponent * passed))

    def total(log_passed: float) -> float:
        passed = math.exp(log_passed)
        return passed + remaining(passed) * patience

    most = one.square * patience
    clocks = [most, find_least(total, math.log(most) - 40.0, math.log(most))]
    if slowest > 0 and start.radius > 2.0 * one.rest_length:
        goal = (start.radius - one.rest_length) ** 2 / float(spectrum.values.max())
        clocks.append(max(0.0, math.log(one.square / goal)) / exponent)
    return min(clocks)


def find_least(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the least value of a function that falls, then rises, by golden sections; scipy.optimize loads slowly.

    Examples
    --------
    >>> round(find_least(lambda x: (x - 0.3) ** 2 + 2.0, -4.0, 9.0), 12)
    2.0
    """
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    of_left, of_right = function(left), function(right)
    while high - low > 1e-7:
        if of_left <= of_right:
            high, right, of_right = right, left, of_left
            left = high - golden * (high - low)
            of_left = function(left)
        else:
            low, left, of_left = left, right, of_right
            right = low + golden * (high - low)
            of_right = function(right)
    return min(of_left, of_right)


def _rates_to_look_at(start: LessonStart) -> Array:
    """Return the learning rates of the lesson; of a long schedule those of its first steps."""
    if start.constant_rate is not None:
        return np.array([start.constant_rate])
    last = LAST_LOOK if start.max_iterations is None else min(start.max_iterations, LAST_LOOK)
    return start.first_rates(last + 1)


def _first_step(start: LessonStart, needed: float, worth: Callable[[Array], Array]) -> int:
    """Return the first t at which the sum over the steps before it, each worth what its rate says, reaches a number."""
    rate = start.constant_rate
    if rate is not None:
        each = float(worth(np.array([rate]))[0])
        return 0 if math.isinf(each) else math.ceil(needed / each * (1.0 - 1e-12))
    count = FIRST_LOOK
    while True:
        count = min(count, LAST_LOOK)
        passed = np.cumsum(worth(start.first_rates(count)))
        reached = int(np.searchsorted(passed, needed)) + 1  # the first step after which the sum is not below it
        if reached <= count or count == LAST_LOOK:
            return 0 if needed <= 0 else min(reached, count)
        count *= 4


def bounds_before(start: LessonStart, *, greedy: bool) -> tuple[int, int | None]:
    """Return the proved bounds on the number of steps; 0 and None where there are none."""
    spectrum = spectrum_of(start.learner.kernel, start.pool)
    if spectrum is None:
        return 0, None
    with limit_threads(max(map(len, spectrum.axes))):
        lower = fewest_steps(start, spectrum)
        return lower, most_steps(start, spectrum) if greedy and lower else None

r"""How many steps a lesson takes at least, whoever teaches, and at most, if greedily: what is proved, before it begins.

With f0 - f* = sum_i a_i K_{x_i} + delta on the pool (delta is what rounding leaves, and no step changes it), D the
squared norm of the sum in H, kappa the largest K(x, x), R the length of f - f* at the tolerance and
c = 4 eta (1 - eta kappa):

**Lower.** A lesson that ends below R has moved f by coefficients of a sum of at least
L = min { |b|_1 : |r0 + K b|_2 <= R }. They are A = sum_t 2 eta_t |e_t|, while the step identity bounds
sum_t 4 eta_t (1 - eta_t kappa) e_t^2 by D + 2 |delta| A. Cauchy's inequality between the two gives
sum_t eta_t / (1 - eta_t kappa) >= L^2 / (D + 2 |delta| L).

**Upper**, one greedy example per step. D_t = sum_i a_i (f - f*)(x_i) <= |a_t|_1 e_t, while |a_t|_1 grows by at most
2 eta e_t and D_t falls by c e_t^2. So |a_t|_1 D_t^p never grows, p = 2 eta / c, and
D_t <= D (1 + (1 + 2 p) c D t / B^2)^(-1 / (1 + 2 p)), B = |a_0|_1; also D_t <= D (1 - c lambda_min / n)^t. As long as M
is not below the tolerance, e_t^2 >= R^2 / n, so from any step s on at most D_s n / (c R^2) more are possible. A delta
that is not 0 costs the share |delta| sqrt(n) / R of c, and of B as much again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array, Indices
from nimt.engines._numba.compiling import load_numba
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import Spectrum, grid_factors, product_with, spectrum_of
from nimt.theory.whole import LONGEST_SCHEDULE

RIDGES = 10.0 ** np.arange(-13, -3, 0.5)  # of lambda_max, how far from a true interpolant the sum may be
PENALTIES = 10.0 ** np.linspace(0, -3, 25)  # of the largest, along the lasso path
PASSES = 1_000  # of coordinate descent per penalty; a certificate is valid however far it came
LOOK = 10  # passes between two looks at how far it came
CLOSE = 1e-6  # of a coefficient, and of the squares of the residual: near enough
LARGEST_LASSO = 1_500  # points of a dense Gram matrix
MOST_ENTRIES = 3_000_000  # of a sparse one


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


def fewest_steps(start: LessonStart, spectrum: Spectrum) -> int:
    """Return a number of steps below which no teacher with true labels reaches the tolerance, whatever the packs."""
    if float(np.linalg.norm(start.residual)) < start.radius:
        return 0
    kappa = float(start.diagonal.max())
    needed = least_coefficients(start)
    sums = expansions(spectrum, start.residual)
    budget = max(needed**2 / (one.square + 2.0 * one.rest_largest * needed) for one in sums)

    def worth(rate: float) -> float:
        return rate / (1.0 - rate * kappa) if rate * kappa < 1.0 else math.inf

    return max(1, _first_step(start, budget, worth))


def most_steps(start: LessonStart, spectrum: Spectrum) -> int | None:
    """Return a number of steps by which one greedy example per step has reached the tolerance, or None."""
    rates = _rates_to_look_at(start)
    kappa, count = float(start.diagonal.max()), len(start.pool)
    found = []
    for one in expansions(spectrum, start.residual):
        missed = max(one.rest_largest * math.sqrt(count) / start.radius, one.rest_length / start.radius)
        room = 1.0 - max(rates) * kappa - missed
        if room <= 0.0:
            continue
        clock = _greedy_clock(one, spectrum, start, room, missed, min(rates))
        found.append(_first_step(start, clock, lambda rate, lost=missed: 4.0 * rate * (1.0 - rate * kappa - lost)))
    possible = [steps for steps in found if steps < LONGEST_SCHEDULE or start.constant_rate is not None]
    return min(possible, default=None)


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
    from scipy.optimize import minimize_scalar  # here, since it takes long to load

    best = minimize_scalar(total, bounds=(math.log(most) - 40.0, math.log(most)), method="bounded")
    clocks = [most, float(best.fun)]
    if slowest > 0 and start.radius > 2.0 * one.rest_length:
        goal = (start.radius - one.rest_length) ** 2 / float(spectrum.values.max())
        clocks.append(max(0.0, math.log(one.square / goal)) / exponent)
    return min(clocks)


def least_coefficients(start: LessonStart) -> float:
    r"""Return a lower bound on min { |b|_1 : |r0 + K b|_2 <= R }, certified by a feasible point of its dual.

    The dual is max r0'y - R |y| over |K y|_inf <= 1, and every residual rho of the lasso, scaled to be feasible, is one
    such y.
    """
    product = product_with(start.learner.kernel, start.pool)
    residual = start.residual

    def certify(rho: Array) -> float:
        size = float(np.abs(product(rho)).max())
        return (float(residual @ rho) - start.radius * float(np.linalg.norm(rho))) / size if size > 0 else 0.0

    best = certify(residual)
    gram = _gram_for_lasso(start)
    if gram is None:
        return max(0.0, best)
    load_numba()
    from nimt.engines.compiled_steps.lasso_steps import descend

    entries, rows, starts = gram
    squares = np.add.reduceat(entries * entries, starts[:-1])
    top = float(np.abs(product(residual)).max())
    solution, rho = np.zeros(len(residual)), np.array(residual)
    worse = 0
    for penalty in top * PENALTIES[1:]:
        left = -rho
        for _ in range(0, PASSES, LOOK):
            descend(entries, rows, starts, squares, penalty, solution, left, LOOK, CLOSE)
            if _gap(-left, product(left), residual, penalty, solution) <= CLOSE * float(residual @ residual):
                break
        rho = -left
        found = certify(rho)
        worse = worse + 1 if found <= best else 0
        best = max(best, found)
        if worse == 2 or float(np.linalg.norm(rho)) < start.radius:
            break
    return max(0.0, best)


def _gap(rho: Array, slopes: Array, residual: Array, penalty: float, solution: Array) -> float:
    """Return how far a point of the lasso is from its dual: the residual, scaled to be feasible."""
    scale = min(1.0, penalty / max(float(np.abs(slopes).max()), 1e-300))
    both = 0.5 * (1.0 + scale * scale) * float(rho @ rho)
    return both + penalty * float(np.abs(solution).sum()) - scale * float(rho @ residual)


def _gram_for_lasso(start: LessonStart) -> tuple[Array, Indices, Indices] | None:
    """Return K as the entries of its columns, their rows, and where each column begins; None where it is too large."""
    kernel, pool, n = start.learner.kernel, start.pool, len(start.pool)
    if n <= LARGEST_LASSO:
        gram = np.asarray(kernel(pool.points, pool.points), dtype=np.float64)
        return gram.T.ravel(), np.tile(np.arange(n), n), n * np.arange(n + 1)
    factors = grid_factors(kernel, pool)
    if factors is None:
        return None
    height, matrices = factors
    if math.prod(int(np.count_nonzero(matrix)) for matrix in matrices) > MOST_ENTRIES:
        return None
    from scipy import sparse  # here, since few lessons need it

    product = sparse.csc_matrix(np.full((1, 1), height))
    for matrix in matrices:
        product = sparse.kron(product, sparse.csc_matrix(matrix), format="csc")
    return product.data, product.indices.astype(np.intp), product.indptr.astype(np.intp)


def _rates_to_look_at(start: LessonStart) -> list[float]:
    """Return the learning rates of the lesson; of a long schedule, those of many of its steps."""
    if start.constant_rate is not None:
        return [start.constant_rate]
    last = LONGEST_SCHEDULE if start.max_iterations is None else start.max_iterations
    return [start.rate(step) for step in range(0, last + 1, 1 if last < 100_000 else last // 100_000)]


def _first_step(start: LessonStart, needed: float, worth: object) -> int:
    """Return the first t at which the sum over the steps before it, each worth what its rate says, reaches a number."""
    assert callable(worth)
    rate = start.constant_rate
    if rate is not None:
        each = worth(rate)
        return 0 if math.isinf(each) else math.ceil(needed / each * (1.0 - 1e-12))
    passed, step = 0.0, 0
    while passed < needed and step < LONGEST_SCHEDULE:
        passed += worth(start.rate(step))
        step += 1
    return step


def bounds_before(start: LessonStart, *, greedy: bool) -> tuple[int, int | None]:
    """Return the proved bounds on the number of steps; 0 and None where there are none."""
    spectrum = spectrum_of(start.learner.kernel, start.pool)
    if spectrum is None:
        return 0, None
    lower = fewest_steps(start, spectrum)
    return lower, most_steps(start, spectrum) if greedy and lower else None

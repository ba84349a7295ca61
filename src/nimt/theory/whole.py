"""A lesson that shows the whole pool at every step, exactly and without running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.theory.lesson_start import LessonStart
from nimt.theory.spectrum import ROUNDING, lanczos, product_with, spectrum_of

LONGEST = 10**15  # steps; no lesson is longer
LONGEST_SCHEDULE = 1_000_000  # steps; with a schedule every step is computed
SCAN = 4_000  # steps looked at where M may rise and fall again
EASY_DENSE = 1_000  # points; beyond it Lanczos' iteration is faster than a full decomposition
CURVE_POINTS = 240

Steps = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Decay:
    r"""M over t of r_t = rest + sum_k (g_k(t) a_k + s_k(t) b_k) c_k; g_k(t) = prod_j (1 - 2 eta_j lambda_k / m), s = 0.

    With momentum, decay and forgetting g and s are those of `follow_modes`.

    Attributes
    ----------
    eigenvalues, amplitudes : arrays (modes,)
        lambda and a.
    columns : array (n, modes) or None
        c; None where they are orthonormal, so that |r_t|^2 is a sum of squares.
    rest : array (n,) or None
        What no step changes.
    target : array (modes,) or None
        b, the modes of f*; None for a learner whose f does not fade.
    count : int
        m, how many examples are shown per step.
    scale : float
    method : str
        How the modes were found.
    exact : bool
        Whether they are all modes, or those that Lanczos' iteration found.
    """

    eigenvalues: Array
    amplitudes: Array
    columns: Array | None
    rest: Array | None
    count: int
    scale: float
    method: str
    exact: bool
    target: Array | None = None

    def factors(self, rate: float) -> Array:
        """Return by what one step at a rate multiplies each mode."""
        return 1.0 - 2.0 * rate / self.count * self.eigenvalues

    def discrepancy(self, growth: Array, shift: Array | None = None) -> float:
        """Return M where the modes have been multiplied by `growth`, and moved by `shift` times those of f*."""
        with np.errstate(over="ignore", invalid="ignore"):
            parts = growth * self.amplitudes
            if shift is not None and self.target is not None:
                parts = parts + shift * self.target
            if self.columns is None:
                return self.scale * float(np.linalg.norm(parts))
            assert self.rest is not None
            return self.scale * float(np.linalg.norm(self.rest + self.columns @ parts))

    def after(self, rate: float, steps: int) -> float:
        """Return M after some steps at a constant rate."""
        with np.errstate(over="ignore", under="ignore"):
            return self.discrepancy(self.factors(rate) ** float(steps))

    def remainder(self, start: LessonStart) -> float:
        """Return M in the limit of all lessons whose rate is small enough; f that fades tends to a part of f*."""
        unmoved = np.where(self.eigenvalues > 0, 0.0, 1.0)
        if self.target is None:
            return self.discrepancy(unmoved)
        update, rate = start.update, start.rate(0)
        ahead = 1.0 + update.momentum * update.forgetting * update.nesterov
        pulled = (1.0 - self.factors(rate)) * ahead
        lost = update.forgetting * (1.0 - update.momentum) + rate * update.decay * ahead
        return self.discrepancy(0.0 * unmoved, (1.0 - self.factors(rate)) / (pulled + lost) - 1.0)


def decay_of(start: LessonStart) -> Decay:
    """Return the modes of the lesson that shows all candidates at every step.

    With all points to show, r_{t+1} = (I - 2 eta K / n) r_t, and the modes are the eigenvectors of K. With some of
    them, P, the values on P follow the same rule with K_PP, and r_t = r_inf + K_{.P} K_PP^-1 r_t on P: r_inf is what
    remains.
    """
    kernel, pool, rows = start.learner.kernel, start.pool, start.rows
    at_candidates = start.residual[start.candidates]
    small = spectrum_of(kernel, pool, rows, largest=EASY_DENSE)
    count, scale = len(start.candidates), start.scale
    if start.fades and rows is not None:
        raise InvalidInput(
            "there is no forecast for some of the points and a learner that fades", way_out="let pool= be all of them"
        )
    if small is not None:
        values = np.where(small.values > small.rounding, small.values, 0.0)
        amplitudes = small.modes(at_candidates)
        if rows is None:
            target = small.modes(start.task.target) if start.fades else None
            return Decay(values, amplitudes, None, None, count, scale, "from the spectrum", exact=True, target=target)
        images = kernel(pool.points, pool.points[rows]) @ small.axes[0]
        method, exact = "from the spectrum", True
    else:
        found = lanczos(product_with(kernel, pool, rows), at_candidates, rows)
        cut = len(at_candidates) * ROUNDING * found.values.max(initial=0.0)
        values, amplitudes = np.where(found.values > cut, found.values, 0.0), found.amplitudes
        method, exact = f"from {say_count(len(values), 'step', 'd')} of Lanczos' iteration", found.exact
        if rows is None:
            if start.fades and not np.array_equal(start.residual, -start.task.target):
                raise InvalidInput(
                    f"there is no forecast for {count:,} points and a learner that fades, unless it starts at 0",
                    way_out=f"teach at most {EASY_DENSE:,} points, or leave initial= out",
                )
            target = -amplitudes if start.fades else None
            return Decay(values, amplitudes, None, None, count, scale, method, exact=exact, target=target)
        images = found.columns
    # a mode that no step moves does not carry over to the other points
    columns = np.divide(images, values, out=np.zeros_like(images), where=values > 0)
    rest = start.residual - columns @ (amplitudes * (values > 0))
    return Decay(values, amplitudes * (values > 0), columns, rest, count, scale, method, exact=exact)


def first_below(decay: Decay, start: LessonStart) -> tuple[int | None, int]:
    """Return the first t with M below the tolerance, or None and how far was looked."""
    rate = start.constant_rate
    if rate is None or not start.update.is_plain:
        return _first_by_schedule(decay, start)
    limit = LONGEST if start.max_iterations is None else start.max_iterations

    def below(steps: int) -> bool:
        return decay.after(rate, steps) < start.tol

    if below(0):
        return 0, limit
    if decay.columns is None:
        end = _lowest(decay, rate, limit)
        return (_bisect(below, 0, end) if below(end) else None), limit
    steps = space_steps(limit, SCAN)
    place = next((i for i, step in enumerate(steps.tolist()) if below(step)), None)
    return (None if place is None else _bisect(below, int(steps[place - 1]), int(steps[place]))), limit


def _lowest(decay: Decay, rate: float, limit: int) -> int:
    """Return a step after which M does not fall: |r_t|^2 is a sum of exponentials in t, so it is convex in t."""
    if np.abs(decay.factors(rate)).max(initial=0.0) <= 1.0:
        return limit

    def rises(steps: int) -> bool:
        return not decay.after(rate, steps + 1) < decay.after(rate, steps)

    return _bisect(rises, -1, limit) if rises(limit) else limit


def _bisect(true_from: object, low: int, high: int) -> int:
    """Return the first step at which a statement is true that is false at `low` and true at `high`."""
    assert callable(true_from)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true_from(middle) else (middle, high)
    return high


def _first_by_schedule(decay: Decay, start: LessonStart) -> tuple[int | None, int]:
    limit = LONGEST_SCHEDULE if start.max_iterations is None else start.max_iterations
    for step, (growth, shift) in enumerate(follow_modes(decay, start, limit)):
        if decay.discrepancy(growth, shift) < start.tol:
            return step, limit
        if not np.isfinite(growth).all():  # a mode that has overflowed does not come back
            break
    return None, limit


def follow_modes(decay: Decay, start: LessonStart, last: int) -> Iterator[Array]:
    """Yield g and s after 0, 1, ... steps, (2, modes): a mode of f - f* is g times its first value, s times that of f*.

    Both follow v <- mu v - a h - eta d (h + e), g <- (1 - phi) g - phi e + v with a = 2 eta lambda / m, d the decay and
    phi the forgetting; h is g + mu v with `nesterov`, else g. g starts at 1 and e is 0; s starts at 0 and e is 1, since
    what fades is f, the sum of f - f* and f*.
    """
    update = start.update
    modes, velocity = np.zeros((2, len(decay.eigenvalues))), np.zeros((2, len(decay.eigenvalues)))
    modes[0] = 1.0
    target = np.array([[0.0], [1.0]])
    for step in range(last + 1):
        yield modes
        rate = start.rate(step)
        factors = decay.factors(rate)
        if update.is_plain:
            modes = modes * factors
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            kept = update.momentum * velocity
            ahead = modes + kept if update.nesterov else modes
            velocity = kept - (1.0 - factors) * ahead
            if start.fades:
                velocity = velocity - rate * update.decay * (ahead + target)
                modes = modes - update.forgetting * (modes + target)
            modes = modes + velocity


def diverges(decay: Decay, start: LessonStart) -> bool:
    """Say whether a mode grows at the first rate: a step multiplies (g, v) by a matrix with an eigenvalue beyond 1.

    With b = a + eta d its trace is 1 - phi - b + mu (1 - b) with `nesterov`, else 1 - phi - b + mu, and its determinant
    (1 - phi) mu (1 - b) or (1 - phi) mu: without decay and forgetting a > 2 (1 + mu), or that by (1 + 2 mu).
    """
    update, rate = start.update, start.rate(0)
    pulled = 1.0 - decay.factors(rate) + rate * update.decay
    kept = update.momentum * (1.0 - pulled * update.nesterov)
    trace, determinant = 1.0 - update.forgetting - pulled + kept, (1.0 - update.forgetting) * kept
    most = 1.0 + 1e-12
    return bool((np.abs(trace) > most + determinant).any() or (np.abs(determinant) > most).any())


def curve_of(decay: Decay, start: LessonStart, last: int) -> tuple[Steps, Array]:
    """Return steps and M from 0 to the last step."""
    rate = start.constant_rate
    if rate is not None and start.update.is_plain:
        steps = space_steps(last, CURVE_POINTS)
        return steps, np.array([decay.after(rate, step) for step in steps.tolist()])
    last = min(last, LONGEST_SCHEDULE)
    steps = space_steps(last, CURVE_POINTS)
    wanted = set(steps.tolist())
    modes = enumerate(follow_modes(decay, start, last))
    return steps, np.array([decay.discrepancy(*parts) for step, parts in modes if step in wanted])


def space_steps(last: int, points: int) -> Steps:
    """Return steps from 0 to the last, closer at the start.

    Examples
    --------
    >>> space_steps(1000, 6)
    array([   0,    1,    4,   16,   63,  251, 1000])
    """
    if last <= 0:
        return np.zeros(1, dtype=np.int64)
    rising = np.geomspace(1.0, float(last), points)
    return np.unique(np.concatenate([[0], np.rint(rising).astype(np.int64), [last]]))

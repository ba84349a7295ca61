"""Say before a lesson how many steps it will take: exactly, in the mean, simulated, or scaled from a shorter lesson."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt import defaults, display
from nimt.arrays import Array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.measures import as_measure
from nimt.option_table import Tolerance
from nimt.pools.pool import Grid, Pool
from nimt.task.checks import name_kernels
from nimt.task.task import Task
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.synthesis import SynthesisTeacher
from nimt.teachers.teacher import count_of
from nimt.theory import first_passage, moments, rate_law, whole
from nimt.theory.bounds_table import to_json
from nimt.theory.lesson_start import LessonStart, lesson_start, start_of
from nimt.theory.magnitude import LateRate, find_late_rate
from nimt.theory.moments import MeanLesson
from nimt.theory.reach import find_unreachable
from nimt.theory.spectrum import grid_factors
from nimt.theory.step_bounds import bounds_before
from nimt.wording import Wording

NO_FORECAST = "there is no forecast for "
GREEDY_WITHIN = 0.05  # of the forecast: what the ten lessons of docs/theory.md support for packs of one
PACKS_WITHIN = 0.10
RANDOM_WITHIN = 0.06  # of the mean over the draws
QUICK_SECONDS = 0.4  # for a shorter lesson
QUICK_POINTS = 500  # of a dense decomposition
QUICK_GRID = 2_500  # of the mean over draws
QUICK_GREEDY = 250_000
QUICK_SCATTERED = 5_000  # whose columns of K a shorter lesson may keep: 200 MB
DRAWS_SECONDS = 6.0  # for lessons with other draws, by the estimate of `first_passage`
QUIET_WITHIN = 0.05  # of the steps: how far apart the crossings of mean M^2 and mean f may be for the mean to say all
NOISE_WITHIN = 0.20  # times the share of the noise, which the first order of the deviation leaves out


@dataclass(frozen=True, eq=False)
class ForecastCurve:
    """M over t as forecast: `step` (points,) and `discrepancy` (points,), closer at the start."""

    step: NDArray[np.int64]
    discrepancy: Array

    def at(self, step: ArrayLike) -> Array:
        """Return M at any steps, by a monotone cubic through its logarithm; beyond the last step, the last M."""
        asked = np.clip(np.asarray(step, dtype=np.float64), self.step[0], self.step[-1])
        first = np.concatenate([[True], np.diff(self.step) > 0])  # a short lesson may put two of its steps into one
        if first.sum() < 2:
            return np.full(asked.shape, self.discrepancy[0])
        from scipy.interpolate import PchipInterpolator  # here, since it takes half a second to load

        logs = np.log(np.maximum(self.discrepancy[first], 1e-300))
        return np.asarray(np.exp(PchipInterpolator(self.step[first], logs)(asked)))


@dataclass(frozen=True, eq=False)
class Forecast:
    """What a lesson will do, said before it begins.

    Attributes
    ----------
    itd : int or None
        The step at which M is expected to fall below the tolerance; None where it does not within the steps looked at.
    interval : (int, int or None)
        Where the step is expected to lie: a single number if exact; for a random teacher the band of single lessons.
    bounds : (int, int or None)
        What is proved: no lesson with true labels is shorter than the first, no greedy one with packs of
        one longer than the second. Computed when first asked for.
    method : str
        How the forecast was made, as a sentence.
    curve : ForecastCurve
        M over t; of a random teacher the root of the mean of M^2 over the draws, around which single lessons vary. They
        end at a dip, so that it may be above the tolerance at `itd`.
    reachable : bool
        False where the tolerance cannot be met, whatever the number of steps.
    remains : float
        What M is left with then, or the smallest M that was forecast where it is not known to be out of reach.
    kind : {"exact", "mean", "simulated", "scaled", "taught"}
    tol, measure : as given
    """

    itd: int | None
    interval: tuple[int, int | None]
    method: str
    curve: ForecastCurve
    reachable: bool
    remains: float
    kind: str
    tol: float
    measure: Any
    start: LessonStart = field(repr=False)

    @cached_property
    def bounds(self) -> tuple[int, int | None]:
        if self.kind == "exact":
            return (self.itd, self.itd) if self.itd is not None else (self.interval[0], None)
        if not self.start.update.is_plain:
            return 0, None  # what is proved is proved for gradient steps
        with name_kernels(self.start.learner, self.start.teacher):
            return bounds_before(self.start, greedy=self.reachable and _shows_the_largest_error(self.start))

    @cached_property
    def late_rate(self) -> LateRate | None:
        """How many steps a factor e of the tolerance takes in the end: the magnitude of the points shown last.

        Of one greedy example per step at a constant rate, found by a shorter lesson; None for others, and where that
        does not alternate between a few points yet.
        """
        rate = self.start.constant_rate
        if self.itd is None or rate is None or not self.start.update.is_plain:
            return None
        return find_late_rate(self.start, rate) if _shows_the_largest_error(self.start) else None

    def in_one_line(self) -> str:
        """Return the forecast in a few words, without the proved bounds."""
        if not self.reachable:
            if not math.isfinite(self.remains):
                return f"M < {self.tol:g} cannot be reached: the lesson diverges at this learning rate"
            return f"M < {self.tol:g} cannot be reached: {self.remains:.3g} remains"
        if self.itd is None:
            steps = say_count(self.interval[0], "step")
            return f"M < {self.tol:g} is not reached in {steps} (M is {self.remains:.3g} then)"
        low, high = self.interval
        about = "" if self.kind in ("exact", "taught") else "about "
        band = "" if low == high else f" ({low:,} to {_or_more(high)})"
        return f"M < {self.tol:g} after {about}{say_count(self.itd, 'step')}{band}"

    def sentences(self) -> list[str]:
        """Return what can be said, the proved bounds included."""
        return [f"{self.in_one_line()}.", self.method, *self._bound_sentences()]

    def _bound_sentences(self) -> list[str]:
        lower, upper = self.bounds
        if self.kind == "exact" or not self.reachable or (lower == 0 and upper is None):
            return []
        about = "" if self.kind == "taught" else "about "
        middle = "the lesson" if self.itd is None else f"{about}{self.itd:,}"
        proved = f"{lower:,} <= {middle}" + ("" if upper is None else f" <= {upper:,}")
        return [f"Proved bounds: {proved}."]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        first, *others = self.sentences()
        measure = as_measure(self.measure)
        line = display.Line("", "currentColor", self.curve.step, self.curve.discrepancy)
        curve = display.curves([line], measure.axis or measure.name, self.tol)
        return display.cell(f"Forecast: {first}", display.sentences(others), curve)

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return the curve as columns."""
        return {"step": self.curve.step, "discrepancy": self.curve.discrepancy}

    def to_json(self) -> str:
        """Return all but the curve as JSON text."""
        names = ("itd", "interval", "bounds", "method", "reachable", "remains", "kind", "tol")
        return to_json({name: getattr(self, name) for name in names} | {"measure": as_measure(self.measure).name})


def forecast(
    learner: Any,
    teacher: Any,
    X: Pool | ArrayLike,
    y: Any,
    *,
    tol: Tolerance = defaults.TOL,
    measure: Any = defaults.MEASURE,
    max_iterations: int | None = None,
    seed: int = defaults.SEED,
) -> Forecast:
    """Say how many steps a lesson will take, before it begins.

    Covers a `KernelLearner` with the square loss and true labels; with momentum, decay and forgetting, where the
    teacher is greedy or shows the whole pool. A teacher that shows the whole pool is forecast
    exactly, from the spectrum of the kernel; a `GreedyTeacher` by scaling a shorter lesson at a larger learning rate,
    about ten times fewer steps where the rate is 0.01; a `RandomTeacher` in the mean over its draws where they hardly
    matter, and else by up to 24 lessons with draws of their own, given to copies of the learner (seconds at most; a
    lesson too long for that gets a wide interval from the means). Other lessons are refused with a sentence that says
    what can be said of them.

    Parameters
    ----------
    learner, teacher, X, y, tol, measure, seed : as in `teach`; a tolerance is greater than 0
    max_iterations : int, optional
        Look no further than that.

    Returns
    -------
    Forecast

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> nimt.forecast(learner, nimt.GreedyTeacher(k=1.0), x, np.sin, tol=1e-3).itd
    1867
    >>> nimt.teach(learner, nimt.GreedyTeacher(k=1.0), x, np.sin, tol=1e-3, max_iterations=5000).itd
    1867
    >>> print(nimt.forecast(learner, nimt.GreedyTeacher(), x, np.sin, tol=1e-3).in_one_line())
    M < 0.001 after about 1,801 steps (1,710 to 1,892)
    """
    start = lesson_start(learner, teacher, X, y, tol=tol, measure=measure, max_iterations=max_iterations, seed=seed)
    return forecast_from(start)


def forecast_in_a_second(task: Task) -> Forecast | None:
    """Return the forecast where it takes less than about a second, without its proved bounds; None where it does not.

    A lesson that no forecast covers has none.
    """
    if task.stop.tol is None or task.stop.tol <= 0:
        return None
    try:
        start = start_of(task)
        found = forecast_from(start, seconds=QUICK_SECONDS) if _is_quick(start) else None
    except InvalidInput:
        return None
    return found if found is None or found.itd is not None or not found.reachable else None


def _is_quick(start: LessonStart) -> bool:
    """Say whether all that a forecast computes, apart from a shorter lesson, is small."""
    few = len(start.candidates) <= QUICK_POINTS
    if start.rows is not None or start.constant_rate is None:
        return few
    if isinstance(start.teacher, RandomTeacher):
        return few or (len(start.pool) <= QUICK_GRID and grid_factors(start.learner.kernel, start.pool) is not None)
    if isinstance(start.teacher, GreedyTeacher) and count_of(start.teacher.k, len(start.pool)) < len(start.pool):
        return len(start.pool) <= (QUICK_GREEDY if isinstance(start.pool, Grid) else QUICK_SCATTERED)
    return few or grid_factors(start.learner.kernel, start.pool) is not None


def forecast_from(start: LessonStart, *, seconds: float | None = None) -> Forecast:
    """Forecast a lesson that was checked; a shorter lesson may take so many seconds."""
    with name_kernels(start.learner, start.teacher):
        return _forecast_of_kind(start, seconds)


def _forecast_of_kind(start: LessonStart, seconds: float | None) -> Forecast:
    if start.distance < start.tol:
        why = "Exact: the learner is below the tolerance already."
        return _make_forecast(start, 0, (0, 0), why, "exact", [0], [start.distance])
    rest = start.scale * float(np.linalg.norm(find_unreachable(start)))
    if rest >= start.tol:
        why = "Exact: equal points have different targets, and f has one value there, whatever is shown."
        return _out_of_reach(start, rest, why)
    if start.teacher.has_schedule:
        raise InvalidInput(
            Wording("packs or looks by a schedule", "packs that change").embed(NO_FORECAST),
            way_out=Wording("forecast the largest and smallest k", "give -k one number"),
        )
    return _forecast_of(start.teacher.original, start, seconds)


@singledispatch
def _forecast_of(teacher: Any, start: LessonStart, seconds: float | None) -> Forecast:
    raise InvalidInput(
        start.teacher.kind.embed(NO_FORECAST),
        way_out=Wording(
            "it covers GreedyTeacher and RandomTeacher; every teacher with true labels has the lower bound "
            "nimt.forecast(learner, nimt.GreedyTeacher(), ...).bounds[0]",
            "it covers the teachers greedy and random; the lower bound that nimt forecast --teacher greedy proves "
            "holds for every teacher with true labels",
        ),
    )


@_forecast_of.register
def _of_synthesis(teacher: SynthesisTeacher, start: LessonStart, seconds: float | None) -> Forecast:
    greedy = Wording("nimt.GreedyTeacher() with a learner of learning rate", "--teacher greedy with --learning-rate")
    raise InvalidInput(
        start.teacher.kind.embed(NO_FORECAST, ", which makes its labels"),
        way_out=greedy.embed(
            "with free labels its lesson is that of ", " 1 / (2 K(x, x)), so forecast or teach that one"
        ),
    )


def _refuse_never_twice(teacher: GreedyTeacher | RandomTeacher) -> None:
    if teacher.never_twice:
        raise InvalidInput(
            f"{NO_FORECAST}a {type(teacher).__name__} with never_twice=True",
            way_out="without it the forecast says how long the lesson takes if points may be shown again",
        )


@_forecast_of.register
def _of_greedy(teacher: GreedyTeacher, start: LessonStart, seconds: float | None) -> Forecast:
    _refuse_never_twice(teacher)
    pack = count_of(teacher.k, len(start.candidates))
    if pack == len(start.candidates):
        return _of_whole(start)
    if (limited := _forecast_limited(start)) is not None:
        return limited
    scaled = rate_law.teach_scaled_lesson(start, pack, seconds=seconds)
    if scaled.diverged:
        why = "A lesson given to a copy of the learner at this rate diverged: lower the learning rate."
        return _out_of_reach(start, math.inf, why)
    taught = scaled.times_fewer == 1.0
    if taught:
        method = "Taught: at so large a learning rate no shorter lesson says more, so a copy of the learner was taught."
        within = 0.0
    else:
        within = GREEDY_WITHIN if pack == 1 else PACKS_WITHIN
        method = (
            f"Scaled from a shorter lesson at a larger learning rate, {scaled.times_fewer:.1f} times fewer steps: "
            f"right within {within:.0%} on the lessons it was tried on."
        )
    interval = (scaled.longest, None) if scaled.itd is None else _around(scaled.itd, within)
    kind = "taught" if taught else "scaled"
    return _make_forecast(start, scaled.itd, interval, method, kind, scaled.step, scaled.discrepancy)


@_forecast_of.register
def _of_random(teacher: RandomTeacher, start: LessonStart, seconds: float | None) -> Forecast:
    _refuse_never_twice(teacher)
    pack = count_of(teacher.k, len(start.candidates))
    if pack == len(start.candidates) and not teacher.may_repeat and teacher.weights is None:
        return _of_whole(start)
    if not start.update.is_plain:
        raise InvalidInput(
            f"{NO_FORECAST}random examples and a learner with {start.update.parts[0]}",
            way_out="nimt.GreedyTeacher() has one",
        )
    if teacher.weights is not None:
        raise InvalidInput(
            f"{NO_FORECAST}a RandomTeacher with weights",
            way_out="without weights= it says how long the lesson takes if all points are equally likely",
        )
    if teacher.order == "epoch":
        raise InvalidInput(
            f"{NO_FORECAST}a RandomTeacher with order='epoch'",
            way_out="order='step' says how long the lesson takes if every step draws from all points",
        )
    if (limited := _forecast_limited(start)) is not None:
        return limited
    if not callable(start.learner.learning_rate) and start.rate(0) * float(np.min(start.diagonal)) > pack:
        why = "Each step overshoots by more than it corrects, so the lesson diverges: lower the learning rate."
        return _out_of_reach(start, math.inf, why)
    mean = moments.mean_lesson(start, pack, replace=bool(teacher.replace))
    if mean is None:
        raise InvalidInput(
            f"the forecast of a random teacher needs all eigenvalues of the Gram matrix, which for "
            f"{len(start.candidates)} points are found only on a grid where the kernel is a product over the axes",
            way_out=Wording("nimt.GreedyTeacher(k=1.0)", "--teacher whole").embed(
                "the lesson of the whole pool, ", ", takes about as many steps and can be forecast"
            ),
        )
    return _of_draws(start, mean, pack, replace=bool(teacher.replace), seconds=seconds)


def _of_draws(start: LessonStart, mean: MeanLesson, pack: int, *, replace: bool, seconds: float | None) -> Forecast:
    """Forecast the first step below the tolerance: from the moments where M hardly varies, else by giving lessons."""
    curve = (mean.step, mean.discrepancy)
    crossed = moments.crossing(*curve, start.tol)
    calm = moments.crossing(mean.step, mean.of_mean, start.tol)
    if crossed is not None and calm is not None and crossed <= calm * (1.0 + QUIET_WITHIN):
        method = (
            "In the mean over the draws: the mean of f - f* exactly, its variance by one second moment per eigenvalue "
            "of the kernel; the interval is for single lessons."
        )
        return _make_forecast(start, math.ceil(crossed), _between(crossed, crossed, mean), method, "mean", *curve)
    longest = math.inf if start.max_iterations is None else start.max_iterations
    given = first_passage.give_lessons(
        start, pack, replace=replace, longest=longest, seconds=DRAWS_SECONDS if seconds is None else seconds
    )
    if given is not None and given.median is not None:
        low, high = given.interval()
        method = (
            f"Simulated: {say_count(len(given.steps), 'lesson')} with other draws, given to copies of the learner, "
            f"ended after so many steps at the median; the interval holds {first_passage.LIKELY:.0%} of single lessons."
        )
        shown = mean.step <= (high or given.limit)
        return _make_forecast(
            start, given.median, (low, high), method, "simulated", mean.step[shown], mean.discrepancy[shown]
        )
    if given is not None and given.diverged:
        return _out_of_reach(start, math.inf, "Lessons given to copies of the learner diverged: lower the rate.")
    if crossed is None or calm is None:
        method = "In the mean over the draws; a single lesson varies around it, and may dip below the tolerance later."
        looked = int(mean.step[-1]) if calm is None or given is None else given.limit
        return _make_forecast(start, None, (looked, None), method, "mean", *curve)
    method = (
        "Between the step at which the mean of f is near enough and the one at which the mean of M^2 is: single "
        "lessons end at dips of M in between, and are too long to be simulated here."
    )
    middle = math.ceil(math.sqrt(calm * crossed))
    return _make_forecast(start, middle, _between(calm, crossed, mean), method, "mean", *curve)


def _between(calm: float, crossed: float, mean: MeanLesson) -> tuple[int, int]:
    """Return from where to where single lessons are expected to end."""
    share = RANDOM_WITHIN + NOISE_WITHIN * mean.noise_share
    spread = 2.0 * moments.deviation_of_steps(mean)
    return (
        max(0, math.floor(calm * (1.0 - share - spread / max(1.0, crossed)))),
        math.ceil(crossed * (1.0 + share) + spread),
    )


def _of_whole(start: LessonStart) -> Forecast:
    decay = whole.decay_of(start)
    itd, limit = whole.first_below(decay, start)
    method = f"Exact, {decay.method} of the Gram matrix."
    if itd is None and (start.max_iterations is None or decay.remainder(start) >= start.tol):
        if whole.diverges(decay, start):
            why = f"{method} At this rate the lesson diverges: lower the learning rate."
            return _out_of_reach(start, math.inf, why)
        if decay.remainder(start) >= start.tol:
            return _out_of_reach(start, decay.remainder(start), f"{method} {_why_limited(start)}")
    last = limit if itd is None else itd
    step, discrepancy = whole.curve_of(decay, start, last)
    interval = (int(step[-1]), None) if itd is None else (itd, itd)
    return _make_forecast(start, itd, interval, method, "exact", step, discrepancy)


def _shows_the_largest_error(start: LessonStart) -> bool:
    """Say whether one example is shown per step, the one with the largest |f - f*| of all points."""
    teacher = start.teacher
    if not isinstance(teacher, GreedyTeacher) or start.rows is not None or count_of(teacher.k, len(start.pool)) != 1:
        return False
    if teacher.score == "residual":
        return True
    # these two put errors of one size in the order of K(x, x); any other score may choose otherwise
    return teacher.score in ("gradient", "loss") and float(np.ptp(start.diagonal)) == 0.0


def _forecast_limited(start: LessonStart) -> Forecast | None:
    """Return that a limited pool cannot reach the tolerance, where it cannot."""
    if start.rows is None:
        return None
    remains = whole.decay_of(start).remainder(start)
    if remains < start.tol:
        return None
    return _out_of_reach(start, remains, f"Exact. {_why_limited(start)}")


def _why_limited(start: LessonStart) -> str:
    if start.fades:
        return "The learner forgets while it learns, so that it tends to a part of f*."
    if start.rows is None:
        return "What remains lies in directions that the kernel does not reach within rounding."
    shown, count = len(start.candidates), len(start.pool)
    return f"The teacher may show {shown:,} of {count:,} points, and what remains is at the others."


def _out_of_reach(start: LessonStart, remains: float, why: str) -> Forecast:
    made = _make_forecast(start, None, (0, None), why, "exact", [0], [start.distance])
    object.__setattr__(made, "reachable", False)
    object.__setattr__(made, "remains", remains)
    return made


def _make_forecast(
    start: LessonStart,
    itd: int | None,
    interval: tuple[int, int | None],
    method: str,
    kind: str,
    step: Any,
    discrepancy: Any,
) -> Forecast:
    if itd is not None and start.max_iterations is not None and itd > start.max_iterations:
        itd, interval = None, (start.max_iterations, None)
    curve = ForecastCurve(np.asarray(step, dtype=np.int64), np.asarray(discrepancy, dtype=np.float64))
    remains = 0.0 if itd is not None else float(curve.discrepancy[-1])
    return Forecast(itd, interval, method, curve, True, remains, kind, start.tol, start.task.measure.name, start)


def _around(itd: int, share: float) -> tuple[int, int | None]:
    return max(0, math.floor(itd * (1.0 - share))), math.ceil(itd * (1.0 + share))


def _or_more(high: int | None) -> str:
    return "any number" if high is None else f"{high:,}"

"""The paper's bounds on S and on the number of steps, along a lesson, beside what was measured."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt import display
from nimt.arrays import Array, check_positive
from nimt.counting import say_count
from nimt.errors import InvalidInput, OutsideOfSpaceWarning
from nimt.lesson.lesson import Lesson
from nimt.measures import as_measure
from nimt.teachers.teacher import VERMILION
from nimt.theory import assumptions
from nimt.theory.bounds_table import to_json
from nimt.theory.discrepancy_bounds import Discrepancies, discrepancies_of, ratio_of, running_sum
from nimt.theory.replaying import Replay, replay

READINGS = ("maximum", "mean", "sum")
BY_DISTANCE = "|f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / K_j^2"
BY_DISTANCE_MEAN = "|f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / (K_j^2 gamma_j)"


@dataclass(frozen=True)
class Prediction:
    """How many steps until S <= epsilon, by one reading of L(f0); None where the lesson is too short to tell.

    Attributes
    ----------
    reading : str
    random : int
        2 L(f0) / (eta epsilon), rounded up.
    greedy : int or None
        The first t with psi(t) >= 2 L(f0) / (eta epsilon): what the GFT bound implies, never fewer than `random`.
    greedy_as_claimed : float or None
        psi(2 L(f0) / (eta epsilon)), which the paper calls the ITD of GFT; it takes psi where its inverse belongs.
    """

    reading: str
    random: int
    greedy: int | None
    greedy_as_claimed: float | None


@dataclass(frozen=True, eq=False)
class Bounds:
    """What the convergence theorems say about a lesson of T steps; arrays belong to t = 1 .. T.

    Attributes
    ----------
    smallest_rate, largest_rate : float
        eta-tilde, and the largest rate used; NaN where no step was taken.
    smoothness, kernel_bound : float
        L_L (`inf` where the loss has none) and M_K = max K(x, x).
    rate_limit : float or None
        1 / (2 L_L M_K).
    rate_within : bool or None
        Whether every rate kept to it; None where there is no limit, or no step.
    initial_loss : dict of reading -> float
        L(f0) as maximum, mean and sum over the pool.
    step : array (T,)
    smallest_shown, smallest_largest : arrays (T,)
        min over j < t of S at what was shown, and of the largest S on the pool.
    psi : array (T,)
    random, greedy : dict of reading -> array (T,), or None where the loss is not smooth
        2 L(f0) / (eta t) and 2 L(f0) / (eta psi(t)).
    distance : float or None
        |f0 - f*|_H.
    by_distance : array (T,) or None
        |f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / K_j^2 over the examples shown, K_j = K(x_j, x_j): the bound that
        does hold. For K(x, x) = 1 and a constant rate it is |f0 - f*|_H^2 / (eta (1 - eta) t).
    by_distance_mean : array (T,) or None
        The same for the smallest *mean* S of a greedy lesson: each term of the sum over its greedy ratio, which for
        K(x, x) = 1 and a constant rate is |f0 - f*|_H^2 / (eta (1 - eta) Psi(t)), Psi = sum 1 / gamma.
    no_distance : str or None
        Why `by_distance` is missing.
    epsilon : float or None
    predicted : tuple of Prediction
        Empty without epsilon.
    predicted_by_distance : int or None
    measured_shown, measured_largest : int or None
        The first t with S <= epsilon, at what was shown and everywhere.
    """

    smallest_rate: float
    largest_rate: float
    smoothness: float
    kernel_bound: float
    rate_limit: float | None
    rate_within: bool | None
    initial_loss: dict[str, float]
    step: NDArray[np.int64]
    smallest_shown: Array
    smallest_largest: Array
    psi: Array
    random: dict[str, Array] | None
    greedy: dict[str, Array] | None
    distance: float | None
    by_distance: Array | None
    by_distance_mean: Array | None
    no_distance: str | None
    epsilon: float | None
    predicted: tuple[Prediction, ...]
    predicted_by_distance: int | None
    measured_shown: int | None
    measured_largest: int | None

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return columns by step; bounds that do not exist have no column."""
        table: dict[str, NDArray[Any]] = {
            "step": self.step,
            "smallest_shown": self.smallest_shown,
            "smallest_largest": self.smallest_largest,
            "psi": self.psi,
        }
        for name, columns in (("random", self.random), ("greedy", self.greedy)):
            table |= {f"{name}_{reading}": column for reading, column in (columns or {}).items()}
        if self.by_distance is not None:
            table["by_distance"] = self.by_distance
        if self.by_distance_mean is not None:
            table["by_distance_mean"] = self.by_distance_mean
        return table

    def to_json(self) -> str:
        return to_json(asdict(self))

    def sentences(self) -> list[str]:
        """Return what can be said, one sentence per fact."""
        said = [self._rate_sentence(), *self._bound_sentences()]
        if self.by_distance is None:
            said.append(f"The bound by the distance in H is not available: {self.no_distance}.")
        elif len(self.step):
            said.append(
                f"From the distance |f0 - f*|_H = {self.distance:.6g} follows min S <= {BY_DISTANCE} "
                f"= {self.by_distance[-1]:.4g} after {say_count(self.step[-1], 'step', 'd')}; "
                f"measured {self.smallest_shown[-1]:.4g}."
            )
        if self.epsilon is not None:
            said += self._epsilon_sentences(self.epsilon)
        return said

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        lines = [display.Line("measured", VERMILION, self.step, self.smallest_largest)]
        if self.by_distance is not None:
            lines.append(display.Line("bound", "currentColor", self.step, self.by_distance))
        curve = display.curves(lines, "the smallest of the largest S so far") if len(self.step) else ""
        return display.cell("Bounds of the convergence theorems", display.sentences(self.sentences()), curve)

    def _rate_sentence(self) -> str:
        if self.rate_limit is None:
            return (
                "The loss has no finite smoothness constant, so 1 / (2 L M_K) and the bounds of both theorems "
                "do not exist for it."
            )
        limit = f"1 / (2 L M_K) = {self.rate_limit:g} (L = {self.smoothness:g}, M_K = {self.kernel_bound:g})"
        if self.rate_within is None:
            return f"No step was taken, so no learning rate was used; {limit}."
        return f"The learning rate {self.largest_rate:g} is {'within' if self.rate_within else 'above'} {limit}."

    def _bound_sentences(self) -> list[str]:
        if self.random is None or self.greedy is None or not len(self.step):
            return []
        return [
            f"With L(f0) read as a {reading}, {self.initial_loss[reading]:.4g}, the bounds after "
            f"{say_count(self.step[-1], 'step', 'd')} "
            f"are {self.random[reading][-1]:.4g} (RFT) and {self.greedy[reading][-1]:.4g} (GFT); measured min S is "
            f"{self.smallest_shown[-1]:.4g} at what was shown, {self.smallest_largest[-1]:.4g} for the largest."
            for reading in READINGS
        ]

    def _epsilon_sentences(self, epsilon: float) -> list[str]:
        said = [
            f"For S <= {epsilon:g} with a {one.reading}: RFT at most {say_count(one.random, 'step', 'd')}, "
            f"GFT {_at_most(one.greedy)} (the paper's psi of that number: {_or_unknown(one.greedy_as_claimed)})."
            for one in self.predicted
        ]
        if self.predicted_by_distance is not None:
            said.append(
                f"For S <= {epsilon:g} by the distance in H: at most "
                f"{say_count(self.predicted_by_distance, 'step', 'd')}."
            )
        if not len(self.step):
            return [*said, "No step was taken, so S was measured nowhere."]
        said.append(
            f"Measured: S <= {epsilon:g} {_first(self.measured_shown)} at what was shown, "
            f"{_first(self.measured_largest)} everywhere."
        )
        return said


def bounds(lesson: Lesson, *, epsilon: float | None = None, distance: float | None = None) -> Bounds:
    r"""Return the bounds of the convergence theorems along a lesson [Zhang23, Thms 12 and 14].

    The paper leaves open what L(f0) is of a loss that is pointwise; all three readings are given. Beside them stands
    the bound that can be proved for the square loss, one example per step and true labels.

    Parameters
    ----------
    lesson : Lesson
    epsilon : float, optional
        Predict when S falls to it.
    distance : float, optional
        |f0 - f*|_H, or anything not below it, where you know it (`gaussian_norm`); if left out it is computed by one
        dense solve (minutes and gigabytes from some 10,000 points on), where the Gram matrix allows.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [3.0, 4.0], max_iterations=4)
    >>> found = nimt.theory.bounds(lesson)
    >>> found.initial_loss
    {'maximum': 16.0, 'mean': 12.5, 'sum': 25.0}
    >>> found.random["sum"]  # 2 * 25 / (0.25 t)
    array([200.        , 100.        ,  66.66666667,  50.        ])
    >>> found.by_distance.round(2)  # 25 / (0.25 * 0.75 t)
    array([133.33,  66.67,  44.44,  33.33])
    """
    again = replay(lesson)
    return bounds_of(again, discrepancies_of(again), epsilon=epsilon, distance=distance)


def bounds_of(
    again: Replay, measured: Discrepancies, *, epsilon: float | None = None, distance: float | None = None
) -> Bounds:
    """Return the bounds of a replay whose S has been measured."""
    if epsilon is not None:
        check_positive("epsilon", epsilon)
    steps = len(again.lesson)
    t = np.arange(1, steps + 1)
    sums = running_sum(ratio_of(measured))[1:]
    losses = again.loss.value(again.lesson.initial, again.lesson.target)
    initial = {"maximum": float(np.max(losses)), "mean": float(np.mean(losses)), "sum": float(np.sum(losses))}
    smallest, largest = (float(again.rates.min()), float(again.rates.max())) if steps else (math.nan, math.nan)
    bound = float(again.diagonal.max())
    limit = assumptions.rate_limit(float(again.loss.smoothness), bound)
    twice = {reading: 2.0 * initial[reading] / smallest for reading in READINGS}
    known, weights, why = _distance_bound(again, distance)
    budget = running_sum(weights)[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        budget_mean = running_sum(weights / ratio_of(measured))[1:]
    return Bounds(
        smallest_rate=smallest,
        largest_rate=largest,
        smoothness=float(again.loss.smoothness),
        kernel_bound=bound,
        rate_limit=limit,
        rate_within=None if limit is None or not steps else assumptions.rate_within_limit(again).holds,
        initial_loss=initial,
        step=t,
        smallest_shown=np.minimum.accumulate(measured.shown),
        smallest_largest=np.minimum.accumulate(measured.largest),
        psi=sums,
        random=None if limit is None else {reading: twice[reading] / t for reading in READINGS},
        greedy=None if limit is None else {reading: twice[reading] / sums for reading in READINGS},
        distance=known,
        by_distance=None if known is None else _quotient(known**2, budget),
        by_distance_mean=None if known is None else _quotient(known**2, budget_mean),
        no_distance=why,
        epsilon=epsilon,
        predicted=() if epsilon is None or limit is None or not steps else _predictions(twice, sums, epsilon),
        predicted_by_distance=None if epsilon is None or known is None else _steps_until(known**2 / epsilon, budget),
        measured_shown=None if epsilon is None else _first_below(measured.shown, epsilon),
        measured_largest=None if epsilon is None else _first_below(measured.largest, epsilon),
    )


def _distance_bound(again: Replay, given: float | None) -> tuple[float | None, Array, str | None]:
    """Return |f0 - f*|_H, what each step takes of its square per unit of S, and why there is none."""
    lesson = again.lesson
    nothing = np.zeros(len(lesson))
    needed = (assumptions.square_loss, assumptions.one_example_a_step, assumptions.true_labels)
    failed = [found.clause for found in (assumption(again) for assumption in needed) if not found.holds]
    if failed:
        return None, nothing, "; ".join(failed)
    assert lesson.indices is not None
    kappa = again.diagonal[lesson.indices[:, 0]] if len(lesson) else np.ones(0)
    drift = again.rates * kappa
    if (drift >= 1.0).any():
        return None, nothing, f"eta K(x, x) reaches {drift.max():g}, and from 1 on a step comes no nearer"
    if given is not None:
        check_positive("distance", given)
        distance = float(given)
    else:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", OutsideOfSpaceWarning)  # the bounds need f* in H
                distance = as_measure("rkhs").prepare(again.pupil(), lesson.target, again.target_function)()
        except (InvalidInput, OutsideOfSpaceWarning) as error:
            return None, nothing, str(error)
    # a point with K(x, x) = 0 has S = 0 and moves nothing: it takes no part in the sum
    weights = np.divide(again.rates * (1.0 - drift), kappa**2, out=nothing, where=kappa > 0)
    return distance, weights, None


def _quotient(square: float, budget: Array) -> Array:
    return np.divide(square, budget, out=np.full_like(budget, np.inf), where=budget > 0)


def _predictions(twice: dict[str, float], sums: Array, epsilon: float) -> tuple[Prediction, ...]:
    found = []
    for reading, numerator in twice.items():
        needed = numerator / epsilon
        inside = math.floor(needed) <= len(sums)
        claimed = float(np.concatenate([[0.0], sums])[math.floor(needed)]) if inside else None
        found.append(Prediction(reading, math.ceil(needed), _first_at_least(sums, needed), claimed))
    return tuple(found)


def _steps_until(needed: float, budget: Array) -> int | None:
    """Return the first t with budget(t) >= needed; beyond the lesson only where every step has the same budget."""
    found = _first_at_least(budget, needed)
    if found is not None or not len(budget):
        return found
    even = np.allclose(np.diff(budget), budget[0], rtol=1e-9, atol=0.0)
    return math.ceil(needed / budget[0]) if even and budget[0] > 0 else None


def _first_at_least(rising: Array, needed: float) -> int | None:
    """Return t = 1 .. T with the first entry that is at least so much."""
    place = int(np.searchsorted(rising, needed))
    return place + 1 if place < len(rising) else None


def _first_below(values: Array, epsilon: float) -> int | None:
    below = np.flatnonzero(values <= epsilon)
    return int(below[0]) if below.size else None


def _at_most(steps: int | None) -> str:
    return "more than this lesson has" if steps is None else f"at most {steps}"


def _or_unknown(value: float | None) -> str:
    return "beyond this lesson" if value is None else f"{value:.1f}"


def _first(step: int | None) -> str:
    return "never" if step is None else f"from t = {step}"

"""Replay a lesson and hold every inequality of the paper against it: where it held, where not, and by how much."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from nimt.arrays import Array
from nimt.lesson.lesson import Lesson
from nimt.theory import assumptions
from nimt.theory.assumptions import Assumption
from nimt.theory.convergence import BY_DISTANCE, BY_DISTANCE_MEAN, READINGS, Bounds, bounds_of
from nimt.theory.discrepancy_bounds import Discrepancies, discrepancies_of
from nimt.theory.findings import Check, Inequality, Violation
from nimt.theory.geometry import distance_change
from nimt.theory.replaying import Moment, Replay, replay

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 16.0  # units in the last place allowed to each number that enters a comparison


def check(lesson: Lesson, *, distance: float | None = None) -> Check:
    r"""Replay a lesson and report each inequality: do its assumptions hold, at how many steps did it, how badly not.

    - "sufficient descent (RFT)", L(f^{t+1}) - L(f^t) <= -eta/2 S at the shown example [Zhang23, Lemma 11]
    - "sufficient descent (GFT)", the same with the largest S of the pool [Lemma 13]
    - "sufficient descent (any diagonal)", <= -eta K (1 - eta K L / 2) (dL/df)^2: what holds for every K(x, x) and rate
    - "steepest example", <G* - G, f - f*>_H >= 0 for G* of the argmin and every candidate G [Thm 6]
    - "greedy is steepest": what was shown is that argmin
    - "nearer in H": |f - f*|_H does not grow
    - "convergence (RFT / GFT, reading)": min S under its bound [Thms 12 and 14], for each reading of L(f0)
    - "convergence by distance": min S <= |f0 - f*|_H^2 / sum_j eta_j (1 - eta_j K_j) / K_j^2, which can be proved
    - "convergence by distance (GFT, mean)": the same for the mean S, each term of the sum over its greedy ratio gamma_j

    L and S are those of the truth f*, also where another label was shown; of a pack, at its example of largest S.
    A violation that rounding alone can cause is not counted.

    Parameters
    ----------
    lesson : Lesson
    distance : float, optional
        |f0 - f*|_H where you know it, as in `bounds`.
    """
    again = replay(lesson)
    measured = discrepancies_of(again)
    return Check((*_step_inequalities(again, measured), *_convergence_inequalities(again, measured, distance)))


class _Tally:
    """Count at how many steps left <= right, and remember the worst."""

    def __init__(self, name: str, statement: str, needed: Iterable[Callable[[Replay], Assumption]]) -> None:
        self.name = name
        self.statement = statement
        self.needed = tuple(needed)
        self.steps = 0
        self.held = 0
        self.worst: Violation | None = None

    def add(self, step: int, left: float, right: float, slack: float) -> None:
        self.steps += 1
        excess = left - right
        if excess <= (slack if math.isfinite(slack) else 0.0):
            self.held += 1
            return
        size = excess if math.isfinite(excess) else math.inf
        if self.worst is None or size > self.worst.excess:
            self.worst = Violation(step, left, right, size)

    def result(self, again: Replay, also: tuple[Assumption, ...] = ()) -> Inequality:
        found = (*(needed(again) for needed in self.needed), *also)
        return Inequality(self.name, self.statement, found, self.steps, self.held, self.worst)

    def unknown(self, again: Replay, why: str | None) -> Inequality:
        """Return the inequality as one that could not be evaluated."""
        found = tuple(needed(again) for needed in self.needed)
        return Inequality(self.name, self.statement, found, 0, 0, unknown=why)


NOT_SMOOTH = "the loss has no finite smoothness constant"
LEMMA = (
    assumptions.smooth_loss,
    assumptions.unit_diagonal,
    assumptions.one_example_a_step,
    assumptions.true_labels,
    assumptions.rate_within_limit,
)
STEEPEST = (assumptions.square_loss, assumptions.constant_diagonal, assumptions.rate_below_diverging)


def _step_inequalities(again: Replay, measured: Discrepancies) -> list[Inequality]:
    random = _Tally("sufficient descent (RFT)", "L(f^{t+1}) - L(f^t) <= -eta/2 S at what was shown", LEMMA)
    greedy = _Tally("sufficient descent (GFT)", "L(f^{t+1}) - L(f^t) <= -eta/2 times the largest S", LEMMA)
    general = _Tally(
        "sufficient descent (any diagonal)",
        "L(f^{t+1}) - L(f^t) <= -eta K (1 - eta K L / 2) (dL/df)^2 at what was shown",
        (assumptions.smooth_loss, assumptions.one_example_a_step, assumptions.true_labels),
    )
    steepest = _Tally("steepest example", "<G* - G, f - f*>_H >= 0 for every candidate", STEEPEST)
    shown = _Tally(
        "greedy is steepest",
        "no candidate brings f nearer to f* in H than what was shown",
        (*STEEPEST, assumptions.one_example_a_step, assumptions.true_labels),
    )
    nearer = _Tally(
        "nearer in H",
        "|f^{t+1} - f*|_H <= |f^t - f*|_H",
        (
            assumptions.smooth_loss,
            assumptions.convex_loss,
            assumptions.zero_slope_at_target,
            assumptions.true_labels,
            assumptions.rate_moves_nearer,
        ),
    )
    furthest = True  # was the shown example always the one with the largest |f - f*|?
    for moment in again.moments():
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged lesson violates, it does not warn
            _descend(again, moment, measured, random, greedy, general)
            _compare_candidates(again, moment, steepest, shown)
            change, size = change_in_distance(again, moment)
            nearer.add(moment.step, change, 0.0, ROUNDINGS * EPS * size)
            residual = np.abs(moment.values - again.lesson.target)
            furthest = furthest and bool(residual[moment.indices].max() >= residual[again.candidates].max())
    is_furthest = Assumption(
        "largest |f - f*| shown",
        furthest,
        "the largest |f - f*| was shown" if furthest else "the largest |f - f*| was not always shown",
    )
    return [
        random.result(again),
        greedy.result(again, (_largest_shown(measured),)),
        general.result(again) if np.isfinite(again.loss.smoothness) else general.unknown(again, NOT_SMOOTH),
        steepest.result(again),
        shown.result(again, (is_furthest,)),
        nearer.result(again),
    ]


def _largest_shown(measured: Discrepancies) -> Assumption:
    holds = bool(np.all(measured.shown >= measured.largest))
    clause = "what was shown has the largest S" if holds else "what was shown has not always the largest S"
    return Assumption("largest S shown", holds, clause)


def _descend(
    again: Replay, moment: Moment, measured: Discrepancies, random: _Tally, greedy: _Tally, general: _Tally
) -> None:
    """Compare the change of the loss at the shown example with what both lemmas promise, and what can be proved."""
    rows = moment.indices
    target = again.lesson.target[rows]
    slopes = np.asarray(again.loss.slope(moment.values[rows], target))
    j = int(np.argmax((slopes * again.diagonal[rows]) ** 2))
    before, after, label = moment.values[rows[j]], moment.after[rows[j]], target[j]
    change = float(again.loss.value(after, label) - again.loss.value(before, label))
    # an error of one unit in f is one of |slope| units in L
    steepness = abs(float(slopes[j])) + abs(float(again.loss.slope(after, label)))
    slack = ROUNDINGS * EPS * steepness * float(max(abs(before), abs(after), abs(label)))
    t = moment.step
    random.add(t, change, -moment.rate / 2.0 * float(measured.shown[t]), slack)
    greedy.add(t, change, -moment.rate / 2.0 * float(measured.largest[t]), slack)
    pull = moment.rate * float(again.diagonal[rows[j]])
    general.add(t, change, -pull * (1.0 - pull * again.loss.smoothness / 2.0) * float(slopes[j]) ** 2, slack)


def _compare_candidates(again: Replay, moment: Moment, steepest: _Tally, shown: _Tally) -> None:
    """Find the steepest example among all candidates, and hold the others and the shown one against it."""
    rows = again.candidates
    values, target, diagonal = moment.values, again.lesson.target, again.diagonal
    if not again.free:
        values, target, diagonal = values[rows], target[rows], diagonal[rows]
    residual = values - target
    slopes = np.asarray(again.loss.slope(values, target))
    changes = distance_change(residual, diagonal, moment.rate, slope=slopes)
    inner = slopes * residual  # <G, f - f*>_H, by the reproducing property
    scale = ROUNDINGS * EPS * float(np.abs(inner).max())
    least = float(changes.min())
    equals = changes <= least + moment.rate * scale  # rounding alone must not decide which of them is the argmin
    steepest.add(moment.step, float(inner.max()), float(inner[equals].max(initial=-np.inf)), scale)
    picked = moment.indices
    picked_changes = distance_change(
        moment.values[picked] - again.lesson.target[picked], again.diagonal[picked], moment.rate, slope=moment.slopes
    )
    shown.add(moment.step, float(picked_changes.min()), least, moment.rate * scale)


def change_in_distance(again: Replay, moment: Moment) -> tuple[float, float]:
    r"""Return the exact change of |f - f*|_H^2 by a step, pack or not, and the size of the terms it is made of.

    With the step g = sum_j a_j K_{x_j}: |f + g - f*|^2 - |f - f*|^2 = sum_j a_j (2 (f - f*)(x_j) + g(x_j)).
    """
    rows = moment.indices
    step = -moment.rate / len(rows) * moment.slopes
    residual = moment.values[rows] - again.lesson.target[rows]
    moved = moment.after[rows] - moment.values[rows]
    terms = step * (2.0 * residual + moved)
    scale = np.abs(moment.values[rows]) + np.abs(again.lesson.target[rows]) + np.abs(moved)
    return float(terms.sum()), float(np.abs(step) @ scale)


def _convergence_inequalities(again: Replay, measured: Discrepancies, distance: float | None) -> list[Inequality]:
    found = bounds_of(again, measured, distance=distance)
    rows = []
    for teacher, span, values, columns, also in (
        ("RFT", "t", found.smallest_shown, found.random, ()),
        ("GFT", "psi(t)", found.smallest_largest, found.greedy, (_largest_shown(measured),)),
    ):
        for reading in READINGS:
            telescopes = assumptions.pool_of_one if reading == "mean" else assumptions.one_point_all_along
            tally = _Tally(
                f"convergence ({teacher}, {reading})",
                f"min S <= 2 L(f0) / (eta {span}) with L(f0) a {reading}",
                (*LEMMA, telescopes),
            )
            bound = None if columns is None else columns[reading]
            rows.append(_compare(again, tally, values, bound, NOT_SMOOTH, also))
    return [*rows, _by_distance(again, found), _by_distance_in_the_mean(again, found, measured)]


def _by_distance(again: Replay, found: Bounds) -> Inequality:
    tally = _Tally(
        "convergence by distance",
        f"min S <= {BY_DISTANCE}",
        (
            assumptions.square_loss,
            assumptions.one_example_a_step,
            assumptions.true_labels,
            assumptions.rate_below_diverging,
        ),
    )
    return _compare(again, tally, found.smallest_shown, found.by_distance, found.no_distance)


def _by_distance_in_the_mean(again: Replay, found: Bounds, measured: Discrepancies) -> Inequality:
    tally = _Tally(
        "convergence by distance (GFT, mean)",
        f"min mean S <= {BY_DISTANCE_MEAN}",
        (
            assumptions.square_loss,
            assumptions.one_example_a_step,
            assumptions.true_labels,
            assumptions.rate_below_diverging,
        ),
    )
    smallest = np.minimum.accumulate(measured.mean)
    return _compare(again, tally, smallest, found.by_distance_mean, found.no_distance, (_largest_shown(measured),))


def _compare(
    again: Replay,
    tally: _Tally,
    values: Array,
    bound: Array | None,
    unknown: str | None,
    also: tuple[Assumption, ...] = (),
) -> Inequality:
    if bound is None:
        return tally.unknown(again, unknown)
    for t, (left, right) in enumerate(zip(values.tolist(), bound.tolist(), strict=True), start=1):
        tally.add(t, left, right, ROUNDINGS * EPS * abs(right))
    return tally.result(again, also)

"""What the paper's statements assume, looked up in a lesson: each assumption with the number that decides it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nimt.counting import say_count
from nimt.errors import name_thing
from nimt.losses import Square
from nimt.theory.replaying import Replay

ROUNDING = 1e-12
SAMPLES = 801  # values of f at which convexity is looked for


@dataclass(frozen=True)
class Assumption:
    """Something a statement needs: its name, whether it holds in this lesson, and a clause that says so."""

    name: str
    holds: bool
    clause: str


def rate_limit(smoothness: float, kernel_bound: float) -> float | None:
    """Return 1 / (2 L M_K), or None where the loss has no finite L."""
    scale = 2.0 * smoothness * kernel_bound
    return 1.0 / scale if np.isfinite(scale) and scale > 0 else None


def smooth_loss(again: Replay) -> Assumption:
    """[Zhang23, Assumption 8], read as dL/df being Lipschitz."""
    constant = float(again.loss.smoothness)
    holds = bool(np.isfinite(constant))
    clause = (
        f"the loss is smooth, L = {constant:g}"
        if holds
        else f"{name_thing(again.loss)} has no finite smoothness constant"
    )
    return Assumption("smooth loss", holds, clause)


def square_loss(again: Replay) -> Assumption:
    holds = isinstance(again.loss, Square)
    return Assumption(
        "square loss", holds, "the loss is the square" if holds else f"the loss is {name_thing(again.loss)}"
    )


def convex_loss(again: Replay) -> Assumption:
    """Whether dL/df never falls as f rises, between and around the values of this lesson: sampled, not proved."""
    lesson = again.lesson
    known = np.concatenate([part[np.isfinite(part)] for part in (lesson.initial, lesson.target, lesson.final)])
    low, high = float(known.min()), float(known.max())
    span = max(high - low, 1e-12 * max(abs(low), abs(high)), 1e-300)
    values = np.linspace(low - span, high + span, SAMPLES)
    labels = np.unique(np.quantile(lesson.target, np.linspace(0, 1, 9), method="nearest"))
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = np.array([again.loss.slope(values, np.full(SAMPLES, label)) for label in labels])
    falls = np.diff(slopes, axis=1) < -ROUNDING * max(1.0, float(np.abs(slopes).max()))
    holds = not bool(falls.any())
    clause = (
        "the loss is convex here" if holds else f"{name_thing(again.loss)} is not convex: its slope falls as f rises"
    )
    return Assumption("convex loss", holds, clause)


def zero_slope_at_target(again: Replay) -> Assumption:
    target = again.lesson.target
    steepest = float(np.max(np.abs(again.loss.slope(target, target))))
    holds = steepest == 0.0
    clause = "the loss is smallest at f*" if holds else f"the loss still has the slope {steepest:.4g} at f*"
    return Assumption("loss smallest at f*", holds, clause)


def unit_diagonal(again: Replay) -> Assumption:
    low, high = float(again.diagonal.min()), float(again.diagonal.max())
    holds = max(abs(low - 1.0), abs(high - 1.0)) <= ROUNDING
    clause = "K(x, x) = 1" if holds else f"K(x, x) is {_span(low, high)}, not 1"
    return Assumption("K(x, x) = 1", holds, clause)


def constant_diagonal(again: Replay) -> Assumption:
    low, high = float(again.diagonal.min()), float(again.diagonal.max())
    holds = high - low <= ROUNDING * high
    clause = f"K(x, x) = {high:g} everywhere" if holds else f"K(x, x) varies: {_span(low, high)}"
    return Assumption("constant K(x, x)", holds, clause)


def one_example_a_step(again: Replay) -> Assumption:
    assert again.lesson.indices is not None
    k = again.lesson.indices.shape[1]
    most = "" if again.lesson.has_packs_of_one_size else "up to "
    found = "one example per step" if k == 1 else f"packs of {most}{k} examples"
    return Assumption("one example per step", k == 1, found)


def true_labels(again: Replay) -> Assumption:
    lesson = again.lesson
    assert lesson.indices is not None and lesson.labels is not None
    true = lesson.target[lesson.indices]
    true[lesson.indices < 0] = np.nan  # beyond the end of a smaller pack
    wrong = int(np.count_nonzero(np.any((lesson.labels != true) & ~np.isnan(lesson.labels), axis=1)))
    clause = "every label is true" if wrong == 0 else f"labels other than f*(x) at {say_count(wrong, 'step', 'd')}"
    return Assumption("true labels", wrong == 0, clause)


def rate_within_limit(again: Replay) -> Assumption:
    limit = rate_limit(float(again.loss.smoothness), float(again.diagonal.max()))
    if limit is None:
        return Assumption("rate within 1 / (2 L M_K)", False, "there is no 1 / (2 L M_K) to keep the rate within")
    return _rate_at_most(again, limit, "1 / (2 L M_K)")


def rate_moves_nearer(again: Replay) -> Assumption:
    """Eta <= 2 / (L M_K): for the square loss 1 / K(x, x), beyond which a step moves away in H."""
    limit = rate_limit(float(again.loss.smoothness), float(again.diagonal.max()))
    if limit is None:
        return Assumption("rate within 2 / (L M_K)", False, "there is no 2 / (L M_K) to keep the rate within")
    return _rate_at_most(again, 4.0 * limit, "2 / (L M_K)")


def rate_below_diverging(again: Replay) -> Assumption:
    """Eta K(x, x) < 1: at equality a step of the square loss leaves the distance as it is; none is steepest."""
    reached = float(again.rates.max() * again.diagonal.max()) if len(again.rates) else 0.0
    holds = reached < 1.0
    clause = (
        f"eta K(x, x) is at most {reached:g}" if holds else f"eta K(x, x) reaches {reached:g}, and must stay below 1"
    )
    return Assumption("eta K(x, x) < 1", holds, clause)


def one_point_all_along(again: Replay) -> Assumption:
    """What the telescoping sum needs of a pointwise loss: that the point never changes."""
    points = int(np.count_nonzero(again.lesson.picks))
    clause = "one point is shown all along" if points <= 1 else f"the point changes: {points} different ones were shown"
    return Assumption("one point all along", points <= 1, clause)


def pool_of_one(again: Replay) -> Assumption:
    n = len(again.lesson.pool)
    return Assumption("a pool of one point", n == 1, "the pool is one point" if n == 1 else f"the pool has {n} points")


def _rate_at_most(again: Replay, limit: float, name: str) -> Assumption:
    if not len(again.rates):
        return Assumption(f"rate within {name}", True, "no step was taken, so no learning rate was used")
    largest = float(again.rates.max())
    holds = largest <= limit * (1.0 + ROUNDING)
    relation = "is within" if holds else "exceeds"
    return Assumption(f"rate within {name}", holds, f"the learning rate {largest:g} {relation} {name} = {limit:g}")


def _span(low: float, high: float) -> str:
    return f"{high:g}" if low == high else f"{low:g} to {high:g}"

"""The options of a lesson, listed once: their types, defaults and meaning, and what is checked of them.

An option is added here: to `LessonOptions` for type checkers, to `Options` with its default and its meaning. `Task.of`,
`nimt.teach`, `nimt.steps` and `nimt.plan` take it from here, and their `help()` shows it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import Array, check_count, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.lesson.held_out import HeldOutRows
from nimt.lesson.recording import RECORDS
from nimt.measures import Measure, as_measure, distance
from nimt.operators.random_features import RandomFeatures
from nimt.pools.pool import as_pool, values_on
from nimt.task.cutting import Blocks
from nimt.wording import Wording

USUAL_SHARE = 0.01  # of the target's deviation: tol="auto"

Tolerance = float | str | None
Holdout = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, int]
Called = TypeVar("Called", bound=Callable[..., Any])


class LessonOptions(TypedDict, total=False):
    """The types of the options of a lesson, for functions that pass them on; see `Options`."""

    max_iterations: int
    tol: Tolerance
    measure: str | Measure
    stop_when_stationary: float | None
    patience: int | None
    snapshots: Iterable[int]
    record: str
    seed: int | None
    holdout: Holdout | None
    engine: str | RandomFeatures | Blocks


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a lesson as a caller gives them.

    Parameters
    ----------
    max_iterations : int
        The most steps.
    tol : float, "auto", a share such as "5%", or None
        Stop at the first t with a discrepancy below it (above it for a measure with `higher_is_better`); this is
        checked before anything is shown. A share is one of the target's deviation, in the unit of the measure. "auto"
        is "1%", 0.99 of an accuracy, and none for a measure in another unit. None never stops.
    measure : {"paper", "rms", "rkhs", "parameters", "accuracy"}, or a Measure of your own
        "paper" is sqrt(sum (f - f*)^2) / n; "rms" is sqrt(sum (f - f*)^2 / n). "rkhs" is the norm of f - f* in H,
        "parameters" is |w - w*| between two `LinearLearner`.
    stop_when_stationary : float, optional
        Stop before an example whose S = (slope K(x, x))^2 is not above it.
    patience : int, optional
        Stop when the discrepancy has not improved for this many steps.
    snapshots : steps at which to keep f^t on the pool
    record : {"auto", "all", "picks"}
        "all" keeps what was shown at each step, "picks" only how often each point was shown; "auto" changes from "all"
        to "picks" when the record becomes too large.
    seed : int or None
        All random choices are derived from it; None draws one and records it.
    holdout : (X, y) or (X, y, m), optional
        Points that are never shown, with their targets: `lesson.held_out` is the error on them, and
        `lesson.held_out_curve` that at the snapshots. With m, the curve is of the first m points and `held_out` of the
        others, so that a step that is chosen by the curve is measured on points that did not choose it.
    engine : {"auto", "reference", "grid", "neighbours", "cells", "streamed"}, Blocks, RandomFeatures or Nystroem
        How the lesson is run; "auto" takes the fastest engine that covers it, `lesson.engine` says which. `Blocks` cuts
        it into parts that are taught at the same time. The last two are approximations: their lesson is close to the
        exact one, not equal to it.
    """

    max_iterations: int = defaults.MAX_ITERATIONS
    tol: Tolerance = defaults.TOL
    measure: str | Measure = defaults.MEASURE
    stop_when_stationary: float | None = None
    patience: int | None = None
    snapshots: Iterable[int] = ()
    record: str = "auto"
    seed: int | None = defaults.SEED
    holdout: Holdout | None = None
    engine: str | RandomFeatures | Blocks = defaults.ENGINE

    @classmethod
    def of(cls, caller: str, given: Mapping[str, Any]) -> Options:
        """Return the options that were given to a function; refuse a misspelt one by its name, as Python does."""
        for name in given:
            if name not in OPTIONS:
                raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
        return cls(**given)

    def check(self, *, learner: bool = True) -> tuple[Stop, Keep, Measure, int, HeldOutRows | None]:
        """Check all that does not depend on what is taught; a tolerance in words is settled by `settle_tolerance`."""
        in_words = isinstance(self.tol, str)
        if isinstance(self.tol, str):
            _share(self.tol)
        stop = Stop(
            max_iterations=self.max_iterations,
            tol=None if in_words else self.tol,  # type: ignore[arg-type]
            patience=self.patience,
            stop_when_stationary=self.stop_when_stationary,
        )
        keep = Keep.of(self.snapshots, self.record, stop.max_iterations, learner=learner)
        return stop, keep, as_measure(self.measure), check_seed(self.seed), check_holdout(self.holdout)


OPTIONS = {part.name: part for part in dataclasses.fields(Options)}


def takes_options(function: Called) -> Called:
    """Let `help()` and `inspect.signature` show the options that a function takes as `**options`, with their meaning.

    Examples
    --------
    >>> @takes_options
    ... def give(teacher: object, **options: object) -> None:
    ...     '''Give a lesson.'''
    >>> inspect.signature(give).parameters["max_iterations"].default
    20000
    """
    own = inspect.signature(function)
    named = inspect.signature(Options).parameters.values()
    first = [part for part in own.parameters.values() if part.kind is part.POSITIONAL_OR_KEYWORD]
    last = [part for part in own.parameters.values() if part.kind is part.KEYWORD_ONLY]
    listed = [part for part in named if part.name not in own.parameters]
    function.__signature__ = own.replace(parameters=[*first, *listed, *last])  # type: ignore[attr-defined]
    meaning = (Options.__doc__ or "").partition("----------\n")[2].rstrip()
    if function.__doc__ is not None:
        function.__doc__ = function.__doc__.replace("    **options : as in `Options`", meaning)
    return function


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """The rules by which a lesson ends; see `Options` for the meaning of each."""

    max_iterations: int
    tol: float | None = None
    patience: int | None = None
    stop_when_stationary: float | None = None

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, at_least=0)
        object.__setattr__(self, "max_iterations", int(self.max_iterations))
        if self.patience is not None:
            check_count("patience", self.patience, at_least=1)
            object.__setattr__(self, "patience", int(self.patience))
        for name in ("tol", "stop_when_stationary"):
            value = getattr(self, name)
            if value is None:
                continue
            if not is_number(value) or not 0 <= float(value) < np.inf:
                problem = Wording(" or None", "").embed("must be a finite number >= 0", f", got {value!r}")
                raise InvalidInput(problem, parameter=name)
            object.__setattr__(self, name, float(value))

    @property
    def may_end_early(self) -> bool:
        """Whether a rule can end the lesson before its budget does."""
        return not (self.tol is None and self.patience is None and self.stop_when_stationary is None)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Keep:
    """What is kept of a lesson.

    Parameters
    ----------
    snapshots : steps at which to keep f^t on the pool
    record : {"auto", "all", "picks"}
    coefficients : bool
        Whether what each example added to f is kept, where f is a sum of kernels and packs are not large.
    learner : bool
        Whether the lesson has the taught learner and a description of what was taught; without them a short lesson
        takes a seventh less time.
    """

    snapshots: tuple[int, ...] = ()
    record: str = "auto"
    coefficients: bool = False
    learner: bool = True

    @classmethod
    def of(cls, snapshots: Iterable[int], record: str, steps: int, *, learner: bool = True) -> Keep:
        """Check what the caller asks for, of a lesson of at most this many steps."""
        if not isinstance(record, str) or record not in RECORDS:
            raise InvalidInput(f"must be one of {', '.join(RECORDS)}, got {record!r}", parameter="record")
        try:
            asked = list(snapshots)
        except TypeError:
            raise InvalidInput(f"must be a list of steps, got {snapshots!r}", parameter="snapshots") from None
        for step in asked:
            if not is_whole(step) or not 0 <= int(step) <= steps:
                raise InvalidInput(f"a snapshot must be a step from 0 to max_iterations ({steps}), got {step!r}")
        kept = tuple(sorted(set(map(int, asked))))
        return cls(snapshots=kept, record=record, coefficients=learner, learner=learner)


def settle_tolerance(tol: Tolerance, measure: Measure, target: Array, start: Array) -> float | None:
    """Return a tolerance as a number in the unit of the measure; None for none.

    A share is one of the target's deviation, or of its distance from the start where it is constant.

    Examples
    --------
    >>> target, rms = np.array([1.0, 3.0]), as_measure("rms")
    >>> [settle_tolerance(tol, rms, target, np.zeros(2)) for tol in ("auto", "5%", 0.5, None)]
    [0.01, 0.05, 0.5, None]
    >>> settle_tolerance("auto", as_measure("accuracy"), target, target)
    0.99
    """
    if not isinstance(tol, str):
        return tol
    share = _share(tol)
    scale = measure.scale(target)
    if scale is None:
        if share is None:
            return measure.usual_tolerance
        problem = f"is {tol}, a share of the target's deviation, and {measure.name} has another unit"
        raise InvalidInput(problem, parameter="tol", way_out="give a number")
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.broadcast_to(target.mean(axis=0), target.shape)
        spread = distance(target, middle) or distance(target, start)  # a constant has no deviation
    return settle_share(tol, spread, scale)


def settle_share(tol: str, spread: float, scale: float) -> float | None:
    """Return a share of the target's deviation in the unit of a measure; None if it is infinite.

    Examples
    --------
    >>> settle_share("5%", 2.0, 0.5)
    0.05
    """
    share = _share(tol)
    settled = (USUAL_SHARE if share is None else share) * spread * scale
    if settled == 0.0:  # the learner starts at the target, which is constant: there is nothing to teach
        return sys.float_info.min
    return float(f"{settled:.6g}") if settled < math.inf else None


def _share(text: str) -> float | None:
    """Return the share that a text such as 5% says, None for "auto"."""
    if text.strip() == "auto":
        return None
    try:
        share = float(text.strip()[:-1]) / 100.0 if text.strip().endswith("%") else math.nan
    except ValueError:
        share = math.nan
    if not 0.0 <= share < math.inf:
        or_none = Wording(", None", "")
        problem = or_none.embed(
            "must be a number", f", auto, or a share of the target's deviation such as 1%, got {text!r}"
        )
        raise InvalidInput(problem, parameter="tol")
    return share


def check_seed(seed: int | None) -> int:
    """Return the seed, or a new one for None."""
    if seed is None:
        return secrets.randbits(63)
    check_count("seed", seed, at_least=0, at_most=None)
    return int(seed)


def check_holdout(holdout: Holdout | None) -> HeldOutRows | None:
    """Return held-out points and their targets as arrays."""
    if holdout is None:
        return None
    if not isinstance(holdout, tuple | list) or len(holdout) not in (2, 3):
        raise InvalidInput(f"must be a pair (X, y) of points and targets, got {holdout!r}", parameter="holdout")
    pool = as_pool(holdout[0], "the points of holdout")
    target = values_on(pool, holdout[1], "the target of holdout")
    choosing = holdout[2] if len(holdout) == 3 else 0
    if not is_whole(choosing) or not 0 <= int(choosing) < len(target):
        problem = f"must leave points to measure on: of (X, y, m), m is below {len(target)}, got {choosing!r}"
        raise InvalidInput(problem, parameter="holdout")
    return HeldOutRows(pool.points, target, int(choosing))

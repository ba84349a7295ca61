"""The options of a lesson as a task has them, checked: when it stops, what is kept; `option_table` lists them."""

from __future__ import annotations

import dataclasses
import math
import secrets
import sys
from collections.abc import Iterable

import numpy as np

from nimt.arrays import Array, check_count, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.lesson.held_out import HeldOutRows
from nimt.lesson.recording import RECORDS
from nimt.measures import Measure, as_measure, distance
from nimt.option_table import Options, Tolerance
from nimt.pools.pool import as_pool, values_on
from nimt.wording import Wording

USUAL_SHARE = 0.01  # of the target's deviation: tol="auto"


def check_options(given: Options, *, learner: bool = True) -> tuple[Stop, Keep, Measure, int, HeldOutRows | None]:
    """Check all that does not depend on what is taught; a tolerance in words is settled by `settle_tolerance`."""
    if isinstance(given.tol, str):
        _share(given.tol)
    stop = Stop(
        max_iterations=given.max_iterations,
        tol=None if isinstance(given.tol, str) else given.tol,
        patience=given.patience,
        stop_when_stationary=given.stop_when_stationary,
    )
    keep = Keep.of(given.snapshots, given.record, stop.max_iterations, learner=learner)
    held = None if given.holdout is None else check_holdout(given.holdout)
    seed = secrets.randbits(63) if given.seed is None else given.seed
    check_count("seed", seed, at_least=0, at_most=None)
    return stop, keep, as_measure(given.measure), int(seed), held


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
            asked = iter(snapshots)
        except TypeError:
            raise InvalidInput(f"must be a list of steps, got {snapshots!r}", parameter="snapshots") from None
        kept: set[int] = set()
        for step in asked:  # one by one: the first that is wrong ends a list longer than memory
            if not is_whole(step) or not 0 <= int(step) <= steps:
                raise InvalidInput(f"a snapshot must be a step from 0 to max_iterations ({steps}), got {step!r}")
            kept.add(int(step))
        return cls(snapshots=tuple(sorted(kept)), record=record, coefficients=learner, learner=learner)


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


def check_holdout(holdout: object) -> HeldOutRows:
    """Return held-out points and their targets as arrays."""
    if not isinstance(holdout, tuple | list) or len(holdout) not in (2, 3):
        raise InvalidInput(f"must be a pair (X, y) of points and targets, got {holdout!r}", parameter="holdout")
    pool = as_pool(holdout[0], "the points of holdout")
    target = values_on(pool, holdout[1], "the target of holdout")
    choosing = holdout[2] if len(holdout) == 3 else 0
    if not is_whole(choosing) or not 0 <= int(choosing) < len(target):
        problem = f"must leave points to measure on: of (X, y, m), m is below {len(target)}, got {choosing!r}"
        raise InvalidInput(problem, parameter="holdout")
    return HeldOutRows(pool.points, target, int(choosing))

"""When a lesson stops, and what is kept of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from nimt.arrays import check_count, is_number, is_whole
from nimt.errors import InvalidInput
from nimt.lesson.recording import RECORDS
from nimt.wording import Wording


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """The rules by which a lesson ends; see `nimt.teach` for the meaning of each."""

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
        kept = tuple(sorted({int(step) for step in asked}))
        return cls(snapshots=kept, record=record, coefficients=learner, learner=learner)

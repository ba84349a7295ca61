"""What every engine is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.learners.base import Pupil
from nimt.lesson.lesson import Outcome
from nimt.pools.base import Pool
from nimt.pools.box import Box
from nimt.teachers.base import Selection

DIVERGED_BY = 1e6  # times the discrepancy at the start


@dataclass(frozen=True, eq=False)
class Task:
    """A lesson to run, its input checked and resolved.

    Attributes
    ----------
    learner, teacher : as given
    pool, target : Pool, array (n,)
    target_function : object
        What the caller gave as y.
    measure : str
    tol, stationary, patience : the rules by which it stops
    seed : int
    candidates : array of int or None
        The points the teacher may show, sorted; None for all.
    other_target : array (n,) or None
        What alternative labels are read from, with `alternative_probability`.
    box : Box or None
        Where the teacher may show any point of a box; `pool` is then its grid.
    """

    learner: Any
    teacher: Any
    pool: Pool
    target: Array
    target_function: Any
    measure: str
    tol: float | None
    stationary: float | None
    patience: int | None
    seed: int
    candidates: Indices | None
    other_target: Array | None
    alternative_probability: float
    box: Box | None = None

    def streams(self) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
        """Return the lesson's random streams, one a role: the teacher's pool, its selection, its labels."""
        return tuple(np.random.default_rng(self.seed).spawn(3))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some steps of a lesson: what was shown, the discrepancy after each, and the outcome if it ended."""

    indices: NDArray[np.int64]
    labels: Array
    discrepancy: Array
    outcome: Outcome | None


class Watch:
    """Decide, before anything is shown, whether a lesson is over.

    Examples
    --------
    >>> watch = Watch(tol=0.1, patience=None, start=1.0)
    >>> watch.over(3, 0.05)
    <Outcome.CONVERGED: 'the discrepancy fell below the tolerance'>
    """

    def __init__(self, tol: float | None, patience: int | None, start: float) -> None:
        self.tol = tol
        self.patience = patience
        self.limit = DIVERGED_BY * start if start > 0 else np.inf
        self.best = np.inf
        self.best_at = 0

    def over(self, step: int, discrepancy: float) -> Outcome | None:
        """Return the outcome at this step, or None to go on."""
        if not np.isfinite(discrepancy) or discrepancy > self.limit:
            return Outcome.DIVERGED
        if self.tol is not None and discrepancy < self.tol:
            return Outcome.CONVERGED
        if discrepancy < self.best:
            self.best, self.best_at = discrepancy, step
        if self.patience is not None and step - self.best_at >= self.patience:
            return Outcome.STALLED
        return None

    def state(self) -> dict[str, Any]:
        return {"best": self.best, "best_at": self.best_at, "limit": self.limit}

    def restore(self, state: dict[str, Any]) -> None:
        self.best, self.best_at, self.limit = state["best"], state["best_at"], state["limit"]


class Engine(Protocol):
    """Runs a task. Where a chunk ends never changes a result."""

    name: str
    step: int
    discrepancy: float
    watch: Watch

    @property
    def pupil(self) -> Pupil:
        """The learner at work."""
        ...

    @property
    def values(self) -> Array:
        """The learner's values on the pool now."""
        ...

    def advance(self, steps: int) -> Chunk:
        """Take up to so many steps; fewer only if the lesson is over."""
        ...

    def last_selection(self) -> Selection:
        """Return what the latest step showed."""
        ...

    def taught(self) -> Any:
        """Return the learner as it is now."""
        ...

    def close(self) -> None:
        """Let go of everything but the learner: no step will follow."""
        ...

    def state(self) -> dict[str, Any]:
        """Return numbers, text and arrays from which `restore` goes on bit by bit."""
        ...

    def restore(self, state: dict[str, Any]) -> None: ...

"""What every engine is given and gives back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from nimt.arrays import Array, Indices, outputs_of
from nimt.learners.base import Learner, Pupil
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk
from nimt.measures import Measure
from nimt.pools.base import Pool
from nimt.pools.box import Box
from nimt.teachers.base import Selection, SelectsExamples, has_schedule

DIVERGED_BY = 1e6  # times the discrepancy at the start


@dataclass(frozen=True, eq=False)
class Task:
    """A lesson to run; its input is checked and resolved.

    Attributes
    ----------
    learner, teacher : as given
    pool, target : Pool, array (n,), or (n, q) for q outputs
    target_function : object
        What the caller gave as y.
    measure : Measure
    tol, stop_when_stationary, patience : the rules by which it stops
    seed : int
    candidates : array of int or None
        The points the teacher may show, sorted; None for all.
    other_target : array like the target, or None
        What alternative labels are read from, with `other_probability`.
    box : Box or None
        Where the teacher may show any point of a box; `pool` is then its grid.
    """

    learner: Learner
    teacher: SelectsExamples
    pool: Pool
    target: Array
    target_function: object
    measure: Measure
    tol: float | None
    stop_when_stationary: float | None
    patience: int | None
    seed: int
    candidates: Indices | None
    other_target: Array | None
    other_probability: float
    box: Box | None = None

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """(q,) for q > 1 outputs, () for one."""
        return self.target.shape[1:]

    @cached_property  # asked for several times at every step
    def per_output(self) -> bool:
        """Whether every output is shown examples of its own; an example then has one label."""
        return bool(getattr(self.teacher, "per_output", False))

    @cached_property
    def label_outputs(self) -> tuple[int, ...]:
        """The outputs of one label: those of the target, none if an example belongs to one output."""
        return () if self.per_output else self.outputs

    def at_examples(self, values: Array, indices: Indices) -> Array:
        """Return values on the pool at the examples of a step, as their labels are: (k,) or (k, q)."""
        if not self.per_output:
            return np.asarray(values[indices])
        return np.asarray(values[indices, outputs_of(len(indices), self.outputs[0])])

    @property
    def offered(self) -> int:
        """How many points the teacher may show."""
        return len(self.pool) if self.candidates is None else len(self.candidates)

    @property
    def looks_by_schedule(self) -> bool:
        """Whether the teacher looks at its learner only at some steps."""
        return getattr(self.teacher, "look", None) is not None

    def looks_at(self, step: int) -> bool:
        """Say whether the teacher looks at its learner at a step."""
        return not self.looks_by_schedule or bool(self.teacher.looks_at(step))  # type: ignore[attr-defined]

    @cached_property
    def has_schedule(self) -> bool:
        """Whether packs change in size, or are chosen by an earlier look: a later one may hold other points."""
        return has_schedule(self.teacher)

    @property
    def possible_labels(self) -> Array:
        """All labels of the target and the other target: a classifier must know its classes before it begins."""
        return self.target if self.other_target is None else np.concatenate([self.target, self.other_target])

    @cached_property
    def repeats(self) -> bool:
        """Whether the teacher shows the same example again as long as the learner does not move."""
        still = getattr(self.teacher, "draws", True) is False and self.other_target is None
        return still and not self.has_schedule and not self.communicates  # a mixture moves the learner

    @property
    def communicates(self) -> bool:
        """Whether the outputs are mixed before some steps, as `Communicating` does."""
        return callable(getattr(self.teacher, "next_mix", None))

    def streams(self) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
        """Return the lesson's random streams, one per role: the teacher's pool, its selection, its labels."""
        return tuple(np.random.default_rng(self.seed).spawn(3))  # type: ignore[return-value]


class Watch:
    """Decide, before anything is shown, whether a lesson is over.

    Examples
    --------
    >>> from nimt.measures import as_measure
    >>> watch = Watch(as_measure("paper"), tol=0.1, patience=None, start=1.0)
    >>> watch.over(3, 0.05)
    <Outcome.CONVERGED: 'the discrepancy fell below the tolerance'>
    """

    def __init__(self, measure: Measure, tol: float | None, patience: int | None, start: float) -> None:
        self.measure: Measure = measure
        self.tol: float | None = tol
        self.patience: int | None = patience
        self.limit: float = DIVERGED_BY * start if start > 0 and not measure.higher_is_better else np.inf
        self.best: float = measure.worst
        self.best_at: int = 0

    def over(self, step: int, discrepancy: float) -> Outcome | None:
        """Return the outcome at this step, or None to go on."""
        if not math.isfinite(discrepancy) or discrepancy > self.limit:
            return Outcome.DIVERGED
        if self.tol is not None and self.measure.is_reached(discrepancy, self.tol):
            return Outcome.REACHED if self.measure.higher_is_better else Outcome.CONVERGED
        if self.measure.is_better(discrepancy, self.best):
            self.best, self.best_at = discrepancy, step
        if self.patience is not None and step - self.best_at >= self.patience:
            return Outcome.STALLED
        return None

    def state(self) -> dict[str, Any]:
        return {"best": self.best, "best_at": self.best_at, "limit": self.limit}

    def restore(self, state: dict[str, Any]) -> None:
        self.best, self.best_at, self.limit = float(state["best"]), int(state["best_at"]), float(state["limit"])


class Engine(Protocol):
    """Runs a task. Where a chunk ends never changes a result."""

    name: str
    step: int
    discrepancy: float
    watch: Watch
    selection_rng: np.random.Generator
    label_rng: np.random.Generator

    @property
    def pupil(self) -> Pupil:
        """The learner at work."""
        ...

    @property
    def values(self) -> Array:
        """The learner's values on the pool now."""
        ...

    def advance(self, steps: int, asked: Sequence[int] = ()) -> Chunk:
        """Take this many steps, or fewer if the lesson is over before; keep the values after those asked for.

        `asked` are numbers of steps, sorted, which come after the present one and before the last one to take.
        """
        ...

    def mix(self, matrix: Array) -> None:
        """Mix the learner's outputs, f <- A f; the discrepancy is then that after the mixture."""
        ...

    def last_selection(self) -> Selection:
        """Return what the latest step showed."""
        ...

    def taught(self) -> Learner:
        """Return the learner as it is now."""
        ...

    def close(self) -> None:
        """Release all arrays but the learner's: no step will follow."""
        ...

    def state(self) -> dict[str, Any]:
        """Return numbers, text and arrays from which `restore` goes on bit by bit."""
        ...

    def restore(self, state: dict[str, Any]) -> None: ...

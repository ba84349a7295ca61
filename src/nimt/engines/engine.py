"""What every engine is given and gives back."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from nimt.arrays import Array, check_stored_count
from nimt.learners.learner import Learner, Pupil
from nimt.lesson.outcome import Outcome
from nimt.lesson.recording import Chunk
from nimt.measures import Measure
from nimt.task.task import Task
from nimt.teachers.teacher import Selection

STREAMS = {"selection_rng": "selection", "label_rng": "labels"}  # and whose they are
DIVERGED_BY = 1e6  # times the discrepancy at the start


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


class Engine(ABC):
    """Runs a task. Where a chunk ends never changes a result."""

    name: str
    task: Task
    pupil: Pupil
    step: int
    discrepancy: float
    watch: Watch
    last: Selection | None

    @cached_property  # most teachers draw nothing, and to make a stream takes as long as some steps
    def selection_rng(self) -> np.random.Generator:
        """What the teacher draws its examples from."""
        return self.task.stream("selection")

    @cached_property
    def label_rng(self) -> np.random.Generator:
        """What the labels are drawn from, where there are others than the target's."""
        return self.task.stream("labels")

    def has_drawn(self, *roles: str) -> bool:
        """Say whether something was drawn from one of the streams "selection" and "labels"."""
        for name, role in STREAMS.items():
            if role in roles and name in vars(self):  # else it was not even made
                state = getattr(self, name).bit_generator.state
                if state != self.task.stream(role).bit_generator.state:
                    return True
        return False

    @property
    @abstractmethod
    def values(self) -> Array:
        """The learner's values on the pool now."""

    @abstractmethod
    def advance(self, steps: int, asked: Sequence[int] = ()) -> Chunk:
        """Take this many steps, or fewer if the lesson is over before; keep the values after those asked for.

        `asked` are numbers of steps, sorted, which come after the present one and before the last one to take.
        """

    @abstractmethod
    def mix(self, matrix: Array) -> None:
        """Mix the learner's outputs, f <- A f; the discrepancy is then that after the mixture."""

    def last_selection(self) -> Selection:
        """Return what the latest step showed."""
        assert self.last is not None
        return self.last

    @abstractmethod
    def settle(self) -> None:
        """Hand the pupil what it is now, where the engine keeps that in arrays of its own."""

    def to_learner(self) -> Learner:
        """Return the learner as it is now."""
        self.settle()
        return self.pupil.to_learner()

    @abstractmethod
    def close(self) -> None:
        """Release all arrays but the learner's: no step will follow."""

    def state(self) -> dict[str, Any]:
        """Return numbers, text and arrays from which `restore` goes on bit by bit."""
        self.settle()
        drawn: dict[str, Any] = dict.fromkeys(STREAMS)
        for name in STREAMS:
            if name in vars(self):  # else nothing was drawn from it
                drawn[name] = getattr(self, name).bit_generator.state
        return {
            "step": self.step,
            "discrepancy": self.discrepancy,
            **drawn,
            "watch": self.watch.state(),
            "pupil": self.pupil.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.step = check_stored_count(state, "step")
        self.discrepancy = float(state["discrepancy"])
        for name in STREAMS:
            if state[name] is not None:  # else nothing was drawn from it, as nothing is now
                getattr(self, name).bit_generator.state = state[name]
        self.watch.restore(state["watch"])
        self.pupil.restore(state["pupil"])

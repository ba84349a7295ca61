"""The one loop, in plain NumPy: Algorithm 1 of the paper as it stands. Every other engine must equal it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nimt.arrays import Array, Indices, check_finite, read_only, real_array
from nimt.engines.base import Chunk, Task, Watch
from nimt.errors import InvalidInput
from nimt.learners.base import Pupil
from nimt.learners.foreign import pupil_of
from nimt.lesson.lesson import Outcome
from nimt.losses import Loss, check_labels
from nimt.measures import measure_of
from nimt.operators import Operator
from nimt.pools.base import Points, Pool
from nimt.teachers.base import Memory, Selection, View, checked_indices


class ReferenceEngine:
    """Run any teacher and any learner, one step after another."""

    name = "reference"

    def __init__(self, task: Task, operator: Operator | None = None) -> None:
        self.task = task
        self.pupil: Pupil = pupil_of(task.learner, task.pool, possible_labels(task), operator)
        if operator is not None:
            self.name = operator.name
        self.measure = measure_of(task.measure, self.pupil, task.target, task.target_function)
        _, self.selection_rng, self.label_rng = task.streams()
        self.memory: Memory | None = None
        self.step = 0
        with np.errstate(over="ignore", invalid="ignore"):  # refused with a sentence where it is not finite
            self.discrepancy = self.measure()
        self.watch = Watch(task.tol, task.patience, self.discrepancy)
        self.last: Selection | None = None
        everything = np.arange(len(task.pool))
        self.candidates: Indices = everything if task.candidates is None else task.candidates
        self.pool: Pool = task.pool if task.candidates is None else Points(task.pool.points[task.candidates])
        self.target = read_only(task.target[self.candidates])

    @property
    def values(self) -> Array:
        return self.pupil.values

    def advance(self, steps: int) -> Chunk:
        shown: list[Selection] = []
        discrepancies: list[float] = []
        outcome: Outcome | None = None
        with np.errstate(over="ignore", invalid="ignore"):  # a diverging lesson is an outcome, not a warning
            for _ in range(steps):
                outcome = self.watch.over(self.step, self.discrepancy)
                if outcome is not None:
                    break
                selection = self.select()
                if self.is_stationary(selection):
                    outcome = Outcome.STATIONARY
                    break
                self.pupil.learn(selection.indices, selection.labels)
                self.memory = selection.memory
                self.last = selection
                self.step += 1
                self.discrepancy = self.measure()
                shown.append(selection)
                discrepancies.append(self.discrepancy)
        k = len(self.last.indices) if self.last is not None else 1
        return Chunk(
            np.array([selection.indices for selection in shown], dtype=np.int64).reshape(len(shown), k),
            np.array([selection.labels for selection in shown], dtype=np.float64).reshape(len(shown), k),
            np.array(discrepancies, dtype=np.float64),
            outcome,
        )

    def select(self) -> Selection:
        """Ask the teacher, and translate its answer to the pool of the lesson."""
        task = self.task
        everywhere = task.candidates is None
        view = View(
            step=self.step,
            pool=self.pool,
            predictions=read_only(self.values if everywhere else self.values[self.candidates]),
            target=self.target,
            rng=self.selection_rng,
            memory=self.memory,
            candidates=self.candidates,
        )
        selection = task.teacher.select(view)
        if not isinstance(selection, Selection):
            raise InvalidInput(f"{type(task.teacher).__name__}.select must return a Selection, got {selection!r}")
        indices = self.candidates[checked_indices(selection.indices, len(view))]
        if self.last is not None and len(indices) != len(self.last.indices):
            raise InvalidInput(
                f"{type(task.teacher).__name__} showed {len(self.last.indices)} examples a step and now "
                f"{len(indices)}: packs of a lesson have one size"
            )
        labels = self.label(indices, selection.labels)
        return Selection(indices, labels, selection.scores, checked_memory(selection.memory))

    def label(self, indices: Indices, labels: Any) -> Array:
        """Return the labels as the teacher gave them, or now and then those of the other target."""
        task = self.task
        if task.other_target is not None and self.label_rng.random() < task.alternative_probability:
            return np.asarray(task.other_target[indices])
        return checked_labels(labels, len(indices), self.pupil.loss)

    def is_stationary(self, selection: Selection) -> bool:
        """Say whether the paper's S = (slope K(x, x))^2, the largest of the pack, is down to the given value.

        A learner that says it is full can be moved by nothing in the pool, whatever is shown.
        """
        if getattr(self.pupil, "is_full", False):
            return True
        if self.task.stationary is None:
            return False
        assert self.pupil.loss is not None and self.pupil.diagonal is not None
        slopes = self.pupil.loss.slope(self.values[selection.indices], selection.labels)
        return bool(np.max((slopes * self.pupil.diagonal[selection.indices]) ** 2) <= self.task.stationary)

    def last_selection(self) -> Selection:
        assert self.last is not None
        return self.last

    def taught(self) -> Any:
        return self.pupil.taught()

    def close(self) -> None:
        pass

    def state(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "discrepancy": self.discrepancy,
            "selection_rng": self.selection_rng.bit_generator.state,
            "label_rng": self.label_rng.bit_generator.state,
            "memory": None if self.memory is None else dict(self.memory),
            "pack": None if self.last is None else len(self.last.indices),
            "watch": self.watch.state(),
            "pupil": self.pupil.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.step = int(state["step"])
        self.discrepancy = float(state["discrepancy"])
        self.selection_rng.bit_generator.state = state["selection_rng"]
        self.label_rng.bit_generator.state = state["label_rng"]
        self.memory = state["memory"]
        if state["pack"] is not None:
            self.last = Selection(np.zeros(state["pack"], np.intp), np.zeros(state["pack"]))
        self.watch.restore(state["watch"])
        self.pupil.restore(state["pupil"])


def checked_labels(labels: Any, count: int, loss: Loss | None) -> Array:
    """Return a teacher's labels, or say what is wrong with them."""
    given = real_array("a teacher's labels", labels)
    if given.shape != (count,):
        raise InvalidInput(f"a teacher showed {count} examples with labels of shape {given.shape}")
    check_finite("a teacher's labels", given)
    if loss is not None:
        check_labels(loss, given)
    return given


def possible_labels(task: Task) -> Array:
    """Return every label a learner may be shown by the truth or the other target: a classifier must know them all."""
    return task.target if task.other_target is None else np.concatenate([task.target, task.other_target])


def checked_memory(memory: Memory | None) -> Memory | None:
    """Return what a teacher wants to remember, as arrays that a file can hold."""
    if memory is None:
        return None
    if not isinstance(memory, Mapping):
        raise InvalidInput(f"a teacher remembers named arrays, for example memory={{'seen': seen}}; got {memory!r}")
    kept = {str(name): np.array(value) for name, value in memory.items()}
    for name, value in kept.items():
        if value.dtype.kind not in "biufU":
            raise InvalidInput(f"a teacher may remember arrays of numbers or text; {name!r} has dtype {value.dtype}")
    return kept

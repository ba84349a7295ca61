"""What the fast engines share: which tasks they cover, the random draws, the rules, the state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.engines.base import Chunk, Task, Watch
from nimt.errors import InvalidInput
from nimt.learners.kernel import KernelLearner, KernelPupil
from nimt.lesson.lesson import Outcome
from nimt.losses import Absolute, Hinge, Huber, Logistic, Loss, Square, as_loss
from nimt.measures import scale_of
from nimt.operators import Operator
from nimt.teachers.base import Selection, count_of
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher, cumulative
from nimt.teachers.synthesis import SynthesisTeacher

Flags = NDArray[np.bool_]

LOSS_CODES: dict[type, int] = {Square: 0, Hinge: 1, Logistic: 2, Huber: 3, Absolute: 4}
OUTCOMES = (None, Outcome.DIVERGED, Outcome.CONVERGED, Outcome.STALLED, Outcome.STATIONARY)
RESIDUAL = -1  # the score |f - f*|; a loss's code means its gradient's size


def uncovered(task: Task) -> str | None:
    """Return why no fast engine covers a task, or None where they do."""
    if type(task.learner) is not KernelLearner:
        return f"only a KernelLearner has a fast engine, this is a {type(task.learner).__name__}"
    if type(as_loss(task.learner.loss)) not in LOSS_CODES:
        return f"the loss {as_loss(task.learner.loss)!r} is your own"
    if type(task.teacher) not in (GreedyTeacher, RandomTeacher, SynthesisTeacher):
        return f"the teacher {type(task.teacher).__name__} has no fast engine"
    if isinstance(task.teacher, SynthesisTeacher) and task.teacher.pack_size(offered_by(task)) != 1:
        return "packs of made labels are made by the reference loop"
    if task.measure not in ("paper", "rms"):
        return f"measure={task.measure!r} is computed by the reference loop"
    teacher = task.teacher
    if isinstance(teacher, GreedyTeacher) and teacher.diverse:
        return "a diverse pack is chosen by the reference loop"
    if (
        isinstance(teacher, GreedyTeacher)
        and teacher.loss is not None
        and type(as_loss(teacher.loss)) not in LOSS_CODES
    ):
        return f"the teacher's loss {as_loss(teacher.loss)!r} is your own"
    return None


def offered_by(task: Task) -> int:
    """Return how many points the teacher may show."""
    return len(task.pool) if task.candidates is None else len(task.candidates)


def loss_code(loss: Loss) -> tuple[int, float]:
    """Return the number by which compiled code knows a loss, and Huber's delta (1 for others)."""
    return LOSS_CODES[type(loss)], float(getattr(loss, "delta", 1.0))


class Sheet(NamedTuple):
    """Some steps to take: what is known of them before, and where to write what happens.

    Attributes
    ----------
    rates : array (steps,)
        The learning rate of each.
    other_label : array (steps,) of bool, or empty
        Whether its pack is labelled by the other target.
    watch : array (2,)
        The best discrepancy so far and its step, read and written.
    indices : array (steps, k) of int
        What is shown: drawn beforehand, or written.
    labels : array (steps, k)
        Written.
    discrepancy : array (steps,)
        After each step; written.
    """

    rates: Array
    other_label: Flags
    watch: Array
    indices: NDArray[np.int64]
    labels: Array
    discrepancy: Array

    def only(self, t: int) -> Sheet:
        """Return the sheet of one step of this one."""
        now = slice(t, t + 1)
        other = self.other_label[now]
        return Sheet(self.rates[now], other, self.watch, self.indices[now], self.labels[now], self.discrepancy[now])


class FastEngine(ABC):
    """The part of an engine that does not depend on how K acts.

    A subclass keeps f, c and the shown flags in whatever order it likes, and writes `run(sheet)`.
    """

    name = ""

    def __init__(self, task: Task, operator: Operator) -> None:
        self.task = task
        self.pupil = KernelPupil(task.learner, task.pool, operator)
        self.loss, self.delta = loss_code(self.pupil.loss)
        _, self.selection_rng, self.label_rng = task.streams()
        self.greedy = not isinstance(task.teacher, RandomTeacher)
        self.offered = offered_by(task)
        self.k: int = count_of(task.teacher.k, self.offered)
        self.step = 0
        self.discrepancy = 0.0
        self.last: Selection | None = None
        self.rule, self.rule_delta = RESIDUAL, 1.0
        if isinstance(task.teacher, GreedyTeacher) and task.teacher.score == "gradient":
            assert task.teacher.loss is not None
            self.rule, self.rule_delta = loss_code(as_loss(task.teacher.loss))
        self._cumulative: Array | None = None

    def begin(self, discrepancy: float) -> None:
        """Start the watch from the discrepancy before anything is shown."""
        task = self.task
        self.discrepancy = discrepancy
        self.watch = Watch(task.tol, task.patience, discrepancy)
        self.rules = np.array(
            [
                scale_of(task.measure, len(task.pool)),
                -1.0 if task.tol is None else task.tol,
                self.watch.limit,
                -1.0 if task.stationary is None else task.stationary,
                0.0 if task.patience is None else float(task.patience),
            ]
        )

    def advance(self, steps: int) -> Chunk:
        rates = self._rates(steps)
        steps = len(rates)
        task = self.task
        other_label: Flags = np.empty(0, dtype=bool)
        if task.other_target is not None:
            other_label = self.label_rng.random(steps) < task.alternative_probability
        indices = np.zeros((steps, self.k), dtype=np.int64) if self.greedy else self._drawn(steps)
        watch = np.array([self.watch.best, float(self.watch.best_at)])
        sheet = Sheet(rates, other_label, watch, indices, np.empty((steps, self.k)), np.empty(steps))
        taken, code = self.run(sheet)
        self.watch.best, self.watch.best_at = float(watch[0]), int(watch[1])
        self.step += taken
        self.pupil.steps += taken
        if taken:
            self.discrepancy = float(sheet.discrepancy[taken - 1])
            self.last = Selection(indices[taken - 1], sheet.labels[taken - 1])
        return Chunk(indices[:taken], sheet.labels[:taken], sheet.discrepancy[:taken], OUTCOMES[code])

    @abstractmethod
    def run(self, sheet: Sheet) -> tuple[int, int]:
        """Take the steps of a sheet; return how many were taken and the code of the outcome."""

    def last_selection(self) -> Selection:
        assert self.last is not None
        return self.last

    def candidate_scores(self) -> Array:
        """Return the array of scores before they are known: 0 for what may be shown, -1 for what may not."""
        if self.task.candidates is None:
            return np.zeros(len(self.task.pool))
        score = np.full(len(self.task.pool), -1.0)
        score[self.task.candidates] = 0.0
        return score

    def gradient_weight(self) -> Array:
        """Return sqrt(K(x, x)) of the kernel a white-box teacher was given; empty for the residual score."""
        if self.rule == RESIDUAL:
            return np.empty(0)
        return np.sqrt(np.asarray(self.task.teacher.kernel.diag(self.task.pool.points), dtype=np.float64))

    def _rates(self, steps: int) -> Array:
        learner, before = self.pupil.learner, self.pupil.learner.steps_so_far() + self.step
        if not callable(learner.learning_rate):
            return np.full(steps, learner.rate(before, self.pupil.diagonal))
        rates = np.empty(steps)
        for t in range(steps):
            try:
                rates[t] = learner.rate(before + t, self.pupil.diagonal)
            except InvalidInput:
                if t == 0:
                    raise
                return rates[:t]  # the schedule is refused at the step it fails, not before
        return rates

    def _drawn(self, steps: int) -> NDArray[np.int64]:
        """Draw what `RandomTeacher.select` would, step after step: the same numbers from the same stream."""
        teacher, rng, n, k = self.task.teacher, self.selection_rng, self.offered, self.k
        shares: Array | None = None
        if teacher.weights is not None:
            shares = teacher.shares(self._candidates(), k)
        if not teacher.replace:
            drawn = np.array([rng.choice(n, size=k, replace=False, p=shares) for _ in range(steps)]).reshape(steps, k)
        elif shares is None:
            drawn = rng.integers(n, size=(steps, k))
        else:
            drawn = np.searchsorted(cumulative(shares), rng.random((steps, k)), side="right")
        return np.ascontiguousarray(self._candidates()[drawn] if self.task.candidates is not None else drawn, np.int64)

    def _candidates(self) -> Indices:
        return np.arange(self.offered) if self.task.candidates is None else self.task.candidates

    @property
    def values(self) -> Array:
        return self.pupil.values

    @abstractmethod
    def settle(self) -> None:
        """Bring the pupil's values, coefficients and shown flags up to date, in the order of the pool."""

    def taught(self) -> Any:
        self.settle()
        return self.pupil.taught()

    @abstractmethod
    def close(self) -> None:
        """Let go of everything but the learner."""

    def state(self) -> dict[str, Any]:
        self.settle()
        return {
            "step": self.step,
            "discrepancy": self.discrepancy,
            "selection_rng": self.selection_rng.bit_generator.state,
            "label_rng": self.label_rng.bit_generator.state,
            "watch": self.watch.state(),
            "pupil": self.pupil.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.step = int(state["step"])
        self.discrepancy = float(state["discrepancy"])
        self.selection_rng.bit_generator.state = state["selection_rng"]
        self.label_rng.bit_generator.state = state["label_rng"]
        self.watch.restore(state["watch"])
        self.pupil.restore(state["pupil"])
        self.rules[2] = self.watch.limit

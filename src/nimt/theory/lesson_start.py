"""What is known of a task before its first step, and the sentences for tasks that no forecast covers."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import Array, Indices, check_count, check_positive
from nimt.errors import InvalidInput, name_thing
from nimt.learners.foreign_learner import find_pupil_maker
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.update_parts import Update
from nimt.lesson.lesson import Lesson
from nimt.losses import Square, as_loss
from nimt.option_table import Tolerance
from nimt.pools.pool import Pool
from nimt.task.task import Task
from nimt.teachers.teacher import Teacher
from nimt.wording import Wording


@dataclass(frozen=True, eq=False)
class LessonStart:
    """A task that a forecast covers: the square loss, true labels, a `KernelLearner` on a pool of n points.

    Attributes
    ----------
    task : Task
    learner : KernelLearner
        Bound to the pool, so that its learning rate is known.
    diagonal, residual : arrays (n,)
        K(x, x), and f0 - f*.
    tol : float
    max_iterations : int or None
        None where the length of the lesson is not limited.
    """

    task: Task
    learner: KernelLearner
    diagonal: Array
    residual: Array
    tol: float
    max_iterations: int | None

    @property
    def teacher(self) -> Teacher:
        return self.task.teacher

    @property
    def pool(self) -> Pool:
        return self.task.pool

    @property
    def seed(self) -> int:
        return self.task.seed

    @cached_property
    def candidates(self) -> Indices:
        """The points the teacher may show, shape (m,)."""
        return np.arange(len(self.pool)) if self.task.candidates is None else self.task.candidates

    @cached_property
    def scale(self) -> float:
        """M = scale |f - f*|: 1 / n for the paper's measure, 1 / sqrt(n) for the rms."""
        scale = self.task.measure.scale(self.task.target)
        assert scale is not None
        return scale

    def rate(self, step: int) -> float:
        """Return the learning rate of a step of this lesson."""
        return self.learner.rate(self.learner.steps_ + step, self.diagonal)

    @property
    def constant_rate(self) -> float | None:
        """The learning rate, or None for a schedule."""
        return None if callable(self.learner.learning_rate) else self.rate(0)

    def first_rates(self, count: int) -> Array:
        """Return the learning rates of the first steps; each is asked for once."""
        known = self._known_rates["rates"]
        if count > len(known):
            before = self.learner.steps_
            new = [self.learner.rate(before + step, self.diagonal) for step in range(len(known), count)]
            self._known_rates["rates"] = known = np.concatenate([known, new])
        return known[:count]

    @cached_property
    def _known_rates(self) -> dict[str, Array]:
        return {"rates": np.empty(0)}

    @property
    def update(self) -> Update:
        """What the learner does beside a gradient step: nothing, or momentum, decay and forgetting."""
        return self.learner.update

    @property
    def fades(self) -> bool:
        """Whether f becomes smaller by itself, so that it does not tend to f*."""
        return bool(self.update.decay or self.update.forgetting)

    @property
    def rows(self) -> Indices | None:
        """The candidates, or None where the teacher may show every point."""
        return None if len(self.candidates) == len(self.pool) else self.candidates

    @property
    def radius(self) -> float:
        """|f - f*| at which the measure equals the tolerance."""
        return self.tol / self.scale

    @property
    def distance(self) -> float:
        """M(f0, f*)."""
        return self.scale * float(np.linalg.norm(self.residual))

    def teach_copy(
        self,
        steps: int,
        *,
        rate: float | None = None,
        forgetting: float = 0.0,
        seed: int | None = None,
        seconds: float | None = None,
        record: str = "picks",
    ) -> Lesson:
        """Teach a copy of the learner, from the same candidates, at another rate or with other draws.

        At another rate the copy has no momentum and no decay, and its own forgetting. What is recorded as "all" keeps
        the examples and the learner too.
        """
        learner = copy.deepcopy(self.learner)
        if rate is not None:
            learner.set_params(learning_rate=rate, momentum=0.0, nesterov=False, decay=0.0, forgetting=forgetting)
        teacher = self.teacher
        if seed is not None and self.rows is not None:  # another seed would draw another pool
            teacher = dataclasses.replace(teacher, pool=self.candidates)
        task = Task.of(
            learner, teacher, self.pool, self.task.target,
            max_iterations=steps, tol=self.tol, measure=self.task.measure, seed=self.seed if seed is None else seed,
            record=record, numbers_only=record == "picks",
        )  # fmt: skip
        return task.begin(quiet=True).run(seconds=seconds)  # a forecast says itself where a lesson leads


def lesson_start(
    learner: Any,
    teacher: Any,
    X: Pool | ArrayLike,
    y: Any,
    *,
    tol: Tolerance,
    measure: Any = defaults.MEASURE,
    max_iterations: int | None = None,
    seed: int = defaults.SEED,
) -> LessonStart:
    """Check a lesson as `teach` does, and refuse what can be taught and not forecast."""
    if not isinstance(tol, str):
        check_positive("tol", tol)
    if max_iterations is not None:
        check_count("max_iterations", max_iterations, at_least=0)
    steps = 0 if max_iterations is None else max_iterations
    task = Task.of(learner, teacher, X, y, max_iterations=steps, tol=tol, measure=measure, seed=seed)
    return start_of(task, max_iterations=max_iterations)


def start_of(task: Task, *, max_iterations: int | None = None, several_outputs: bool = False) -> LessonStart:
    """Return what is known of a task before its first step; refuse one that no forecast covers.

    `several_outputs` is for what holds for several outputs as for one; the residual is then (n, q).
    """
    _refuse(task)
    if task.measure.scale(task.target) is None:
        raise InvalidInput(
            f"a forecast measures 'paper' or 'rms', which are norms of f - f* on the pool, got measure="
            f"{name_thing(task.measure.name)}",
            way_out=Wording("for the distance in H there is nimt.theory.rkhs_distance", "give --measure paper or rms"),
        )
    if task.outputs and not several_outputs:
        raise InvalidInput(
            f"a forecast is for a target with one output, and this one has {task.outputs[0]}",
            way_out=Wording(
                "forecast each column", "give --grey for the brightness of a picture, or one column of a table"
            ),
        )
    if task.stop.tol is None:
        raise InvalidInput("a forecast is of the step that meets a tolerance, and the learner starts at the target")
    pupil = task.look_at_pupil()
    assert isinstance(pupil, KernelPupil)
    residual = np.asarray(pupil.values - task.target)
    return LessonStart(task, pupil.learner, pupil.diagonal, residual, task.stop.tol, max_iterations)


def _refuse(task: Task) -> None:
    learner = task.learner
    if task.box is not None:
        raise InvalidInput(
            "a forecast is for a lesson on a pool, and in a Box examples may lie anywhere: forecast the lesson on its "
            "grid, nimt.forecast(learner, teacher, box.grid, y, tol=...)"
        )
    if not isinstance(learner, KernelLearner) or find_pupil_maker(learner, "make_pupil") is None:
        raise InvalidInput(
            f"a forecast needs to know how a step moves the learner, and of {type(learner).__name__} it does not",
            way_out=Wording(
                "it covers KernelLearner; for another learner teach a few steps with nimt.teach and time_limit=",
                "it covers the learner kernel; for another one try --time-limit",
            ),
        )
    others = [part for part in learner.update.parts if part in ("budget", "averaging")]
    if others:
        raise InvalidInput(
            f"a forecast covers momentum, decay and forgetting, and this learner has {others[0]}=",
            way_out=Wording("leave it out, or teach a few steps with nimt.teach and time_limit=", "leave it out"),
        )
    if learner.update.forgetting and callable(learner.learning_rate):
        raise InvalidInput(
            "there is no forecast for forgetting and a schedule of learning rates", way_out="give one learning rate"
        )
    loss = as_loss(learner.loss)
    if not isinstance(loss, Square):
        raise InvalidInput(
            f"a forecast covers the square loss, for which a step is linear in f - f*; the loss is {name_thing(loss)}",
            way_out=Wording(
                "what holds for it is nimt.theory.largest_loss_bound, where the largest loss is shown",
                "give --loss square",
            ),
        )
    if task.teacher.labels is not None:
        raise InvalidInput(
            "a forecast is for true labels, and this teacher gives others",
            way_out=Wording("without labels=", "without --other-target").embed(
                after=" it says how long the same lesson takes with the truth"
            ),
        )

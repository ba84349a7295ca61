"""What is known of a lesson before its first step, and the sentences for lessons that no forecast covers."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices, check_count, check_positive
from nimt.errors import InvalidInput, StepSizeWarning, named
from nimt.learners.foreign import own_seat
from nimt.learners.kernel import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.losses import Square, as_loss
from nimt.pools.base import Pool
from nimt.pools.box import Box
from nimt.teachers.base import candidates_of
from nimt.teaching.lessons import teach


@dataclass(frozen=True, eq=False)
class LessonStart:
    """A lesson that has not begun: the square loss, true labels, a `KernelLearner` on a pool of n points.

    Attributes
    ----------
    learner : KernelLearner
        Bound to the pool, so that its learning rate is known.
    teacher : Teacher
    pool : Grid or Points
    residual : array (n,)
        f0 - f*.
    candidates : array (m,) of int
        The points the teacher may show.
    diagonal : array (n,)
        K(x, x).
    scale : float
        M = scale |f - f*|: 1 / n for the paper's measure, 1 / sqrt(n) for the rms.
    tol : float
    measure : str or Measure
    seed : int
    max_iterations : int or None
    X, y : as given, to teach a shorter lesson of the same kind
    """

    learner: KernelLearner
    teacher: Any
    pool: Pool
    residual: Array
    candidates: Indices
    diagonal: Array
    scale: float
    tol: float
    measure: Any
    seed: int
    max_iterations: int | None
    X: Any
    y: Any

    def rate(self, step: int) -> float:
        """Return the learning rate of a step of this lesson."""
        return self.learner.rate(self.learner.steps_so_far() + step, self.diagonal)

    @property
    def constant_rate(self) -> float | None:
        """The learning rate, or None for a schedule."""
        return None if callable(self.learner.learning_rate) else self.rate(0)

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
        self, steps: int, *, rate: float | None = None, seed: int | None = None, seconds: float | None = None
    ) -> Lesson:
        """Teach a copy of the learner, from the same candidates, at another rate or with other draws."""
        learner = copy.deepcopy(self.learner)
        if rate is not None:
            learner.set_params(learning_rate=rate)
        teacher = self.teacher
        if seed is not None and self.rows is not None:  # another seed would draw another pool
            teacher = dataclasses.replace(teacher, pool=self.candidates)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StepSizeWarning)
            return teach(
                learner, teacher, self.X, self.y,
                max_iterations=steps, tol=self.tol, measure=self.measure, seed=self.seed if seed is None else seed,
                record="picks", time_limit=seconds,
            )  # fmt: skip


def lesson_start(
    learner: Any,
    teacher: Any,
    X: Pool | ArrayLike,
    y: Any,
    *,
    tol: float,
    measure: Any = "paper",
    max_iterations: int | None = None,
    seed: int = 0,
) -> LessonStart:
    """Check a lesson as `teach` does, and refuse what can be taught and not forecast."""
    check_positive("tol", tol)
    if max_iterations is not None:
        check_count("max_iterations", max_iterations, at_least=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepSizeWarning)  # a forecast says itself where a lesson leads
        lesson = teach(learner, teacher, X, y, max_iterations=0, tol=tol, measure=measure, seed=seed)
    scale = lesson.measure.scale(lesson.target)
    _refuse(learner, teacher, X)
    if scale is None:
        raise InvalidInput(
            f"a forecast measures 'paper' or 'rms', which are norms of f - f* on the pool, got measure="
            f"{named(measure)}: for the distance in H there is nimt.theory.rkhs_distance"
        )
    if lesson.target.ndim > 1:
        raise InvalidInput(
            f"a forecast is for a target with one output, and this one has {lesson.target.shape[1]}: "
            f"forecast each column"
        )
    settings = lesson.settings
    pool_stream, _, _ = np.random.default_rng(settings["seed"]).spawn(3)
    chosen = candidates_of(getattr(teacher, "pool", None), lesson.pool.shape, pool_stream)
    count = len(lesson.pool)
    return LessonStart(
        learner=lesson.taught,
        teacher=teacher,
        pool=lesson.pool,
        residual=lesson.initial - lesson.target,
        candidates=np.arange(count) if chosen is None else chosen,
        diagonal=np.asarray(learner.kernel.diag(lesson.pool.points), dtype=np.float64),
        scale=scale,
        tol=float(tol),
        measure=measure,
        seed=settings["seed"],
        max_iterations=max_iterations,
        X=X,
        y=y,
    )


def _refuse(learner: Any, teacher: Any, X: Any) -> None:
    if isinstance(X, Box):
        raise InvalidInput(
            "a forecast is for a lesson on a pool, and in a Box examples may lie anywhere: forecast the lesson on its "
            "grid, nimt.forecast(learner, teacher, box.grid, y, tol=...)"
        )
    if not isinstance(learner, KernelLearner) or own_seat(learner, "seat") is None:
        raise InvalidInput(
            f"a forecast needs to know how a step moves the learner, and of {type(learner).__name__} it does not: "
            f"it covers KernelLearner; for another learner teach a few steps with nimt.teach and time_limit="
        )
    loss = as_loss(learner.loss)
    if not isinstance(loss, Square):
        raise InvalidInput(
            f"a forecast covers the square loss, for which a step is linear in f - f*, and the loss is {named(loss)}: "
            f"what holds for it is nimt.theory.largest_loss_bound, where the largest loss is shown"
        )
    if getattr(teacher, "labels", None) is not None:
        raise InvalidInput(
            "a forecast is for true labels, and this teacher gives others: without labels= it says how long the same "
            "lesson takes with the truth"
        )

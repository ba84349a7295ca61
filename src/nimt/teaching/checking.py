"""From what a caller gave to a task that can run: every check of a lesson's input, made before any work."""

from __future__ import annotations

import copy
import dataclasses
import os
import platform
import secrets
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt._version import __version__
from nimt.arrays import check_count, is_number, is_whole
from nimt.engines.base import Task
from nimt.errors import InvalidInput, StepSizeWarning
from nimt.kernels import check_kernel_on
from nimt.learners.base import Pupil, StartsFromInitial
from nimt.learners.kernel import KernelLearner, KernelPupil
from nimt.learners.linear import LinearLearner, LinearPupil
from nimt.lesson.descriptions import describe, is_plain
from nimt.lesson.recording import RECORD_LIMIT, RECORDS
from nimt.losses import check_labels
from nimt.measures import check_measure
from nimt.operators.features import RandomFeatures
from nimt.pools.base import Pool, as_pool, values_on
from nimt.pools.box import Box
from nimt.teachers.base import AlternativeLabels, candidates_of
from nimt.teachers.random import RandomTeacher


@dataclasses.dataclass(frozen=True, kw_only=True)
class LessonPlan:
    """The rules of a lesson, checked: when it stops and what is kept of it. See `teach` for their meaning."""

    max_iterations: int
    tol: float | None = None
    measure: str = "paper"
    stop_when_stationary: float | None = None
    patience: int | None = None
    snapshots: Iterable[int] = ()
    record: str = "auto"
    seed: int | None = 0

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, at_least=0)
        if self.patience is not None:
            check_count("patience", self.patience, at_least=1)
        for name in ("tol", "stop_when_stationary"):
            value = getattr(self, name)
            if value is not None and (not is_number(value) or not 0 <= float(value) < np.inf):
                raise InvalidInput(f"{name} must be a finite number >= 0 or None, got {value!r}")
        check_measure(self.measure)
        if not isinstance(self.record, str) or self.record not in RECORDS:
            raise InvalidInput(f"record must be one of {', '.join(RECORDS)}, got {self.record!r}")
        object.__setattr__(self, "snapshots", self._checked_snapshots())
        object.__setattr__(self, "seed", self._checked_seed())

    def _checked_snapshots(self) -> tuple[int, ...]:
        try:
            asked = list(self.snapshots)
        except TypeError:
            raise InvalidInput(f"snapshots must be a list of steps, got {self.snapshots!r}") from None
        for step in asked:
            if not is_whole(step) or not 0 <= int(step) <= self.max_iterations:
                raise InvalidInput(
                    f"a snapshot must be a step from 0 to max_iterations ({self.max_iterations}), got {step!r}"
                )
        return tuple(sorted({int(step) for step in asked}))

    def _checked_seed(self) -> int:
        if self.seed is None:
            return secrets.randbits(63)
        check_count("seed", self.seed, at_least=0)
        return int(self.seed)


def task_of(
    learner: Any, teacher: Any, X: Pool | Box | ArrayLike, y: Any, plan: LessonPlan, target_function: Any = None
) -> Task:
    """Resolve pool, target and the teacher's options, and refuse what does not fit together."""
    if not callable(getattr(teacher, "select", None)) or isinstance(teacher, type):
        raise InvalidInput(f"a teacher needs select(view), for example nimt.GreedyTeacher(k=1); got {teacher!r}")
    box = X if isinstance(X, Box) else None
    pool = X.grid if isinstance(X, Box) else as_pool(X)
    if isinstance(learner, KernelLearner):
        check_kernel_on(learner.kernel, pool)
    target = values_on(pool, y, "the target")
    labels = getattr(teacher, "labels", None)
    if labels is not None and not isinstance(labels, AlternativeLabels):
        raise InvalidInput(f"labels must be None or nimt.AlternativeLabels(other_target), got {labels!r}")
    assert plan.seed is not None
    task = Task(
        learner=learner,
        teacher=teacher,
        pool=pool,
        target=target,
        target_function=y if target_function is None else target_function,
        measure=plan.measure,
        tol=None if plan.tol is None else float(plan.tol),
        stationary=None if plan.stop_when_stationary is None else float(plan.stop_when_stationary),
        patience=None if plan.patience is None else int(plan.patience),
        seed=plan.seed,
        candidates=None,
        other_target=None if labels is None else values_on(pool, labels.other_target, "the other target"),
        alternative_probability=0.0 if labels is None else float(labels.probability),
        box=box,
    )
    pool_stream, _, _ = task.streams()
    task = dataclasses.replace(task, candidates=candidates_of(getattr(teacher, "pool", None), pool.shape, pool_stream))
    weights = teacher.weights if isinstance(teacher, RandomTeacher) else None
    if weights is not None and np.shape(weights) != (len(pool),):
        raise InvalidInput(f"weights has shape {np.shape(weights)} for a pool of {len(pool)} points: give one a point")
    pack_size(task)
    return task


def pack_size(task: Task) -> int | None:
    """Return how many examples a step shows, where the teacher can tell."""
    n = len(task.pool) if task.candidates is None else len(task.candidates)
    tell = getattr(task.teacher, "pack_size", None)
    size: int | None = None if tell is None else tell(n)
    return size


def check_learner(pupil: Pupil, task: Task) -> None:
    """Refuse what the learner cannot take: labels outside its loss's domain, a rule it cannot follow."""
    if pupil.loss is None:
        if task.stationary is not None:
            raise InvalidInput(
                f"stop_when_stationary needs the learner's loss, which {type(task.learner).__name__} does not tell: "
                f"use patience instead"
            )
        return
    check_labels(pupil.loss, task.target)
    if task.other_target is not None:
        check_labels(pupil.loss, task.other_target)


def check_start(discrepancy: float) -> None:
    """Refuse a lesson whose numbers are too large to be measured."""
    if not np.isfinite(discrepancy):
        raise InvalidInput(
            f"the discrepancy before the first example is {discrepancy!s}: the target or the initial function is too "
            f"large to be squared; divide both by a common factor"
        )


def warn_of_step_size(pupil: Pupil, k: int | None) -> None:
    """Warn where the learning rate is above 1 / (L max K(x, x)), and say so where the lesson must diverge."""
    if pupil.loss is None or pupil.diagonal is None or not np.isfinite(pupil.loss.smoothness):
        return
    assert isinstance(pupil, KernelPupil | LinearPupil)
    largest = float(np.max(pupil.diagonal))
    if largest <= 0 or pupil.loss.smoothness <= 0:
        return
    bound = 1.0 / (pupil.loss.smoothness * largest)
    rate = pupil.rate()
    if rate <= bound * (1 + 1e-12):
        return
    constant = float(np.ptp(pupil.diagonal)) <= 1e-12 * largest
    if rate > 2 * bound and k == 1 and constant:
        text = (
            f"the learning rate {rate:g} is above {2 * bound:g} = 2 / (L max K(x, x)): every step overshoots by more "
            f"than it corrects and the lesson will diverge; use at most {bound:g}, or learning_rate='auto'"
        )
    else:
        text = (
            f"the learning rate {rate:g} is above the bound 1 / (L max K(x, x)) = {bound:g}: steps may overshoot; "
            f"use at most that, or learning_rate='auto'"
        )
    warnings.warn(text, StepSizeWarning, stacklevel=4)  # at the line that called teach() or steps()


def check_checkpoint(path: Path, pupil: Pupil) -> None:
    """Refuse a checkpoint that could never be written."""
    if path.is_dir():
        raise InvalidInput(f"checkpoint must name a file, and {path} is a folder")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"the folder {path.parent} of the checkpoint does not exist or cannot be written to")
    pupil.state()


def settings_of(task: Task, plan: LessonPlan, engine: str | RandomFeatures) -> dict[str, Any]:
    """Return everything needed to run the lesson again, as numbers, text and arrays."""
    teacher = task.teacher
    if task.other_target is not None:
        values = AlternativeLabels(task.other_target, task.alternative_probability)
        if is_plain(teacher):  # one that is not ours is stored by name only
            teacher = dataclasses.replace(teacher, labels=values)
    expansion = isinstance(task.target_function, KernelLearner | LinearLearner)
    return {
        "nimt": __version__,
        "versions": versions(),
        "engine": describe(engine),
        "learner": describe(_with_values(task.learner, task.pool)),
        "teacher": describe(teacher),
        "pool": describe(task.pool),
        "box": None if task.box is None else task.box.bounds,
        "target": task.target,
        "target_function": describe(_with_values(task.target_function, task.pool)) if expansion else None,
        "max_iterations": int(plan.max_iterations),
        "tol": task.tol,
        "measure": task.measure,
        "stop_when_stationary": task.stationary,
        "patience": task.patience,
        "snapshots": list(plan.snapshots),
        "record": _record_that_fits(task, plan),
        "seed": task.seed,
    }


def versions() -> dict[str, str]:
    """Return the versions a lesson depends on."""
    import scipy
    import sklearn

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _with_values(learner: Any, pool: Pool) -> Any:
    """Return the learner with a callable initial function as values on the pool: what a file can hold."""
    if not isinstance(learner, StartsFromInitial) or not callable(learner.initial):
        return learner
    stored = copy.copy(learner)
    stored.initial = learner.initial_on(pool)
    return stored


def _record_that_fits(task: Task, plan: LessonPlan) -> str:
    """Settle "auto" at once where a lesson of full length is sure to outgrow the limit."""
    k = pack_size(task)
    sure = task.tol is None and task.patience is None and task.stationary is None
    if plan.record == "auto" and sure and k is not None and 16 * k * plan.max_iterations > RECORD_LIMIT:
        return "picks"
    return plan.record

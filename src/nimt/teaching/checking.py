"""Every check of a lesson's input, made before any work: from the caller's arguments to a task that can run."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import os
import platform
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt._version import __version__
from nimt.arrays import Array, check_count, is_number, is_whole
from nimt.engines.base import Task
from nimt.engines.choosing import Plan
from nimt.errors import InvalidInput, NimtError, before_the_first_step, first_call_of, named
from nimt.inheritance import behaves_like
from nimt.kernels import check_kernel_on
from nimt.learners.base import Learner, MixingPupil, Pupil, SeveralPupils, StartsFromInitial
from nimt.learners.foreign import check_learner
from nimt.learners.kernel import KernelLearner
from nimt.lesson.descriptions import describe, is_own
from nimt.lesson.held_out import check_held_out
from nimt.lesson.lesson import told_of
from nimt.lesson.recording import RECORD_LIMIT, RECORDS
from nimt.losses import check_labels, couples_outputs
from nimt.measures import MEASURES, Measure, as_measure, distance
from nimt.operators.features import FeatureKernel, RandomFeatures
from nimt.operators.packs import pack_gain
from nimt.pools.base import FunctionLike, Pool, as_pool, values_on
from nimt.pools.box import Box
from nimt.teachers.base import AlternativeLabels, SelectsExamples, Teacher, candidates_of, check_teacher


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """When a lesson stops and what is recorded, checked. See `teach` for the meaning of each."""

    max_iterations: int
    tol: float | None = None
    measure: str | Measure = "paper"
    stop_when_stationary: float | None = None
    patience: int | None = None
    snapshots: Iterable[int] = ()
    record: str = "auto"
    seed: int | None = 0
    holdout: tuple[ArrayLike, ArrayLike] | None = None

    def __post_init__(self) -> None:
        check_count("max_iterations", self.max_iterations, at_least=0)
        if self.patience is not None:
            check_count("patience", self.patience, at_least=1)
        for name in ("tol", "stop_when_stationary"):
            value = getattr(self, name)
            if value is not None and (not is_number(value) or not 0 <= float(value) < np.inf):
                raise InvalidInput(f"{name} must be a finite number >= 0 or None, got {value!r}")
        as_measure(self.measure)
        if not isinstance(self.record, str) or self.record not in RECORDS:
            raise InvalidInput(f"record must be one of {', '.join(RECORDS)}, got {self.record!r}")
        object.__setattr__(self, "snapshots", self._checked_snapshots())
        object.__setattr__(self, "seed", self._checked_seed())
        object.__setattr__(self, "holdout", self._checked_holdout())

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

    def _checked_holdout(self) -> tuple[Array, Array] | None:
        if self.holdout is None:
            return None
        if not isinstance(self.holdout, tuple | list) or len(self.holdout) != 2:
            raise InvalidInput(f"holdout must be a pair (X, y) of points and targets, got {self.holdout!r}")
        pool = as_pool(self.holdout[0], "the points of holdout")
        return pool.points, values_on(pool, self.holdout[1], "the target of holdout")

    def _checked_seed(self) -> int:
        if self.seed is None:
            return secrets.randbits(63)
        check_count("seed", self.seed, at_least=0, at_most=None)
        return int(self.seed)


def task_of(
    learner: Learner,
    teacher: SelectsExamples,
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    rules: Rules,
    target_function: object = None,
) -> Task:
    """Resolve pool, target and the teacher's options, and refuse what does not fit together."""
    check_learner(learner)
    check_teacher(teacher)
    if isinstance(teacher, Teacher):
        teacher = teacher.settled(rules.max_iterations)
    box = X if isinstance(X, Box) else None
    pool = X.grid if isinstance(X, Box) else as_pool(X)
    if isinstance(learner, StartsFromInitial):
        check_kernel_on(learner.kernel, pool)  # type: ignore[attr-defined]
    target = values_on(pool, y, "the target")
    labels = getattr(teacher, "labels", None)
    if labels is not None and not isinstance(labels, AlternativeLabels):
        raise InvalidInput(f"labels must be None or nimt.AlternativeLabels(other_target), got {labels!r}")
    other = None if labels is None else values_on(pool, labels.other_target, "the other target", target.shape[1:])
    assert rules.seed is not None
    task = Task(
        learner=learner,
        teacher=teacher,
        pool=pool,
        target=target,
        target_function=y if target_function is None else target_function,
        measure=as_measure(rules.measure),
        tol=None if rules.tol is None else float(rules.tol),
        stop_when_stationary=None if rules.stop_when_stationary is None else float(rules.stop_when_stationary),
        patience=None if rules.patience is None else int(rules.patience),
        seed=rules.seed,
        candidates=None,
        other_target=other,
        other_probability=0.0 if labels is None else float(labels.probability),
        box=box,
    )
    pool_stream, _, _ = task.streams()
    task = dataclasses.replace(task, candidates=candidates_of(getattr(teacher, "pool", None), pool.shape, pool_stream))
    if task.outputs and getattr(teacher, "needs_one_output", False):
        raise InvalidInput(
            f"{type(teacher).__name__} teaches functions with one output with these options, and the target has "
            f"{task.outputs[0]}: teach each output by itself, or use nimt.GreedyTeacher()"
        )
    if task.per_output:
        _check_per_output(task)
    if task.communicates:
        _check_communicating(task)
    fits = getattr(teacher, "check_on", None)
    if fits is not None:
        with first_call_of(f"{type(teacher).__name__}.check_on"):
            fits(len(pool))
    pack_size(task)
    return task


def _check_per_output(task: Task) -> None:
    """Refuse what cannot be taught one output at a time."""
    if not task.outputs:
        raise InvalidInput(
            "PerOutput shows every output examples of its own, and the target has one output: give the teacher "
            "without PerOutput"
        )
    if task.box is not None:
        raise InvalidInput("in a Box all outputs are shown the same examples: leave PerOutput out, or use a Grid")


def _check_communicating(task: Task) -> None:
    """Refuse what cannot be mixed, or measured after it."""
    if not task.outputs:
        raise InvalidInput(
            "Communicating mixes outputs, and the target has one output: give the teacher without Communicating"
        )
    if task.measure.name == "rkhs":
        raise InvalidInput(
            "the norm in H is kept up to date by what steps add, and a mixture changes all of f: measure 'rms' or "
            "'paper', or give the teacher without Communicating"
        )


def approximated(learner: Learner, approximation: RandomFeatures, pool: Pool) -> KernelLearner:
    """Return the learner with an approximate kernel; what it learned before becomes its initial function."""
    if not isinstance(learner, KernelLearner) or not behaves_like(learner, KernelLearner, "predict", "partial_fit"):
        raise InvalidInput(f"{approximation.label} approximate a kernel, and {type(learner).__name__} has none")
    if isinstance(learner.kernel, FeatureKernel):
        return learner  # a resumed lesson: its kernel is an approximation already
    start = learner.predict if learner.steps_so_far() or learner.is_mixed() else learner.initial
    kernel = approximation.kernel(learner.kernel, pool)
    return KernelLearner(kernel, loss=learner.loss, learning_rate=learner.learning_rate, initial=start)


def pack_size(task: Task) -> int | None:
    """Return how many examples each step shows, None if that is not known before."""
    tell = getattr(task.teacher, "pack_size", None)
    with first_call_of(f"{type(task.teacher).__name__}.pack_size"):
        size: int | None = None if tell is None else tell(task.offered)
    return size


def examples_per_step(task: Task) -> int | None:
    """Return how many examples are recorded per step: one pack, or one per output; None if not known before."""
    k = pack_size(task)
    return k if k is None or not task.per_output else k * task.outputs[0]


def check_pupil(pupil: Pupil, task: Task) -> None:
    """Refuse what the learner cannot use: labels that its loss does not take, rules that need a loss, huge numbers."""
    if task.per_output and not isinstance(pupil, SeveralPupils):
        raise InvalidInput(
            f"PerOutput teaches one output at a time, which {type(task.learner).__name__} cannot learn: use a "
            f"KernelLearner, or give the teacher without PerOutput"
        )
    if task.communicates and not isinstance(pupil, MixingPupil):
        raise InvalidInput(
            f"Communicating mixes the outputs of the learner, which {type(task.learner).__name__} cannot do: use a "
            f"KernelLearner, or give the teacher without Communicating"
        )
    coupled = couples_outputs(pupil.loss)
    if coupled and task.per_output:
        raise InvalidInput(
            f"PerOutput teaches one output at a time, and the loss {named(pupil.loss)} couples them: give the teacher "
            f"without PerOutput"
        )
    if coupled and task.communicates:
        raise InvalidInput(
            f"Communicating fits f to the target, which f does not tend to with the loss {named(pupil.loss)}: give the "
            f"teacher without Communicating"
        )
    if pupil.loss is None and task.stop_when_stationary is not None:
        raise InvalidInput(
            f"stop_when_stationary needs the learner's loss, which {type(task.learner).__name__} does not provide: "
            f"use patience instead"
        )
    if pupil.loss is not None:
        check_labels(pupil.loss, task.target)
        teaches = getattr(task.teacher, "check_loss", None)
        if teaches is not None:
            teaches(pupil.loss)
        if task.other_target is not None:
            check_labels(pupil.loss, task.other_target)
    with np.errstate(over="ignore", invalid="ignore"):
        start = distance(pupil.values, task.target)
    unknown = np.argwhere(np.isnan(pupil.values))
    if unknown.size:
        raise InvalidInput(
            f"{type(task.learner).__name__} predicts nan at {len(unknown)} of {pupil.values.size} values before the "
            f"first example, first at point {unknown[0][0]}: let it predict numbers from the start"
        )
    if not np.isfinite(start):
        raise InvalidInput(
            f"the discrepancy before the first example is {start!s}: the target or the initial function is too "
            f"large to be subtracted and summed; divide both by a common factor"
        )


# ---------------------------------------------------------------- the step size


@contextlib.contextmanager
def kernels_named(learner: object, teacher: object) -> Iterator[None]:
    """Name a kernel of the user in the error that it raises in the block, before the first step."""
    kernels = (getattr(one, "kernel", None) for one in (learner, teacher))
    theirs = next((kernel for kernel in kernels if kernel is not None and not is_own(kernel)), None)
    if theirs is None:
        yield
    else:
        with before_the_first_step(f"the kernel {theirs!r}"):
            yield


def settle_rate(pupil: Pupil, task: Task) -> float | None:
    """Set the value of learning_rate="auto", and return the gain of a pack (`pack_gain`), None if it is not known."""
    learner = task.learner
    if pupil.loss is None or not isinstance(learner, KernelLearner):
        diagonal = pupil.diagonal
        return None if diagonal is None else float(np.max(diagonal))
    k = pack_size(task)
    repeats = k is None or getattr(task.teacher, "replace", False) or task.box is not None
    gain = pack_gain(learner.kernel, task.pool, k or 1, repeats=repeats)
    if learner.learning_rate == "auto" and gain > 0:
        pupil.learner.learning_rate_ = 1.0 / (float(pupil.loss.smoothness) * gain)  # type: ignore[attr-defined]
    return gain


def check_first_rate(learner: Learner) -> None:
    """Refuse a schedule that cannot be called at the first step; one that fails later ends the lesson there."""
    schedule = getattr(learner, "learning_rate", None)
    tell = getattr(learner, "steps_so_far", None)
    if not callable(schedule) or tell is None:
        return
    first = int(tell())
    try:
        schedule(first)
    except NimtError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"learning_rate raised {type(error).__name__} ({error}) when it was called with the first step, {first}"
        ) from error


def check_checkpoint(path: Path, pupil: Pupil) -> None:
    """Refuse a checkpoint that cannot be written."""
    if path.is_dir():
        raise InvalidInput(f"checkpoint must name a file, and {path} is a folder")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InvalidInput(f"the folder {path.parent} of the checkpoint does not exist or cannot be written to")
    pupil.state()


def settings_of(task: Task, rules: Rules, engine: str | RandomFeatures) -> dict[str, Any]:
    """Return everything needed to run the lesson again, as numbers, text and arrays."""
    teacher = task.teacher
    if isinstance(teacher, Teacher) and is_own(teacher):  # a teacher of the user is stored as it describes itself
        if task.other_target is not None:
            values = AlternativeLabels(task.other_target, task.other_probability)
            teacher = teacher.with_labels(values)
        if getattr(teacher, "reference", None) is not None:
            known = values_on(task.pool, teacher.reference, "the reference")  # type: ignore[attr-defined]
            teacher = dataclasses.replace(teacher, reference=known)  # type: ignore[call-arg]
    return {
        "versions": versions(task.learner, getattr(getattr(task.learner, "kernel", None), "origin", None)),
        "engine": describe(engine),
        "learner": describe(_on_pool(task.learner, task.pool)),
        "teacher": describe(teacher),
        "pool": describe(task.pool),
        "box": None if task.box is None else describe(task.box),
        "target": task.target,
        "target_function": _described_target(task),
    } | rules_as_settings(task, rules)


def rules_as_settings(task: Task, rules: Rules) -> dict[str, Any]:
    """Return the settings of a lesson of which only the numbers are kept: all but what it was about."""
    return {
        "nimt": __version__,
        "method": told_of(task.teacher),
        "per_output": task.per_output,
        "max_iterations": int(rules.max_iterations),
        "tol": task.tol,
        "measure": _described_measure(task.measure),
        "stop_when_stationary": task.stop_when_stationary,
        "patience": task.patience,
        "snapshots": list(rules.snapshots),
        "record": _record_that_fits(task, rules),
        "seed": task.seed,
        "holdout": _described_holdout(task, rules),
    }


def _described_holdout(task: Task, rules: Rules) -> dict[str, Any] | None:
    if rules.holdout is None:
        return None
    points, target = np.asarray(rules.holdout[0]), np.asarray(rules.holdout[1])
    check_held_out(points, target, task.pool.dimension, task.outputs)
    return {"points": points, "target": target}


def _described_measure(measure: Measure) -> str | dict[str, Any]:
    """Return the name of a measure of nimt; for another, also what figures and tolerances need without its class."""
    if MEASURES.get(measure.name) is measure:
        return measure.name
    known = {"label": measure.name, "axis": measure.axis or measure.name, "higher_is_better": measure.higher_is_better}
    return {**describe(measure), **known}


def _described_target(task: Task) -> dict[str, Any] | None:
    """Return the description of a target that was given as a learner or function, None if given as values."""
    target = task.target_function
    if hasattr(target, "predict") or callable(target):
        described: dict[str, Any] = describe(_on_pool(target, task.pool))
        return described
    return None


def versions(*parts: object) -> dict[str, str]:
    """Return the versions of Python and of the packages that these parts of a lesson depend on."""
    import scipy

    found = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    if any(kind.__module__.startswith("sklearn.") for part in parts for kind in type(part).__mro__):
        import sklearn

        found["scikit-learn"] = sklearn.__version__
    return found


def _on_pool(learner: object, pool: Pool) -> object:
    """Return a learner bound to its pool, so that an initial function can be stored as values on it."""
    if not isinstance(learner, StartsFromInitial) or not callable(learner.initial) or hasattr(learner, "pool_"):
        return learner
    stored = copy.copy(learner)
    stored.pool_ = pool
    return stored


def _record_that_fits(task: Task, rules: Rules) -> str:
    """Replace "auto" by "picks" if the record is sure to exceed the limit."""
    k = examples_per_step(task)
    sure = task.tol is None and task.patience is None and task.stop_when_stationary is None
    if rules.record == "auto" and sure and k is not None and 16 * k * rules.max_iterations > RECORD_LIMIT:
        return "picks"
    return rules.record


def with_record(plan: Plan, task: Task, rules: Rules) -> Plan:
    """Return a plan that also counts what grows with the length of the lesson, and the snapshots."""
    k = examples_per_step(task) or 1
    per_step = 8 + (0 if rules.record == "picks" else 8 * k * (1 + math.prod(task.label_outputs)))
    record = min(per_step * rules.max_iterations, 8 * rules.max_iterations + RECORD_LIMIT)
    if rules.record == "all":
        record = per_step * rules.max_iterations
    return dataclasses.replace(plan, bytes=plan.bytes + record + task.target.nbytes * len(tuple(rules.snapshots)))

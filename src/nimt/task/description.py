"""A task as numbers, text and arrays: what a lesson records of it, and what a file holds to run it again."""

from __future__ import annotations

import copy
import dataclasses
import platform
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt import display
from nimt._version import __version__
from nimt.errors import InvalidInput, first_call_of
from nimt.kernels.families import SINGLE
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import StartsFromInitial
from nimt.lesson.descriptions import DescribedLater, describe, is_own
from nimt.measures import MEASURES, Measure
from nimt.option_table import OPTIONS, Option
from nimt.pools.pool import Pool
from nimt.teachers.teacher import Teacher

if TYPE_CHECKING:
    from nimt.task.task import Task


def describe_task(task: Task) -> dict[str, Any]:
    """Return everything needed to run the lesson again."""
    teacher = task.teacher.given
    if isinstance(teacher, Teacher) and is_own(teacher):  # a teacher of the user is stored as it describes itself
        teacher = teacher.resolve_on(task.pool, task.outputs)
    return {
        "versions": versions(task.learner, getattr(getattr(task.learner, "kernel", None), "origin", None)),
        "engine": describe(task.engine if not isinstance(task.engine, str) else task.plan.engine),
        "learner": describe(_bind(task.learner, task.pool)),
        "teacher": describe(teacher),
        "pool": describe(task.pool),
        "box": None if task.box is None else describe(task.box),
        "target": task.target,
        "target_function": _describe_target(task),
    } | describe_rules(task)


def describe_later(task: Task) -> DescribedLater | None:
    """Return a promise of what `describe_task` returns, None where a part of the task may change until then.

    The caller's learner may be changed, too, so that a copy of it is kept.
    """
    learner, target = task.learner, task.target_function
    if type(learner) is not KernelLearner or type(learner.kernel) not in SINGLE:
        return None
    parts = [learner.loss, learner.learning_rate, learner.initial, task.engine, task.holdout, task.box]
    parts += [getattr(task.teacher, field.name) for field in dataclasses.fields(task.teacher)]
    for part in parts:
        if part is not None and not isinstance(part, bool | int | float | str):
            return None
    for thing in (task.teacher, task.pool, task.measure):
        if not type(thing).__module__.startswith("nimt."):
            return None
    if (callable(target) and not isinstance(target, np.ufunc)) or hasattr(target, "predict"):
        return None
    kept = copy.copy(task)
    vars(kept)["learner"] = copy.copy(learner)
    vars(kept).pop("choice", None)  # what was built for the engine may be large
    return DescribedLater(lambda: describe_task(kept))


def describe_rules(task: Task) -> dict[str, Any]:
    """Return the settings of a lesson of which only the numbers are kept: all but what it was about."""
    held = task.holdout
    return {
        "nimt": __version__,
        "method": _describe_method(task.teacher),
        "per_output": task.per_output,
        "planned_steps": task.planned_steps,
        "measure": _describe_measure(task.measure),
        "holdout": None if held is None else held._asdict(),
    } | {name: _find(task, name, option) for name, option in OPTIONS.items() if option.is_plain}


def _find(task: Task, name: str, option: Option) -> Any:
    """Return the value of an option, as a task has it."""
    value = getattr(task if option.part == "task" else getattr(task, option.part), name)
    return list(value) if isinstance(value, tuple) else value


def _describe_method(teacher: Teacher) -> dict[str, str | None]:
    """Return the name and the colour of a teacher, as it states them; refuse what is no colour."""
    with first_call_of(lambda: f"the name or the colour of {teacher.kind}"):
        name, colour = teacher.name, teacher.colour
    if colour is not None and not display.is_colour(colour):
        raise InvalidInput(
            f"the colour of {teacher.kind} must be '#' and six hexadecimal digits, as '#D55E00', "
            f"or None for a free one; got {colour!r}"
        )
    return {"name": name, "colour": colour, "access": teacher.access}


def _describe_measure(measure: Measure) -> str | dict[str, Any]:
    """Return the name of a measure of nimt; for another, also what figures and tolerances need without its class."""
    if MEASURES.get(measure.name) is measure:
        return measure.name
    known = {"label": measure.name, "axis": measure.axis or measure.name, "higher_is_better": measure.higher_is_better}
    return {**describe(measure), **known}


def _describe_target(task: Task) -> dict[str, Any] | None:
    """Return the description of a target that was given as a learner or function, None if given as values."""
    target = task.target_function
    if hasattr(target, "predict") or callable(target):
        described: dict[str, Any] = describe(_bind(target, task.pool))
        return described
    return None


def _bind(learner: object, pool: Pool) -> object:
    """Return a learner bound to its pool, so that an initial function can be stored as values on it."""
    if not isinstance(learner, StartsFromInitial) or not callable(learner.initial) or hasattr(learner, "pool_"):
        return learner
    stored = copy.copy(learner)
    stored.pool_ = pool
    return stored


def versions(*parts: object) -> dict[str, str]:
    """Return the versions of Python and of the packages that these parts of a lesson depend on."""
    import scipy

    found = {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__}
    if any(kind.__module__.startswith("sklearn.") for part in parts for kind in type(part).__mro__):
        import sklearn

        found["scikit-learn"] = sklearn.__version__
    return found

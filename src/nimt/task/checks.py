"""What cannot be taught, refused before any work: options of a teacher, a learner and a measure that do not fit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt.arrays import is_whole
from nimt.errors import InvalidInput, NimtError, first_call_of, name_thing
from nimt.learners.learner import MixingPupil, Pupil, SeveralPupils
from nimt.lesson.descriptions import is_own
from nimt.losses import check_labels, couples_outputs
from nimt.measures import distance
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.task.task import Task


PER_OUTPUT = Wording("PerOutput", "a teacher per output")
WITHOUT_PER_OUTPUT = Wording("give the teacher without PerOutput", "leave -per-output out of --teacher")
COMMUNICATING = Wording("Communicating", "--communicate")
WITHOUT_COMMUNICATING = Wording("give the teacher without Communicating", "leave --communicate out")


def check_fit(task: Task) -> None:
    """Refuse a teacher that cannot teach this target, here or at all."""
    if task.outputs and task.teacher.needs_one_output:
        teaches = f" teaches functions with one output with these options, and the target has {task.outputs[0]}"
        raise InvalidInput(
            task.teacher.kind.embed(after=teaches),
            way_out=Wording("nimt.GreedyTeacher()", "--teacher greedy").embed("teach each output by itself, or use "),
        )
    if task.per_output:
        _check_per_output(task)
    if task.communicates:
        _check_communicating(task)
    if task.box is not None:
        _check_box(task)
    with first_call_of(lambda: f"{task.teacher.kind}.check_on"):
        task.teacher.check_on(len(task.pool))
    task.pack_size  # noqa: B018  (refuses a pack larger than the pool)


def _check_per_output(task: Task) -> None:
    """Refuse what cannot be taught one output at a time."""
    if not task.outputs:
        raise InvalidInput(
            PER_OUTPUT.embed(after=" shows every output examples of its own, and the target has one output"),
            way_out=WITHOUT_PER_OUTPUT,
        )
    if task.box is not None:
        raise InvalidInput("in a Box all outputs are shown the same examples: leave PerOutput out, or use a Grid")


def _check_communicating(task: Task) -> None:
    """Refuse what cannot be mixed, or measured after it."""
    if not task.outputs:
        raise InvalidInput(
            COMMUNICATING.embed(after=" mixes outputs, and the target has one output"), way_out=WITHOUT_COMMUNICATING
        )
    if task.measure.name == "rkhs":
        raise InvalidInput(
            "the norm in H is kept up to date by what steps add, and a mixture changes all of f",
            way_out=WITHOUT_COMMUNICATING.embed("measure 'rms' or 'paper', or "),
        )


def _check_box(task: Task) -> None:
    """Refuse what a box cannot do."""
    functions = {"the target": task.target_function}
    if task.teacher.labels is not None:
        functions["the other target"] = task.teacher.labels.other_target
    for name, function in functions.items():
        if not callable(function) and not hasattr(function, "predict"):
            raise InvalidInput("must be callable in a Box, because examples may lie anywhere in it", parameter=name)
    if task.stop.stop_when_stationary is not None:
        raise InvalidInput("stop_when_stationary is not available in a Box: use patience instead")
    if task.candidates is not None:
        raise InvalidInput(
            "in a Box a teacher cannot have pool=, because a Box is not a list of points: leave it out, or use a "
            "smaller Box"
        )
    if task.looks_by_schedule:
        raise InvalidInput("in a Box a teacher cannot have look=, because what it may show changes with every step")
    k = task.teacher.size
    if k is not None and not is_whole(k):
        raise InvalidInput(
            f"in a Box k must be a count, because a Box has no number of points to take a share of; got k={k!r}"
        )


def check_pupil(pupil: Pupil, task: Task) -> None:
    """Refuse what the learner cannot use: labels that its loss does not take, rules that need a loss, huge numbers."""
    if task.per_output and not isinstance(pupil, SeveralPupils):
        raise InvalidInput(
            PER_OUTPUT.embed(after=f" teaches one output at a time, which {type(task.learner).__name__} cannot learn"),
            way_out=WITHOUT_PER_OUTPUT.embed("use a KernelLearner, or "),
        )
    if task.communicates and not isinstance(pupil, MixingPupil):
        raise InvalidInput(
            COMMUNICATING.embed(
                after=f" mixes the outputs of the learner, which {type(task.learner).__name__} cannot do"
            ),
            way_out=WITHOUT_COMMUNICATING.embed("use a KernelLearner, or "),
        )
    coupled = couples_outputs(pupil.loss)
    if coupled and task.per_output:
        raise InvalidInput(
            PER_OUTPUT.embed(
                after=f" teaches one output at a time, and the loss {name_thing(pupil.loss)} couples them"
            ),
            way_out=WITHOUT_PER_OUTPUT,
        )
    if coupled and task.communicates:
        raise InvalidInput(
            COMMUNICATING.embed(
                after=f" fits f to the target, which f does not tend to with the loss {name_thing(pupil.loss)}"
            ),
            way_out=WITHOUT_COMMUNICATING,
        )
    if pupil.loss is None and task.stop.stop_when_stationary is not None:
        raise InvalidInput(
            f"stop_when_stationary needs the learner's loss, which {type(task.learner).__name__} does not provide: "
            f"use patience instead"
        )
    if pupil.loss is not None:
        check_labels(pupil.loss, task.target)
        task.teacher.check_loss(pupil.loss)
        if task.other_target is not None:
            check_labels(pupil.loss, task.other_target)
    if callable(getattr(task.learner, "learning_rate", None)):
        _check_first_rate(task.learner)
    with np.errstate(over="ignore", invalid="ignore"):
        start = distance(pupil.values, task.target)
    if np.isfinite(start):
        return
    unknown = np.argwhere(np.isnan(pupil.values))
    if unknown.size:
        raise InvalidInput(
            f"{type(task.learner).__name__} predicts nan at {len(unknown)} of {pupil.values.size} values before the "
            f"first example, first at point {unknown[0][0]}: let it predict numbers from the start"
        )
    raise InvalidInput(
        f"the discrepancy before the first example is {start!s}: the target or the initial function is too "
        f"large to be subtracted and summed; divide both by a common factor"
    )


def _check_first_rate(learner: Any) -> None:
    """Refuse a schedule that cannot be called at the first step; one that fails later ends the lesson there."""
    if not hasattr(learner, "steps_so_far"):
        return
    first = int(learner.steps_so_far())
    try:
        learner.learning_rate(first)
    except NimtError:
        raise
    except Exception as error:
        raise InvalidInput(
            f"learning_rate raised {type(error).__name__} ({error}) when it was called with the first step, {first}"
        ) from error


@contextlib.contextmanager
def name_kernels(*owners: object) -> Iterator[None]:
    """Name a kernel of the user in the error that it raises in the block, before the first step."""
    try:
        yield
    except (NimtError, MemoryError):
        raise
    except Exception as error:
        kernels = (getattr(owner, "kernel", None) for owner in owners)
        theirs = next((kernel for kernel in kernels if kernel is not None and not is_own(kernel)), None)
        if theirs is None:
            raise
        problem = f"raised {type(error).__name__} ({error}) before the first step"
        raise InvalidInput(f"the kernel {theirs!r} {problem}") from error

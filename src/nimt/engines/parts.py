"""What compiled engines can do, and what keeps them from running a task."""

from __future__ import annotations

from collections.abc import Sequence

from nimt.engines.error_product import is_same_kernel
from nimt.errors import name_thing
from nimt.inheritance import behaves_like
from nimt.learners.foreign_learner import find_pupil_maker
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.linear_learner import LinearLearner, LinearPupil
from nimt.learners.updating_pupil import UpdatingPupil
from nimt.losses import as_loss, couples_outputs, twin_of
from nimt.task.task import Task
from nimt.teachers.rule import Diverse, Drawn, DrawnByOdds, Jointly, LabelsByResponse, Largest, Listed, Rule, TrueLabels
from nimt.teachers.scores import SCORES, Omniscient, Residual, Surrogate
from nimt.teachers.teacher import count_of

COMPILED_SCORES = [kind for kind in SCORES.values() if kind.is_compiled]
BY_PRODUCT = {kind for kind in COMPILED_SCORES if kind.keeps_product}
EVERYWHERE: frozenset[type] = frozenset(
    {Largest, Drawn, Listed, Jointly, TrueLabels, LabelsByResponse, *COMPILED_SCORES}
)
BY_WINDOWS = EVERYWHERE | {DrawnByOdds, Diverse}
PARTS: dict[str, frozenset[type]] = {
    "grid": BY_WINDOWS,
    "neighbours": BY_WINDOWS,
    "cells": BY_WINDOWS,
    "streamed": EVERYWHERE,
    "linear": EVERYWHERE - {Jointly, LabelsByResponse, *BY_PRODUCT},
}
# they keep one state, or constants of all outputs of a point, not one for each output
FOR_ONE_OUTPUT = frozenset({Listed, DrawnByOdds, Jointly, LabelsByResponse, Surrogate, Omniscient, *BY_PRODUCT})

UPDATES: dict[str, frozenset[str]] = {
    "streamed": frozenset({"momentum", "nesterov", "decay", "forgetting", "budget", "averaging"}),
}  # what each engine can do beside a gradient step (`learners/update_parts`)
COMPILED_PUPILS: dict[type, tuple[str, ...]] = {  # and the methods that engines do themselves
    UpdatingPupil: ("rate", "learn", "learn_each"),
    KernelPupil: ("rate", "learn", "learn_each", "move", "add", "add_each"),
    LinearPupil: ("rate", "learn"),
}
LARGEST_POOL = 2**31 - 1  # slots are counted in 32 bits


def find_unknown_part(rule: Rule, engine: str | None = None, update: Sequence[str] = ()) -> str | None:
    """Return which part of a rule, or of a learner's update, an engine cannot do, as a sentence, or None.

    Without the name of an engine, it is what none can do.

    Examples
    --------
    >>> find_unknown_part(Rule(DrawnByOdds(0.1)), "streamed")
    'the streamed engine cannot choose by odds'
    >>> find_unknown_part(Rule(), "grid", ["momentum"])
    'the grid engine cannot update by momentum'
    >>> find_unknown_part(Rule(labels=LabelsByResponse(), per_output=True))
    "no compiled engine can label by the learner's responses for each output"
    """
    known = BY_WINDOWS if engine is None else PARTS[engine]
    who = "no compiled engine can" if engine is None else f"the {engine} engine cannot"
    for verb, part in (("choose", rule.choose), ("score", rule.score), ("label", rule.labels)):
        if type(part) not in known:  # a subclass may do something else
            return f"{who} {verb} by {getattr(part, 'name', type(part).__name__)}"
        if rule.per_output and type(part) in FOR_ONE_OUTPUT:
            return f"{who} {verb} by {part.name} for each output"
    for name in update:
        if name not in UPDATES.get(engine or "", ()):
            return f"{who} update by {name}"
    return None


def find_obstacle(task: Task) -> str | None:
    """Return why no compiled engine covers a task, or None if one may, by what all of them need."""
    learner, teacher, rule = task.learner, task.teacher, task.rule
    if task.box is not None:
        return "the teacher may show any point of a box"
    if not isinstance(learner, KernelLearner | LinearLearner) or find_pupil_maker(learner, "make_pupil") is None:
        return f"only a KernelLearner or a LinearLearner has a compiled engine, this is a {type(learner).__name__}"
    pupil = task.look_at_pupil()
    kind = next((kind for kind in COMPILED_PUPILS if isinstance(pupil, kind)), None)
    if kind is None or not behaves_like(pupil, kind, *COMPILED_PUPILS[kind]):
        return f"the pupil of this {type(learner).__name__} learns in a way of its own"
    loss = as_loss(learner.loss)
    if twin_of(loss) is None:
        return f"the loss {loss!r} is your own"
    if rule is None and teacher.has_schedule:
        return f"the reference loop follows the schedule of this {teacher.kind}"
    if rule is None:
        return f"the teacher {teacher.kind} chooses by its own select(view)"
    unknown = find_unknown_part(rule)
    if unknown is not None:
        return unknown
    if rule.score.loss is not None and twin_of(rule.score.loss) is None:
        return f"the teacher's loss {name_thing(rule.score.loss)} is your own"
    if not task.label_outputs and (couples_outputs(loss) or couples_outputs(rule.score.loss)):
        return "the loss couples several outputs, and there is one"
    if isinstance(rule.labels, LabelsByResponse) and hasattr(loss, "check_labels"):
        return f"the loss {loss!r} has to check every label that is made"
    if isinstance(learner, LinearLearner):
        unknown = find_unknown_part(rule, "linear")
        if unknown is not None:
            return unknown
    elif isinstance(rule.choose, Diverse) and not is_same_kernel(rule.choose.kernel, learner.kernel):
        return f"diverse packs are chosen with the kernel {rule.choose.kernel!r}, and the learner has another"
    if task.measure.scale(task.target) is None:
        return f"the measure {task.measure.name!r} is taken by the reference loop"
    if len(task.pool) > LARGEST_POOL:
        return f"the pool has {len(task.pool)} points, and compiled engines count them in 32 bits"
    return None


def find_other_choice(task: Task) -> str | None:
    """Return how a task does not show the one point with the largest |f - f*| at every step, None if it does."""
    rule, learner = task.rule, task.learner
    assert rule is not None and isinstance(learner, KernelLearner)
    if not isinstance(rule.choose, Largest | Diverse) or not isinstance(rule.score, Residual):
        return f"it chooses by the largest |f - f*|, and {task.teacher.kind} chooses otherwise"
    if pack_size(task) != 1 or task.has_schedule or task.per_output:
        return "it shows one example per step"
    if couples_outputs(as_loss(learner.loss)):
        return f"the loss {as_loss(learner.loss)!r} couples the outputs"
    return None


def pack_size(task: Task, step: int = 0) -> int:
    """Return how many examples a pack has at a step."""
    k = task.teacher.size
    assert k is not None  # a teacher with a compiled rule has it
    return count_of(k, task.offered, step)

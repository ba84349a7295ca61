"""Warn of a teacher that will be misled: by wrong labels, or by comparing logits with labels."""

from __future__ import annotations

import warnings

import numpy as np

from nimt.arrays import Indices
from nimt.classes import answers, check_classes
from nimt.engines.base import Task
from nimt.errors import InvalidInput, TeacherWarning
from nimt.learners.base import Pupil
from nimt.pools.base import values_on
from nimt.teachers.greedy import GreedyTeacher


def warn_of_misled_teacher(pupil: Pupil, task: Task) -> None:
    """Warn where greedy teaching of classes goes astray; refuse a reference that cannot be compared with the labels."""
    teacher = task.teacher
    if not isinstance(teacher, GreedyTeacher):
        return
    text = of_disagreement(teacher, task) or of_logits(teacher, pupil)
    if text is not None:
        warnings.warn(text, TeacherWarning, stacklevel=4)  # attributed to the line that called teach() or steps()


def of_disagreement(teacher: GreedyTeacher, task: Task) -> str | None:
    """Say at how many points a teacher's labels disagree with the reference it was given."""
    if teacher.reference is None:
        return None
    try:
        check_classes(task.target)
    except InvalidInput as error:
        raise InvalidInput(f"reference= is compared with labels that are classes: {error}") from None
    said = classes_named(teacher.reference, task)
    allowed = np.arange(len(task.pool)) if task.candidates is None else task.candidates
    wrong = int(np.count_nonzero((said != answers(task.target, task.target))[allowed]))
    if wrong == 0:
        return None
    return (
        f"at {wrong} of {len(allowed)} points the label disagrees with the reference: a greedy teacher finds labels "
        f"that are wrong and shows them again and again; teach the reference's own answers, or use "
        f"nimt.UncertaintyTeacher() or nimt.RandomTeacher()"
    )


def classes_named(reference: object, task: Task) -> Indices:
    """Return the class that the reference names at each point, by its column or its place among the labels."""
    values = values_on(task.pool, reference, "the reference")
    if values.shape == task.target.shape:
        return answers(values, task.target)
    columns = np.shape(task.target)[1] if task.target.ndim == 2 else 0
    # a classifier answers by class numbers where the target has a column for each
    known = np.asarray(getattr(reference, "classes_", np.arange(columns)))
    if values.ndim != 1 or len(known) != columns or not np.isin(values, known).all():
        raise InvalidInput(
            f"the reference has shape {values.shape} and the target {task.target.shape}: give the reference as classes "
            f"in the form of the target, or as numbers of its columns"
        )
    return np.asarray(np.searchsorted(known, values), dtype=np.intp)


def of_logits(teacher: GreedyTeacher, pupil: Pupil) -> str | None:
    """Say that the distance of logits from labels is no error: it grows as the learner becomes sure."""
    if teacher.score != "residual" or not getattr(pupil.loss, "couples_outputs", False):
        return None
    return (
        "this teacher chooses by |f - f*|, and under the cross-entropy loss f are logits, which do not tend to the "
        "labels: use nimt.GreedyTeacher(score='loss', loss='crossentropy')"
    )

"""Warn of a learning rate that is too large, and of a teacher that labels or losses mislead, before or afterwards."""

from __future__ import annotations

import warnings

import numpy as np

from nimt.arrays import Array
from nimt.classes import answers
from nimt.engines.base import Task
from nimt.errors import StepSizeWarning, TeacherWarning
from nimt.inheritance import behaves_like
from nimt.learners.base import Pupil
from nimt.learners.kernel import KernelLearner
from nimt.lesson.held_out import names_classes
from nimt.lesson.lesson import Lesson
from nimt.losses import Loss, Square
from nimt.teachers.base import Teacher
from nimt.teachers.greedy import GreedyTeacher
from nimt.teaching.checking import pack_size

CLEARLY = 0.3  # of the points that the most frequent class gets wrong, this share is right
MUCH_LOWER = 0.05  # than the best accuracy on the way
TOO_SHORT = 100  # steps, to judge a lesson by what it has taught


def warn_of_misled_teacher(task: Task, loss: Loss | None) -> None:
    """Warn of what the teacher says will mislead it; a reference that cannot be compared with the labels is refused."""
    if not isinstance(task.teacher, Teacher):
        return
    text = task.teacher.misled_by(task.pool, task.target, task.candidates, loss)
    if text is not None:
        warnings.warn(text, TeacherWarning, stacklevel=4)  # attributed to the line that called teach() or steps()


def warn_of_missed_classes(lesson: Lesson, teacher: object) -> None:
    """Warn after a greedy lesson of classes that are not learned: points among another class are shown all along."""
    inner = getattr(teacher, "teacher", teacher)
    if not isinstance(inner, GreedyTeacher) or len(lesson) < TOO_SHORT:
        return
    seen = missed_classes(lesson)
    if seen is not None:
        text = (
            f"the learner {seen}: classes that overlap mislead a greedy teacher; use nimt.UncertaintyTeacher(), "
            f"nimt.RandomTeacher(), larger packs such as k=0.05, or a smaller learning rate"
        )
        warnings.warn(text, TeacherWarning, stacklevel=4)  # attributed to the line that called teach() or resume()


def missed_classes(lesson: Lesson) -> str | None:
    """Return a clause that says how little was learned of classes, None if enough was, or if there are no classes."""
    target, measures = lesson.target, lesson.measure.name == "accuracy"
    if not (measures or names_classes(target)):
        return None
    truth = answers(target, target)
    held_out = lesson.held_out
    if held_out is not None and held_out.accuracy is not None:
        right, where = held_out.accuracy, "the rows held out"
    else:
        right, where = float(np.mean(answers(lesson.final, target) == truth)), "the rows of the pool"
    usual = float(np.bincount(truth).max()) / len(target)
    if right < usual + CLEARLY * (1.0 - usual):
        return f"is right on {right:.3g} of {where}, and the most frequent class is {usual:.3g}"
    if measures and lesson.discrepancy[-1] < lesson.discrepancy.max() - MUCH_LOWER:
        return f"ends with accuracy {lesson.discrepancy[-1]:.3g}, and had {lesson.discrepancy.max():.3g} on the way"
    return None


def warn_of_step_size(pupil: Pupil, task: Task, gain: float | None) -> None:
    """Warn if the learning rate is too large; "will diverge" is said only where it is proved, else "may"."""
    loss = pupil.loss
    if loss is None or gain is None or gain <= 0:
        return
    tell = getattr(pupil, "rate", None)
    if tell is None:
        return
    rate = float(tell())
    smooth = np.isfinite(loss.smoothness)
    text = _of_smooth_loss(rate, loss, gain, task) if smooth else _of_kinks(rate, pupil, gain, task)
    if text is not None:
        warnings.warn(text, StepSizeWarning, stacklevel=4)  # attributed to the line that called teach() or steps()


def _of_smooth_loss(rate: float, loss: Loss, gain: float, task: Task) -> str | None:
    if loss.smoothness <= 0:
        return None
    bound = 1.0 / (loss.smoothness * gain)
    if rate <= bound * (1 + 1e-12):
        return None
    alone = pack_size(task) == 1
    formula = "1 / (L max K(x, x))" if alone else "1 / (L G)"
    meaning = "" if alone else " (G bounds the norm of a pack's Gram matrix, divided by the size of the pack)"
    if rate <= 2 * bound:
        return (
            f"the learning rate {rate:g} is above the bound {formula} = {bound:g}: steps may overshoot; use at most "
            f"{bound:g}, or learning_rate='auto'{meaning}"
        )
    will = _is_proved_to_diverge(loss, task)
    return (
        f"the learning rate {rate:g} is above {2 * bound:g}, twice the bound {formula}: "
        + ("every step overshoots by more than it corrects and the lesson will" if will else "the lesson may")
        + f" diverge; use at most {bound:g}, or learning_rate='auto'{meaning}"
    )


def _is_proved_to_diverge(loss: Loss, task: Task) -> bool:
    """Say whether every step enlarges the error at the shown example, whatever the teacher chooses."""
    learner = task.learner
    return (
        behaves_like(loss, Square, "slope")
        and isinstance(learner, KernelLearner)
        and learner.kernel.is_stationary()
        and not callable(learner.learning_rate)
        and pack_size(task) == 1
        and task.other_target is None
        and bool(getattr(task.teacher, "shows_true_labels", False))
    )


def _of_kinks(rate: float, pupil: Pupil, gain: float, task: Task) -> str | None:
    """Warn if steps are longer than the distance to the target and, the loss having a kink, do not become shorter."""
    farthest = float(np.max(np.abs(pupil.values - task.target)))
    assert pupil.loss is not None
    steepest = float(np.max(np.abs(pupil.loss.slope(pupil.values, task.target)), initial=0.0))
    length = rate * gain * steepest
    if callable(getattr(task.learner, "learning_rate", None)) or length <= farthest or farthest == 0:
        return None
    moves = (
        f"the learning rate {rate:g} moves the learner by up to {length:.3g} at the example shown, and the target is "
        f"at most {farthest:.3g} away"
    )
    less = f"use less than {farthest / (gain * steepest):.3g}"
    if _has_kink(pupil.loss, task.target, farthest):
        return (
            f"{moves}: with this loss steps do not become shorter, so the lesson cannot end near the target; {less}, "
            f"or a decreasing schedule"
        )
    diverges = " and the lesson may diverge" if length > 2 * farthest else ""
    return f"{moves}: steps may overshoot{diverges}; {less}"


def _has_kink(loss: Loss, target: Array, scale: float) -> bool:
    """Say whether the slope stays away from 0 as f tends to the label; it tends to 0 for |f - y|^3, not for |f - y|."""
    near, nearer = (
        max(float(np.max(np.abs(loss.slope(target + side * share * scale, target)))) for side in (-1, 1))
        for share in (1e-4, 1e-6)
    )
    return nearer > near / 2

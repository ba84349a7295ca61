"""Warn after a greedy lesson of classes that were not learned."""

from __future__ import annotations

import numpy as np

from nimt.classes import answers
from nimt.errors import TeacherWarning, warn
from nimt.lesson.held_out import load_held_out, names_classes
from nimt.lesson.lesson import Lesson
from nimt.measures import Measure
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.teacher import Teacher
from nimt.teachers.wrapping import Wrapping
from nimt.wording import Wording

CLEARLY = 0.3  # of the points that the most frequent class gets wrong, this share is right
MUCH_LOWER = 0.05  # than the best accuracy on the way
TOO_SHORT = 100  # steps, to judge a lesson by what it has taught


def warn_of_missed_classes(lesson: Lesson, teacher: Teacher, measure: Measure) -> None:
    """Warn after a greedy lesson of classes that are not learned: points among another class are shown all along."""
    inner = teacher.inner if isinstance(teacher, Wrapping) else teacher
    if not isinstance(inner, GreedyTeacher) or len(lesson) < TOO_SHORT:
        return
    seen = say_missed_classes(lesson, measure)
    if seen is not None:
        other = Wording(
            "nimt.teachers.UncertaintyTeacher(), nimt.RandomTeacher(), larger packs such as k=0.05",
            "--teacher uncertainty, --teacher random, larger packs such as -k 0.05",
        )
        mislead = f"the learner {seen}: classes that overlap mislead a greedy teacher; use "
        warn(other.embed(mislead, ", or a smaller learning rate"), TeacherWarning)


def say_missed_classes(lesson: Lesson, measure: Measure) -> str | None:
    """Return a clause that says how little was learned of classes, None if enough was, or if there are no classes."""
    target, measures = lesson.target, measure.name == "accuracy"
    if not (measures or names_classes(target)):
        return None
    truth = answers(target, target)
    held_out = lesson.held_out
    if held_out is not None and held_out.accuracy is not None:
        right, where = held_out.accuracy, "the rows held out"
        rows = load_held_out(lesson.settings.get("holdout"), lesson.pool.dimension, target.shape[1:])
        if rows is not None:
            own = rows.for_report()[1]  # labels of the table, where the target may be a model's answers
            truth = answers(own, target)
    else:
        right, where = float(np.mean(answers(lesson.final, target) == truth)), "the rows of the pool"
    usual = float(np.bincount(truth).max()) / len(truth)
    if right < usual + CLEARLY * (1.0 - usual):
        return f"is right on {right:.3g} of {where}, and the most frequent class is {usual:.3g}"
    if measures and lesson.discrepancy[-1] < lesson.discrepancy.max() - MUCH_LOWER:
        return f"ends with accuracy {lesson.discrepancy[-1]:.3g}, and had {lesson.discrepancy.max():.3g} on the way"
    return None

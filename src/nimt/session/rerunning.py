"""A lesson run again, from what it says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nimt.learners.learner import Learner
from nimt.lesson.lesson import Lesson
from nimt.pools.pool import FunctionLike
from nimt.session.stored_task import StoredTask
from nimt.teachers.teacher import SelectsExamples


def run_again(
    lesson: Lesson,
    *,
    seed: int | None = None,
    learner: Learner | None = None,
    teacher: SelectsExamples | None = None,
    y: FunctionLike | None = None,
    allow: Iterable[object] = (),
) -> Lesson:
    """Give a lesson again; see `Lesson.rerun`."""
    settings = lesson.settings if seed is None else {**lesson.settings, "seed": seed}
    fields = {"settings": settings, "pool": lesson.pool, "target": lesson.target, "discrepancy": lesson.discrepancy}
    stored = StoredTask(Path("this lesson"), fields, None, list(allow), is_newest=True, call="lesson.rerun(")
    return stored.task(learner=learner, teacher=teacher, target=y).begin(quiet=True).run()

"""Give the lesson of one task: from the beginning, or from where an earlier process was killed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nimt.errors import CannotStore, CorruptLesson, InvalidInput, StorageWarning, warn
from nimt.lesson.content import KIND
from nimt.lesson.descriptions import describe_task
from nimt.lesson.identity import difference
from nimt.lesson.lesson import Lesson
from nimt.session.session import Callback, Session
from nimt.session.stored_task import StoredTask
from nimt.store.checkpoint_file import CheckpointFile, has_checkpoint, previous_of
from nimt.task.task import Task
from nimt.teachers.teacher import Selection, View
from nimt.teachers.wrapping import Wrapping

UNCHANGED = ("max_iterations", "snapshots")  # beside what makes a lesson this one: these may grow elsewhere


def give(
    task: Task, checkpoint: Path | None = None, *, watch: Callback | None = None, seconds: float | None = None
) -> tuple[Lesson, bool]:
    """Return the lesson of a task, and whether it went on from a checkpoint.

    Parameters
    ----------
    task : Task
    checkpoint : path, optional
        Where checkpoints are kept once the lesson has taken a few seconds. One that cannot be read, or is of another
        lesson, is removed with a warning, and the lesson begins again.
    watch, seconds : as in `Session.run`
    """
    session = task.begin()
    if checkpoint is None:
        return session.run(watch=watch, seconds=seconds), False
    goes_on = has_checkpoint(checkpoint)
    if goes_on:
        try:
            _restore(session, checkpoint)
        except (CorruptLesson, InvalidInput) as error:
            warn(f"{error}: its lesson begins again", StorageWarning)
            for path in (checkpoint, previous_of(checkpoint)):
                path.unlink(missing_ok=True)
            session, goes_on = task.begin(quiet=True), False
    session.checkpoint = LateCheckpoint(checkpoint, task, exists=goes_on)
    session.checkpoint.expects(session.elapsed)
    return session.run(watch=watch, seconds=seconds), goes_on


def _restore(session: Session, checkpoint: Path) -> None:
    stored = StoredTask.read(checkpoint)
    with stored.naming_the_file():
        settings = describe_wholly(session.task)
        differing = difference(stored.settings, settings)
        for name in UNCHANGED:
            if stored.settings[name] != settings[name]:
                differing = name
        if differing is not None:
            raise CorruptLesson(f"{checkpoint} is of another lesson, with another {differing}")
        session.restore(stored)


class LateCheckpoint(CheckpointFile):
    """Checkpoints of lessons most of which are short: nothing is done before one is due, not even at the end.

    Where a learner cannot be stored, none is written at all: its lesson is then given from the beginning.
    """

    def __init__(self, path: Path, task: Task, *, exists: bool) -> None:
        self._path = path
        self._task = task
        self._is_ready = False
        self.exists = exists

    def write(self, make: Callable[[], dict[str, Any]], step: int, elapsed: float, *, is_last: bool = False) -> None:
        if not self.exists and not self.is_due(elapsed):
            return
        if not self._is_ready:
            self._path.parent.mkdir(exist_ok=True)
            super().__init__(self._path, KIND, exists=self.exists)
            describe_wholly(self._task)
            self._is_ready = True
        with contextlib.suppress(CannotStore):
            super().write(make, step, elapsed, is_last=is_last)


def describe_wholly(task: Task) -> dict[str, Any]:
    """Return all settings of a task, also of one in numbers alone, whose checkpoint has them from now on."""
    if not task.keep.learner:
        vars(task)["settings"] = describe_task(task)
    return task.settings


@dataclass(frozen=True, eq=False)
class TimedTeacher(Wrapping):
    """A teacher that measures the time of `select` of another teacher, and chooses what that one chooses."""

    clock: list[float] = field(default_factory=lambda: [0.0], repr=False)

    @property
    def original(self) -> object:
        return self.inner.original  # the record is that of the teacher, not of its clock

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def colour(self) -> str | None:
        return self.inner.colour

    def select(self, view: View) -> Selection:
        began = time.perf_counter()
        try:
            return self.inner.select(view)
        finally:
            self.clock[0] += time.perf_counter() - began

    @property
    def seconds(self) -> float:
        """The seconds that choosing took so far."""
        return self.clock[0]

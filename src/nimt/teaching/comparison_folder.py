"""The lessons of a comparison in a folder, so that one that was stopped goes on where it was."""

from __future__ import annotations

import dataclasses
import re
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from nimt.errors import InvalidInput
from nimt.lesson.checkpoints import previous_of
from nimt.lesson.identity import difference, digest
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.session.session import Callback
from nimt.session.stored_task import StoredTask, has_checkpoint
from nimt.task.task import Task

CHOOSING = "choosing_seconds"  # in the settings of a kept lesson


class HasSeconds(Protocol):
    """What knows how many seconds something took."""

    @property
    def seconds(self) -> float: ...


class KeptLessons:
    """Finished lessons by name and seed, and the checkpoint of the one that was under way.

    Parameters
    ----------
    folder : path
        Made if it is missing.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder: Path = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InvalidInput(f"the checkpoint of a comparison is a folder, and {self.folder} is a file")
        if not self.folder.parent.is_dir():
            raise InvalidInput(f"there is no folder {self.folder.parent} to keep the lessons of a comparison in")
        self.folder.mkdir(exist_ok=True)

    def give(
        self,
        name: str,
        seed: int,
        task: Task,
        watch: Callback | None,
        seconds: float | None,
        timed: HasSeconds | None = None,
    ) -> Lesson:
        """Return the lesson of a task: as it was kept, or run to the end from where it was stopped, and kept.

        `timed` knows the seconds that the teacher took to choose. They are kept too, but not of a lesson that was
        stopped and went on.
        """
        stem = f"{_file_name(name)}-{seed}"
        finished, checkpoint = self.folder / f"{stem}.lesson.npz", self.folder / f"{stem}.checkpoint.npz"
        if finished.exists():
            lesson = Lesson.load(finished)
            self._check(lesson.settings, task, finished)
            return lesson
        session = task.begin()
        stored = StoredTask.read(checkpoint) if has_checkpoint(checkpoint) else None
        if stored is not None:
            self._check(stored.settings, task, checkpoint)
            session.restore(stored)
        session.keep_checkpoints(checkpoint, stored)
        lesson = session.run(watch=watch, seconds=seconds)
        if lesson.outcome is not Outcome.INTERRUPTED:
            if timed is not None and stored is None:
                lesson = dataclasses.replace(lesson, settings=lesson.settings | {CHOOSING: timed.seconds})
            lesson.save(finished)
            for path in (checkpoint, previous_of(checkpoint)):
                path.unlink(missing_ok=True)
        return lesson

    def _check(self, kept: dict[str, Any], task: Task, path: Path) -> None:
        differing = difference(kept, task.settings)
        for name in ("max_iterations", "snapshots"):
            if kept[name] != task.settings[name]:
                differing = name
        if differing is not None:
            raise InvalidInput(
                f"{path} is of another comparison, with another {differing}: give this one a folder of its own"
            )


def _file_name(name: str) -> str:
    """Return a name that every file system takes, and another for every other name.

    Examples
    --------
    >>> _file_name("greedy"), _file_name("greedy:1")
    ('greedy', 'greedy_1-523fd701')
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "_", name)[:60]
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"

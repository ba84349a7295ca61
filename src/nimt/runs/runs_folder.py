"""A folder of lessons: one line per finished lesson, appended at once, which several processes may share.

`lessons.jsonl` has the lines, `lessons/` the whole lessons where they are kept, `under-way/` the checkpoints of those
that are being given, `.locks/` what is held while a process gives a lesson or writes a line.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from nimt.errors import CorruptLesson, InvalidInput, MissingFile, StorageWarning
from nimt.learners.learner import StartsFromInitial
from nimt.lesson.lesson import Lesson
from nimt.runs.entries import CutShort, Entry, choose_kept_steps, entry_of_line
from nimt.store.checkpoint_file import previous_of
from nimt.store.claims import hold
from nimt.store.line_file import LineFile

if TYPE_CHECKING:
    from filelock import BaseFileLock

ROWS = "lessons.jsonl"
LESSONS = "lessons"
UNDER_WAY = "under-way"
LOCKS = ".locks"


class RunsFolder:
    """Lessons by key, on disk.

    A line is written whole or, after a kill, not (`LineFile`). It is written after the lesson, and its checkpoint is
    removed after the line. So what has a line is there, and what has none is given again, or goes on from there.

    Parameters
    ----------
    path : path
        Made if it is missing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(path)
        self._lines = LineFile(self.rows, lock_of(self.path, "rows"))
        if self.path.exists() and not self.path.is_dir():
            raise InvalidInput(f"lessons are kept in a folder, and {str(self.path)!r} is a file: name a folder")
        try:
            (self.path / LOCKS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"the folder {str(self.path)!r} cannot be made or written to: {error.strerror}"
            ) from None
        if not self._lines.holds(b'"key"'):
            raise InvalidInput(f"{str(self.rows)!r} is not a file of lessons that nimt wrote: name another folder")
        self.entries: dict[str, Entry] = {}
        self._one_thread = threading.RLock()  # the workers ask for lessons while others are written down
        self._claims: dict[str, BaseFileLock] = {}
        self.refresh()

    @classmethod
    def open(cls, path: str | os.PathLike[str], what: str) -> RunsFolder:
        """Return a folder that holds lessons, or say that there is none; `what` is a word for them."""
        if not isinstance(path, str | os.PathLike):
            raise InvalidInput(f"a {what} is loaded from the path of its folder, got {path!r}")
        if not (Path(path) / ROWS).is_file():
            raise MissingFile(f"there is no {what} in {str(path)!r}: name the folder that was its out=")
        return cls(path)

    @property
    def rows(self) -> Path:
        return self.path / ROWS

    def refresh(self) -> None:
        """Take up the lines that were written since, by this process or another."""
        with self._one_thread:
            altered = []
            for line in self._lines.read_new():
                try:
                    entry = entry_of_line(line)
                except CutShort:  # by a kill: that lesson is given again
                    continue
                except CorruptLesson as error:
                    altered.append(str(error))
                else:
                    self.entries[entry.key] = entry
            if altered:
                warnings.warn(
                    f"{self.rows} has lines that are left out ({len(altered)}), their lessons count as not given: "
                    f"{altered[0]}",
                    StorageWarning,
                    stacklevel=4,
                )

    def claim(self, key: str, *, again: bool = False) -> bool:
        """Take a lesson for this process; False if it is known by now, or if another process is giving it.

        `again` takes one that is known too, to give it once more.
        """
        with self._one_thread:
            try:
                lock = hold(lock_of(self.path, key))
            except OSError:  # locks cannot be had here: at worst, two processes give the same lesson
                return True
            if lock is None:
                return False
            self.refresh()
            if key in self.entries and not again:
                self._drop(key, lock)
                return False
            self._claims[key] = lock
            return True

    def add(self, entry: Entry, lesson: Lesson | None = None) -> None:
        """Append the entry, and the lesson where lessons are kept; the claim on it ends."""
        with self._one_thread:
            self._save(entry.key, lesson)
            self._lines.append(entry.to_line())
            self.entries[entry.key] = entry
            checkpoint = checkpoint_of(self.path, entry.key)
            if checkpoint.parent.is_dir():
                for path in (checkpoint, previous_of(checkpoint)):
                    path.unlink(missing_ok=True)
            self.release(entry.key)

    def replace(self, lessons: Iterable[tuple[Entry, Lesson]]) -> None:
        """Write these lessons, and lines of them alone: those of before stay whole until then."""
        lines = []
        for entry, lesson in lessons:
            self._save(entry.key, lesson)
            lines.append(entry.to_line())
        self._lines.replace(lines)

    def _save(self, key: str, lesson: Lesson | None) -> None:
        if lesson is not None:
            self.lesson_path(key).parent.mkdir(exist_ok=True)
            lesson.save(self.lesson_path(key))

    def release(self, *keys: str) -> None:
        """Give back lessons that were claimed, all of them where none is named."""
        with self._one_thread:
            for key in keys or tuple(self._claims):
                if key in self._claims:
                    self._drop(key, self._claims.pop(key))

    def lesson_path(self, key: str) -> Path:
        """Return where the lesson of a key is kept, if lessons are."""
        return self.path / LESSONS / f"{key}.npz"

    def drop_lessons(self, problem: str) -> None:
        """Remove the whole lessons on a problem; their lines stay."""
        self.refresh()
        for entry in self.entries.values():
            if entry.problem == problem:
                self.lesson_path(entry.key).unlink(missing_ok=True)

    def load(self, entry: Entry, allow: Iterable[object] = ()) -> Lesson:
        """Return the lesson of an entry; `MissingFile` if it is not kept, `CorruptLesson` if it is not that lesson."""
        path = self.lesson_path(entry.key)
        if not path.is_file():
            raise MissingFile(f"the lesson {entry.key} is not kept: give out=, keep_lessons=True")
        lesson = Lesson.load(path, allow=allow)
        told = tuple(lesson.discrepancy[choose_kept_steps(len(lesson))].tolist())
        # repr, since a number that is not one does not equal itself
        if repr((told, lesson.settings["seed"])) != repr((entry.curve, entry.seed)):
            raise CorruptLesson(f"{path} is not the lesson that its line in {ROWS} tells of")
        return lesson

    def find(self, entry: Entry, learner: object) -> Lesson | None:
        """Return the lesson of an entry as it was given to this learner, None if it has to be given again."""
        parts = [learner, *getattr(learner, "__dict__", {}).values()]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StorageWarning)  # of a file that has only the state of a learner
                lesson = self.load(entry, [*map(type, parts), *filter(callable, parts)])
            if lesson.learner is None:
                with contextlib.suppress(InvalidInput):
                    return Lesson.load(self.lesson_path(entry.key), learner=learner)
        except MissingFile:
            return None
        except CorruptLesson as error:
            warnings.warn(f"{error}: it is given again", StorageWarning, stacklevel=4)
            return None
        if isinstance(learner, StartsFromInitial) and isinstance(lesson.taught, StartsFromInitial):
            lesson.taught.initial = learner.initial  # a file has its values on the pool alone
        return lesson

    def _drop(self, key: str, lock: BaseFileLock) -> None:
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            lock_of(self.path, key).unlink()  # while it is held: whoever waits for it notices
        lock.release()


def lock_of(folder: Path, name: str) -> Path:
    """Return the file that is held while a lesson is given."""
    return folder / LOCKS / name


def checkpoint_of(folder: Path, key: str) -> Path:
    """Return where a lesson that is being given keeps its checkpoints."""
    return folder / UNDER_WAY / f"{key}.npz"

"""A task that a file holds: read once, made again, and compared with the one that a caller asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nimt.arrays import check_count
from nimt.errors import CannotStore, CorruptLesson, InvalidInput, MissingFile, NimtError
from nimt.learners.learner import Learner
from nimt.lesson.content import KIND, fields_of
from nimt.lesson.descriptions import is_foreign, rebuild
from nimt.lesson.identity import difference
from nimt.lesson.lesson import Lesson
from nimt.option_table import OPTIONS
from nimt.pools.pool import FunctionLike
from nimt.store.checkpoint_file import checkpoint_place, has_checkpoint, read_checkpoint
from nimt.task.task import Task
from nimt.teachers.teacher import SelectsExamples

LESSON_FILE = "lesson.npz"  # in the folder of a run
ON_EXISTING = ("refuse", "resume", "replace")
CALLED = {"pool": "X", "box": "X", "target": "y", "target_function": "y"}  # as `teach` calls them


@dataclass(frozen=True, eq=False)
class StoredTask:
    """What a file holds of a lesson: its fields, and the state from which it goes on, if it has one."""

    path: Path
    fields: dict[str, Any]
    state: dict[str, Any] | None
    allow: list[object]
    is_newest: bool  # whether it is not the one before a file that is damaged or missing
    call: str = ""  # what a caller writes to pass what could not be made again; by default that of `nimt.resume`

    @classmethod
    def read(cls, path: Path, *, allow: list[object] | None = None) -> StoredTask:
        """Read a file, or the one before it if it is damaged or missing; of the folder of a run, its lesson."""
        if path.is_dir():
            path = path / LESSON_FILE
            if not has_checkpoint(path):
                raise MissingFile(f"{str(path.parent)!r} is a folder without {LESSON_FILE}: name a lesson file")
        content, is_newest = read_checkpoint(path, KIND)
        with name_file(path):
            return cls(path, fields_of(content, path, allow or []), content["state"], allow or [], is_newest)

    @property
    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self.fields["settings"]
        return settings

    @property
    def lesson(self) -> Lesson:
        """The lesson so far; its learner is made again when it is asked for."""
        return Lesson(**self.fields)

    def naming_the_file(self) -> contextlib.AbstractContextManager[None]:
        """Turn what goes wrong with an altered file into `CorruptLesson`."""
        return name_file(self.path)

    def task(
        self,
        *,
        learner: Learner | None = None,
        teacher: SelectsExamples | None = None,
        target: FunctionLike | None = None,
        max_iterations: int | None = None,
        snapshots: Iterable[int] = (),
    ) -> Task:
        """Return the task again, with another budget and more snapshots if asked for."""
        settings = self.settings
        box = settings["box"]
        held = settings["holdout"]
        options = {name: settings[name] for name, option in OPTIONS.items() if option.is_plain and name in settings}
        if max_iterations is not None:
            check_count("max_iterations", max_iterations, at_least=0)
            step = len(self.fields["discrepancy"]) - 1
            if max_iterations < step:
                problem = f"is {max_iterations}, and the lesson stands at step {step}"
                raise InvalidInput(problem, parameter="max_iterations", way_out="give at least that")
            options["max_iterations"] = max_iterations
            options["snapshots"] = [kept for kept in options["snapshots"] if kept <= max_iterations]
        options["snapshots"] = [*options["snapshots"], *snapshots]
        return Task.of(
            learner if learner is not None else self._rebuild(settings["learner"], "learner"),
            teacher if teacher is not None else self._rebuild(settings["teacher"], "teacher"),
            self.fields["pool"] if box is None else rebuild(box),
            self.fields["target"] if box is None else self._function_in_box(target),
            measure=self._rebuild(settings["measure"], "measure"),
            holdout=None if held is None else (held["points"], held["target"], held.get("choosing", 0)),
            engine=rebuild(settings["engine"]),
            target_function=self._target_function(target),
            planned_steps=settings["planned_steps"],
            **options,
        )

    def _rebuild(self, description: Any, name: str) -> Any:
        try:
            return rebuild(description, self.allow)
        except CannotStore as error:
            call = self.call or f"nimt.resume({str(self.path)!r}, "
            raise InvalidInput(f"{error}: {call}{name}=...)") from None

    def _function_in_box(self, target: FunctionLike | None) -> Any:
        """Return the target of a lesson in a box, where it must be a function."""
        return target if target is not None else self._rebuild(self.settings["target_function"], "y")

    def _target_function(self, target: FunctionLike | None) -> object:
        """Return the target as the learner that was given, None if the measure only needs its values."""
        if target is not None:
            return target
        described, measure = self.settings["target_function"], self.settings["measure"]
        if measure not in ("rkhs", "parameters") or described is None or is_foreign(described):
            return None
        try:
            return rebuild(described, self.allow)
        except CannotStore as error:
            raise InvalidInput(
                f"this lesson measures {measure!r} against a learner, and {error}: resume(..., y=...)"
            ) from None

    def check_same(self, task: Task) -> None:
        """Refuse a task that is not the one this file was written for."""
        differing = difference(self.settings, task.settings)
        if differing is not None:
            raise InvalidInput(
                f"{str(self.path)!r} holds another lesson, with another {CALLED.get(differing, differing)}: name "
                f"another file, or overwrite it by on_existing='replace' (nimt.resume goes on with code that you "
                f"changed)"
            )


@contextlib.contextmanager
def name_file(path: Path) -> Iterator[None]:
    """Turn what goes wrong with an altered file into `CorruptLesson`."""
    try:
        yield
    except CorruptLesson as error:
        raise CorruptLesson(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    except NimtError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
        raise CorruptLesson(f"{path} is marked as a lesson but its content is incomplete: {error!r}") from None


def goes_on(path: Path, on_existing: str, seed: int | None) -> bool:
    """Say whether a lesson continues what is at `path`; refuse to overwrite it unless that was asked for."""
    if on_existing not in ON_EXISTING:
        raise InvalidInput(f"must be one of {', '.join(ON_EXISTING)}, got {on_existing!r}", parameter="on_existing")
    if on_existing == "resume" and seed is None:
        raise InvalidInput("on_existing='resume' needs a seed: seed=None draws another one at every start")
    checkpoint_place(path)
    if on_existing == "replace" or not has_checkpoint(path):
        return False
    if on_existing == "resume":
        return True
    raise InvalidInput(
        f"{str(path)!r} already holds a lesson: on_existing='resume' continues it if it is this one, "
        f"on_existing='replace' overwrites it; or name another file"
    )

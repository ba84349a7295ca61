"""`Runs`: a collection of lessons to give, and where they are kept. Comparisons and sweeps are views of one."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from nimt._version import __version__
from nimt.errors import InvalidInput
from nimt.lesson.descriptions import describe, is_own
from nimt.lesson.identity import check_identified, fingerprint
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.option_table import USUAL, Options
from nimt.runs.combinations import Planned
from nimt.runs.entries import Entry, entry_of_lesson, sentence_of
from nimt.runs.giving import TimedTeacher, give
from nimt.runs.runs_folder import RunsFolder, checkpoint_of, lock_of
from nimt.runs.seeding import check_seeds, over_seeds
from nimt.runs.sweep_progress import Listener, SweepProgress
from nimt.runs.workers import Workers, check_jobs
from nimt.session.session import Callback
from nimt.task.options import check_options
from nimt.task.task import Task

LOOK_AGAIN = 0.2  # seconds between two looks at the lessons that another process is giving


class Runs:
    """Lessons by plan and seed: those that are known, and those that are still to be given.

    Parameters
    ----------
    plans : list of Planned
    seeds : int or list of int
    rules : dict
        The options of all lessons, as `Task.of` takes them, and `time_limit`.
    out : path of a folder, optional
        Where lessons are kept and found again.
    n_jobs : int
    keep_lessons : bool
        Keep whole lessons too: in the folder, or without one as `lessons`.
    in_memory : bool
        Have the lessons as `lessons`, by key, also those that were found in the folder.
    retry_failed : bool
        Give the lessons again that failed in an earlier call.
    raises : bool
        Raise the error of a lesson that cannot be given, instead of keeping its sentence.
    watch : callable of Progress, optional
        Called while lessons run.
    """

    def __init__(
        self,
        plans: Sequence[Planned],
        seeds: int | Iterable[int],
        rules: Mapping[str, Any],
        out: str | PathLike[str] | None = None,
        *,
        n_jobs: int = -1,
        keep_lessons: bool = False,
        in_memory: bool = False,
        retry_failed: bool = False,
        raises: bool = False,
        watch: Callback | None = None,
    ) -> None:
        check_jobs(n_jobs)
        self.plans = plans
        self.seeds: Sequence[int] = check_seeds(seeds)
        self.n_jobs = n_jobs
        self.retry_failed = retry_failed
        self.progress: Listener | None = None
        self._things: list[object] = list({id(thing): thing for plan in plans for thing in plan.given}.values())
        if out is not None:
            check_identified(describe([dict(rules), self._things]))
        self.folder: RunsFolder | None = None if out is None else RunsFolder(out)
        path = None if self.folder is None else self.folder.path.absolute()
        self.way: Way = Way(dict(rules), keep_lessons or in_memory, raises, watch, path)
        told = fingerprint(describe(deciding_rules(rules, with_record=self.way.keeps)))
        self.keys: dict[tuple[int, int], str] = {
            (place, seed): plan.key(seed, told) for place, plan in enumerate(plans) for seed in self.seeds
        }
        self.places: dict[str, int] = {key: place for (place, _), key in self.keys.items()}
        self.lessons: dict[str, Lesson] | None = {} if in_memory else None
        self.known: dict[str, Entry] = {}
        self.failed: int = 0
        self.stale: set[str] = set()  # known in the folder, and to be given again
        for key in self.keys.values():
            if self.folder is not None and key in self.folder.entries:
                self._take_up(self.folder.entries[key])
        self.wanted: Mapping[int, Sequence[int]] = {}  # place of a plan -> the seeds that count
        self.before: int = len(self.known)
        self.began: float = time.perf_counter()
        self._workers: Workers | None = None

    def run(self, progress: Listener | None = None) -> None:
        """Give every lesson that is not known, over all seeds where the teacher draws."""
        self.progress = progress
        self._tell()
        teachers = {place: plan.given[3] for place, plan in enumerate(self.plans)}
        try:
            self.wanted = over_seeds(teachers, self.seeds, self._give, self._drew)
        finally:
            if self._workers is not None:
                self._workers.close()
            if self.folder is not None:
                self.folder.release()

    def entries_of(self, place: int) -> list[Entry]:
        """Return the lessons of a plan that count: of a teacher that drew nothing, the first seed stands for all."""
        return [self.known[self.keys[place, seed]] for seed in self.wanted[place]]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lessons that count, in the order of the plans."""
        return tuple(entry for place in self.wanted for entry in self.entries_of(place))

    def _drew(self, place: int) -> bool:
        """Say whether a teacher draws, as far as is known: its first lesson has shown it, or is still to be given."""
        first = self.known.get(self.keys[place, self.seeds[0]])
        return first is None or first.drew

    def _give(self, lessons: list[tuple[int, int]]) -> None:
        while waiting := [lesson for lesson in lessons if self.keys[lesson] not in self.known]:
            if self._workers is None:  # not sooner: if everything is known, nothing has to be sent to a cluster
                self._workers = Workers(self.n_jobs, self._things)
            before = len(self.known), len(self.stale)
            self._give_what_is_free(self._workers, waiting)
            if (len(self.known), len(self.stale)) == before:  # another process is giving the others
                time.sleep(LOOK_AGAIN)

    def _give_what_is_free(self, workers: Workers, lessons: list[tuple[int, int]]) -> None:
        at_once = self.folder is not None  # each lesson is written down as it ends
        with contextlib.closing(workers.each(give_one, self._calls(lessons), at_once=at_once)) as results:
            for entry, lesson in results:
                if entry is None:
                    raise KeyboardInterrupt  # an incomplete collection would mislead
                if self.folder is not None:
                    self.folder.add(entry, lesson)
                if self.lessons is not None and lesson is not None:
                    self.lessons[entry.key] = lesson
                self._note(entry)
                self._tell()

    def _calls(self, lessons: list[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
        """Yield the arguments of each lesson that this process may give; called whenever a worker is free."""
        for place, seed in lessons:
            plan, key = self.plans[place], self.keys[place, seed]
            if self.folder is not None and not self.folder.claim(key, again=key in self.stale):
                found = self.folder.entries.get(key)
                if found is not None and key not in self.stale:  # of another process
                    self._take_up(found)
                continue
            yield *plan.given, plan.which(key, seed), self.way

    def _take_up(self, entry: Entry) -> None:
        """Note a lesson that the folder has, or that it has to be given again."""
        assert self.folder is not None
        if entry.error is not None:
            is_kept = not self.retry_failed
        elif self.lessons is not None:
            lesson = self.folder.find(entry, self.plans[self.places[entry.key]].given[2])
            is_kept = lesson is not None
            if lesson is not None:
                self.lessons[entry.key] = lesson
        else:
            is_kept = not self.way.keeps or self.folder.lesson_path(entry.key).is_file()
        if is_kept:
            self._note(entry)
        else:
            self.stale.add(entry.key)

    def _note(self, entry: Entry) -> None:
        self.known[entry.key] = entry
        self.failed += entry.error is not None

    def _tell(self) -> None:
        if self.progress is None:
            return
        drawing = sum(map(self._drew, range(len(self.plans))))
        total = drawing * len(self.seeds) + len(self.plans) - drawing
        done = len(self.known)
        elapsed, now = time.perf_counter() - self.began, done - self.before
        left = elapsed / now * (total - done) if now > 0 else None
        self.progress(SweepProgress(done, total, self.failed, elapsed, left))


@dataclass(frozen=True, eq=False)
class Way:
    """How all lessons of a collection are given.

    Attributes
    ----------
    rules : dict
    keeps : bool
        Whether whole lessons are kept.
    raises : bool
        Whether a lesson that cannot be given raises its error.
    watch : callable of Progress, or None
    folder : path or None
        Where checkpoints are written, as far as the worker sees this folder.
    """

    rules: dict[str, Any]
    keeps: bool
    raises: bool
    watch: Callback | None
    folder: Path | None


def give_one(
    place: Any, target: Any, learner: Any, teacher: Any, which: dict[str, Any], way: Way
) -> tuple[Entry | None, Lesson | None]:
    """Give one lesson where this runs; return what is kept of it, or the sentence of what went wrong."""
    if "error" in which:
        return Entry(**which, nimt=__version__), None
    if not is_own(teacher):
        with contextlib.suppress(Exception):  # a teacher of the user may remember, and other threads use it too
            teacher = copy.deepcopy(teacher)
    timed = TimedTeacher(teacher) if way.rules.get("engine") == "reference" else None
    is_seen = way.folder is not None and lock_of(way.folder, which["key"]).exists()
    checkpoint = checkpoint_of(way.folder, which["key"]) if way.folder is not None and is_seen else None
    in_numbers = not way.keeps and way.rules.get("holdout") is None  # faster, and without the learner
    options = {"record": "auto" if way.keeps else "picks", "numbers_only": in_numbers} | way.rules
    seconds = options.pop("time_limit", None)
    try:
        task = Task.of(learner, timed or teacher, place, target, seed=which["seed"], **options)
        lesson, went_on = give(task, checkpoint, watch=way.watch, seconds=seconds)
    except Exception as error:
        if way.raises:
            raise
        return Entry(**which, error=sentence_of(error), nimt=__version__), None
    if lesson.outcome is Outcome.INTERRUPTED:
        return None, None
    choosing = None if timed is None or went_on else timed.seconds
    return entry_of_lesson(lesson, choosing=choosing, **which), lesson if way.keeps else None


def check_rules(caller: str, **options: Any) -> dict[str, Any]:
    """Return the rules of all lessons, checked before the first; `caller` is the function that takes them."""
    for name in options:
        if name not in USUAL and name != "time_limit":
            way_out = (
                "out= names the folder for finished lessons" if name == "checkpoint" else "see the options of teach()"
            )
            raise InvalidInput(f"{caller}() does not take {name}: {way_out}")
    check_options(Options(**{name: value for name, value in options.items() if name != "time_limit"}))
    return options


def deciding_rules(rules: Mapping[str, Any], *, with_record: bool) -> dict[str, Any]:
    """Return the rules that are part of a key: not those left as they usually are, nor what changes no number kept.

    Examples
    --------
    >>> deciding_rules({"max_iterations": 9, "tol": "auto", "engine": "auto", "record": "all"}, with_record=False)
    {'max_iterations': 9}
    """
    return {
        name: value
        for name, value in rules.items()
        if (name != "record" or with_record) and not (name in USUAL and _equals(value, USUAL[name]))
    }


def _equals(value: object, usual: object) -> bool:
    return value is usual or (type(value) is type(usual) and isinstance(value, str | tuple | bool) and value == usual)

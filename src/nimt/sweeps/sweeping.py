"""`nimt.sweep`: give many lessons side by side, write each down as it ends, and go on where an earlier call stopped."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from nimt import defaults
from nimt._version import __version__
from nimt.errors import InvalidInput
from nimt.lesson.descriptions import describe, is_own
from nimt.lesson.identity import check_identified
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.sweeps.combinations import Planned, plan_combinations
from nimt.sweeps.entries import Entry, entry_of_lesson, sentence_of
from nimt.sweeps.folder import SweepFolder
from nimt.sweeps.progress import Listener, SweepProgress, check_sweep_progress, sweep_bar
from nimt.sweeps.sweep import Sweep
from nimt.task.rules import OPTIONS, Options, Tolerance
from nimt.task.task import Task
from nimt.teaching.parallel import Workers, check_jobs
from nimt.teaching.seeding import check_seeds, over_seeds

LOOK_AGAIN = 0.2  # seconds between two looks at the lessons that another process is giving
NOT_OF_A_SWEEP = ("seed", "callback", "checkpoint", "snapshots")


def sweep(
    problems: object,
    learners: object,
    teachers: object,
    *,
    max_iterations: int = defaults.MAX_ITERATIONS,
    tol: Tolerance = defaults.TOL,
    seeds: int | Iterable[int] = defaults.SEEDS,
    out: str | PathLike[str] | None = None,
    n_jobs: int = -1,
    keep_lessons: bool = False,
    retry_failed: bool = False,
    progress: bool | str | Listener = False,
    **options: Any,
) -> Sweep:
    """Give every learner a lesson by every teacher on every problem, over several seeds, and keep the numbers.

    Lessons run side by side in threads. In `joblib.parallel_config(backend="loky")` they run in processes, in
    `joblib.parallel_config(backend="dask")` on the cluster of the Dask client.

    Parameters
    ----------
    problems : pair (X, y) as `teach` takes them, nimt.Problem, name such as "gmm"; or a list, or a dict of name -> one
    learners : learner, list, or dict of name -> learner
        A function of the problem may stand for one: `lambda problem: KernelLearner(..., initial=problem.initial)`.
    teachers : teacher, list, or dict of name -> teacher
        A function of the problem may stand for a teacher too.
    max_iterations, tol : as in `teach`
    seeds : int or list of int
        A count n means 0, ..., n - 1. A teacher that draws nothing from the seed is run once.
    out : path of a folder, optional
        One line is appended per finished lesson. The same call again gives only the lessons that are missing; several
        processes may share the folder. A lesson is known by its settings, its names, the version of nimt, and the code
        of your functions and classes: where that changes, the lesson is given again.
    n_jobs : int
        Lessons at a time; -1 is one per core. A cluster decides for itself.
    keep_lessons : bool
        Keep the whole lessons too; `Sweep.lesson(key)` loads one.
    retry_failed : bool
        Give the lessons again that failed in an earlier call.
    progress : bool, "auto" or callable of SweepProgress
        True shows a bar: lessons done, lessons failed, time left; "auto" shows it in a terminal or a notebook if the
        sweep takes longer than a second. A function is called after every lesson instead.
    **options : as in `teach`
        `measure`, `stop_when_stationary`, `patience`, `time_limit`, `engine`, `record`.

    Returns
    -------
    Sweep
        A lesson that cannot be given is an entry with the sentence that says why. Ctrl-C raises KeyboardInterrupt; what
        was finished is in `out`.

    Examples
    --------
    >>> import nimt, numpy as np
    >>> learners = {rate: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=rate) for rate in (0.1, 0.5)}
    >>> found = nimt.sweep((nimt.Grid(np.arange(-3, 3, 0.1)), np.sin), learners, nimt.GreedyTeacher(),
    ...                    max_iterations=500, tol=1e-2)
    >>> [(entry.learner, entry.itd) for entry in found.entries]
    [('0.1', 60), ('0.5', 8)]
    """
    for name in NOT_OF_A_SWEEP:
        if name in options:
            why = f"seeds=[{options[name]!r}]" if name == "seed" else "use teach() for a single lesson"
            raise InvalidInput(f"sweep() does not take {name}: {why}")
    check_jobs(n_jobs)
    check_sweep_progress(progress)
    if keep_lessons and out is None:
        raise InvalidInput("keep_lessons=True needs a folder: give out=")
    rules = check_rules(max_iterations=max_iterations, tol=tol, **options)
    several = check_seeds(seeds)
    plans = plan_combinations(problems, learners, teachers)
    if out is not None:
        check_identified(describe([rules, list({id(one): one for plan in plans for one in plan.given}.values())]))
    folder = None if out is None else SweepFolder(out)
    with sweep_bar(progress) as listener:
        return give_sweep(
            plans, several, rules, folder, n_jobs=n_jobs, keep_lessons=keep_lessons, retry_failed=retry_failed,
            progress=listener,
        )  # fmt: skip


def check_rules(**options: Any) -> dict[str, Any]:
    """Return the rules of all lessons, checked before the first."""
    for name in options:
        if name not in OPTIONS and name != "time_limit":
            raise InvalidInput(f"sweep() does not take {name}: see the options of teach()")
    Options(**{name: value for name, value in options.items() if name != "time_limit"}).check()
    return options


def give_sweep(
    plans: Sequence[Planned],
    seeds: Sequence[int],
    rules: Mapping[str, Any],
    folder: SweepFolder | None = None,
    *,
    n_jobs: int = -1,
    keep_lessons: bool = False,
    retry_failed: bool = False,
    progress: Listener | None = None,
) -> Sweep:
    """Give the lessons of a sweep that are not known yet, and return them all, in the order of the plans."""
    run = SweepRun(plans, seeds, rules, folder, n_jobs, keep_lessons, retry_failed, progress)
    try:
        run.run()
    finally:
        if run.workers is not None:
            run.workers.close()
        if folder is not None:
            folder.release()
    return Sweep(run.entries(), None if folder is None else folder.path)


class SweepRun:
    """A sweep under way: which lessons are known, and which are still to be given."""

    def __init__(
        self,
        plans: Sequence[Planned],
        seeds: Sequence[int],
        rules: Mapping[str, Any],
        folder: SweepFolder | None,
        n_jobs: int,
        keep_lessons: bool,
        retry_failed: bool,
        progress: Listener | None,
    ) -> None:
        self.plans = plans
        self.seeds = seeds
        self.rules: dict[str, Any] = dict(rules)
        self.folder = folder
        self.n_jobs = n_jobs
        self.workers: Workers | None = None
        self.keep_lessons = keep_lessons
        self.progress = progress
        told = {name: value for name, value in self.rules.items() if name != "record"}  # it changes no number
        self.keys: dict[tuple[int, int], str] = {
            (place, seed): plan.key(seed, told) for place, plan in enumerate(plans) for seed in seeds
        }
        self.known: dict[str, Entry] = {}
        self.stale: set[str] = set()  # known in the folder, and to be given again
        if folder is not None:
            mine = [folder.entries[key] for key in self.keys.values() if key in folder.entries]
            self.stale = {entry.key for entry in mine if self._is_stale(entry, retry_failed)}
            self.known = {entry.key: entry for entry in mine if entry.key not in self.stale}
        self.wanted: Mapping[int, Sequence[int]] = {}  # place of a plan -> the seeds that count
        self.before: int = len(self.known)
        self.failed: int = sum(entry.error is not None for entry in self.known.values())
        self.began: float = time.perf_counter()

    def run(self) -> None:
        """Give every lesson that is not known, over all seeds where the teacher draws."""
        self._tell()
        teachers = {place: plan.given[3] for place, plan in enumerate(self.plans)}
        self.wanted = over_seeds(teachers, self.seeds, self._give, self._drew)

    def entries(self) -> tuple[Entry, ...]:
        """Return the lessons that count: of a teacher that drew nothing, the first seed stands for all."""
        return tuple(self.known[self.keys[place, seed]] for place, several in self.wanted.items() for seed in several)

    def _drew(self, place: int) -> bool:
        """Say whether a teacher draws, as far as is known: its first lesson has shown it, or is still to be given."""
        first = self.known.get(self.keys[place, self.seeds[0]])
        return first is None or first.drew

    def _give(self, lessons: list[tuple[int, int]]) -> None:
        while waiting := [lesson for lesson in lessons if self.keys[lesson] not in self.known]:
            if self.workers is None:  # not sooner: if everything is known, nothing has to be sent to a cluster
                shared = {id(thing): thing for plan in self.plans for thing in plan.given}
                self.workers = Workers(self.n_jobs, list(shared.values()))
            before = len(self.known)
            self._give_what_is_free(waiting)
            if len(self.known) == before:  # another process is giving the others
                time.sleep(LOOK_AGAIN)

    def _give_what_is_free(self, lessons: list[tuple[int, int]]) -> None:
        assert self.workers is not None
        at_once = self.folder is not None  # each lesson is written down as it ends
        with contextlib.closing(self.workers.each(_one, self._calls(lessons), at_once=at_once)) as results:
            for entry, lesson in results:
                if entry is None:
                    raise KeyboardInterrupt
                if self.folder is not None:
                    self.folder.add(entry, lesson)
                self._note(entry)
                self._tell()

    def _calls(self, lessons: list[tuple[int, int]]) -> Iterator[tuple[Any, ...]]:
        """Yield the arguments of each lesson that this process may give; called whenever a worker is free."""
        for place, seed in lessons:
            plan, key = self.plans[place], self.keys[place, seed]
            if self.folder is not None and not self.folder.claim(key, again=key in self.stale):
                found = self.folder.entries.get(key)
                if found is not None and key not in self.stale:
                    self._note(found)
                continue
            which = {
                "key": key, "problem": plan.problem, "learner": plan.learner, "teacher": plan.teacher, "seed": seed,
                "parameters": plan.parameters,
            }  # fmt: skip
            if plan.error is not None:
                which |= {"error": plan.error, "drew": False}  # one row for all seeds
            yield *plan.given, which, self.rules, self.keep_lessons

    def _note(self, entry: Entry) -> None:
        self.known[entry.key] = entry
        self.failed += entry.error is not None

    def _is_stale(self, entry: Entry, retry_failed: bool) -> bool:
        if entry.error is not None:
            return retry_failed
        return self.keep_lessons and self.folder is not None and not self.folder.lesson_path(entry.key).is_file()

    def _tell(self) -> None:
        if self.progress is None:
            return
        drawing = sum(map(self._drew, range(len(self.plans))))
        total = drawing * len(self.seeds) + len(self.plans) - drawing
        done = len(self.known)
        elapsed, now = time.perf_counter() - self.began, done - self.before
        left = elapsed / now * (total - done) if now > 0 else None
        self.progress(SweepProgress(done, total, self.failed, elapsed, left))


def _one(
    place: Any, target: Any, learner: Any, teacher: Any, which: dict[str, Any], rules: dict[str, Any], keep: bool
) -> tuple[Entry | None, Lesson | None]:
    """Give one lesson where this runs; return what is kept of it, or the sentence of what went wrong."""
    if "error" in which:
        return Entry(**which, nimt=__version__), None
    if not is_own(teacher):
        with contextlib.suppress(Exception):  # a teacher of the user may remember, and other threads use it too
            teacher = copy.deepcopy(teacher)
    options = {"record": "auto" if keep else "picks", "numbers_only": not keep} | rules
    seconds = options.pop("time_limit", None)
    try:
        task = Task.of(learner, teacher, place, target, seed=which["seed"], **options)
        lesson = task.begin().run(seconds=seconds)
    except Exception as error:
        return Entry(**which, error=sentence_of(error), nimt=__version__), None
    if lesson.outcome is Outcome.INTERRUPTED:
        return None, None
    return entry_of_lesson(lesson, **which), lesson if keep else None

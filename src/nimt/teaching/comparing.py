"""Give the same lesson by several teachers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.learners.base import Learner
from nimt.lesson.descriptions import describe
from nimt.lesson.identity import check_identified
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.pools.base import FunctionLike, Pool, as_pool, values_on
from nimt.pools.box import Box
from nimt.session.session import Callback, check_run_options
from nimt.task.rules import Tolerance
from nimt.task.task import Task
from nimt.teachers.adapter import as_teacher
from nimt.teachers.base import Selection, SelectsExamples, View
from nimt.teachers.wrapping import Wrapping
from nimt.teaching.comparison import Comparison
from nimt.teaching.comparison_folder import CHOOSING, KeptLessons
from nimt.teaching.parallel import Workers, check_jobs
from nimt.teaching.progress import both, progress_bar
from nimt.teaching.seeding import check_seeds, over_seeds


def compare(
    learner: Learner,
    teachers: Mapping[str, SelectsExamples] | Sequence[SelectsExamples],
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int = defaults.MAX_ITERATIONS,
    tol: Tolerance = defaults.TOL,
    seeds: int | Iterable[int] = defaults.SEEDS,
    engine: str = "auto",
    callback: Callback | None = None,
    checkpoint: str | PathLike[str] | None = None,
    n_jobs: int = 1,
    progress: bool | str = False,
    **options: Any,
) -> Comparison:
    """Run the same lesson with several teachers; those that draw at random are run for several seeds.

    Parameters
    ----------
    learner, X, y, max_iterations, tol, callback : as in `teach`
    teachers : dict of name -> teacher, or a list
        In a list, each is called by its `name`: GFT-1, RFT-0.05, whole ...
    seeds : int or list of int
        A count n means 0, ..., n - 1. A teacher that draws nothing from the seed is run once.
    engine : str
        With "reference" the time of choosing is measured apart from that of learning; faster engines do not separate
        the two.
    checkpoint : path of a folder, optional
        Finished lessons are kept there, with the checkpoints of those under way: the same call goes on where it was
        stopped or killed.
    n_jobs : int
        How many lessons run at a time, in threads; -1 is one per core. Their seconds are then longer, and the callback
        is called from several threads.
    progress : bool or "auto"
        As in `teach`: a bar for the lesson under way, with several jobs for the one that reported last.
    **options : as in `teach`
        `measure`, `stop_when_stationary`, `patience`, `time_limit`, `snapshots`, `record`, `holdout`.

    Returns
    -------
    Comparison
        Ctrl-C raises KeyboardInterrupt.
    """
    if progress is not False:
        with progress_bar(progress) as bar:
            return compare(
                learner, teachers, X, y, max_iterations=max_iterations, tol=tol, seeds=seeds, engine=engine,
                callback=both(callback, bar), checkpoint=checkpoint, n_jobs=n_jobs, **options,
            )  # fmt: skip
    _check_options(options)
    check_jobs(n_jobs)
    named = _name_teachers(teachers)
    several = check_seeds(seeds)
    kept = None if checkpoint is None else KeptLessons(checkpoint)
    place = X if isinstance(X, Box) else as_pool(X)
    target = y if isinstance(place, Box) or hasattr(y, "predict") else values_on(place, y, "the target")
    if kept is not None:
        check_identified(describe([learner, list(named.values()), options.get("measure"), target]))
    limit = options.pop("time_limit", None)
    check_run_options(callback, limit, "return")
    common = {"max_iterations": max_iterations, "tol": tol, "engine": engine, **options}
    given: dict[tuple[str, int], tuple[Lesson, float | None]] = {}

    def give(lessons: list[tuple[str, int]]) -> None:
        calls = (
            (kept, name, learner, named[name], place, target, seed, common, callback, limit)
            for name, seed in lessons
            if (name, seed) not in given
        )
        with contextlib.closing(Workers(n_jobs).each(_give_one, calls)) as finished:
            for name, seed, lesson, seconds in finished:
                if lesson.outcome is Outcome.INTERRUPTED:
                    raise KeyboardInterrupt  # an incomplete comparison would mislead
                given[name, seed] = lesson, seconds

    wanted = over_seeds(named, several, give, lambda name: given[name, several[0]][0].drew)
    lessons = {name: tuple(given[name, seed][0] for seed in seeds) for name, seeds in wanted.items()}
    times = {name: [given[name, seed][1] for seed in seeds] for name, seeds in wanted.items()}
    choosing = {
        name: tuple(seconds for seconds in measured if seconds is not None)
        for name, measured in times.items()
        if None not in measured
    }
    settled = next(iter(lessons.values()))[0].tol  # as a number, of tol="auto" too
    return Comparison(lessons, settled, choosing)


@dataclass(frozen=True, eq=False)
class TimedTeacher(Wrapping):
    """A teacher that measures the time of `select` of another teacher, and chooses what that one chooses."""

    clock: list[float] = field(default_factory=lambda: [0.0], repr=False)

    @property
    def given(self) -> object:
        return self.inner.given  # the record is that of the teacher, not of its clock

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


def _give_one(
    kept: KeptLessons | None,
    name: str,
    learner: Learner,
    teacher: SelectsExamples,
    place: Pool | Box,
    target: FunctionLike,
    seed: int,
    options: dict[str, Any],
    watch: Callback | None,
    seconds: float | None,
) -> tuple[str, int, Lesson, float | None]:
    """Return the lesson and the seconds of choosing, which the plain loop measures in a lesson given at once."""
    timed = TimedTeacher(teacher) if options["engine"] == "reference" else None
    task = Task.of(learner, timed or teacher, place, target, seed=seed, **options)
    if kept is None:
        lesson = task.begin().run(watch=watch, seconds=seconds)
        return name, seed, lesson, None if timed is None else timed.seconds
    lesson = kept.give(name, seed, task, watch, seconds, timed)
    return name, seed, lesson, lesson.settings.get(CHOOSING)


def _check_options(options: Mapping[str, Any]) -> None:
    if "seed" in options:
        raise InvalidInput(f"compare() takes seeds, a count or a list, instead of seed: seeds=[{options['seed']!r}]")


def _name_teachers(teachers: Mapping[str, SelectsExamples] | Sequence[SelectsExamples]) -> dict[str, SelectsExamples]:
    if isinstance(teachers, Mapping):
        named = {str(name): teacher for name, teacher in teachers.items()}
    else:
        try:
            listed = list(teachers)
        except TypeError:
            raise InvalidInput(
                f"must be a dict of name -> teacher or a list, got {teachers!r}", parameter="teachers"
            ) from None
        named = {}
        for teacher in listed:
            name = as_teacher(teacher).name
            if name in named:
                raise InvalidInput(f"two teachers are both called {name!r}: give a dict of name -> teacher")
            named[name] = teacher
    if not named:
        raise InvalidInput("there is nothing to compare: give at least one teacher")
    return named

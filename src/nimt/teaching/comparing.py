"""The same lesson by several teachers: steps to the tolerance, final discrepancy, examples, seconds."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt._version import __version__
from nimt.arrays import Array, check_count, is_number
from nimt.errors import CorruptLesson, InvalidInput, MissingFile
from nimt.files import write_text
from nimt.learners.base import Learner
from nimt.lesson.descriptions import describe, is_own
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.measures import Measure
from nimt.pools.base import FunctionLike, Pool, as_pool, same_points, values_on
from nimt.pools.box import Box
from nimt.teachers.base import AlternativeLabels, Selection, SelectsExamples, Teacher, View, check_teacher, name_of
from nimt.teaching.comparison_folder import CHOOSING, KeptLessons
from nimt.teaching.parallel import Workers, check_jobs, first_seeds
from nimt.teaching.progress import both, progress_bar
from nimt.teaching.teaching import Callback, prepare

CONTENTS = "contents.json"  # of the folder of a saved comparison


@dataclass(frozen=True)
class Row:
    """One line of a comparison: means over the seeds, `_range` the smallest and the largest, `_deviation` the spread.

    A deviation is that of a sample, with n - 1 below; None for a single lesson.

    Attributes
    ----------
    name : str
    seeds : int
        How many lessons it summarises.
    reached : int
        How many of them met the tolerance.
    steps, steps_range, steps_deviation : float, pair of int, float; or None
        Steps to the tolerance; None unless every lesson met it.
    discrepancy, discrepancy_range, discrepancy_deviation : float, pair, float or None
        At the end.
    examples, distinct : float
        Examples shown, and distinct points among them.
    seconds, seconds_deviation : float, float or None
        Wall time per lesson, without compiling.
    choosing, learning : float or None
        Its two parts: the teacher's `select`, and everything else. Known only with engine="reference".
    """

    name: str
    seeds: int
    reached: int
    steps: float | None
    steps_range: tuple[int, int] | None
    discrepancy: float
    discrepancy_range: tuple[float, float]
    examples: float
    distinct: float
    seconds: float
    choosing: float | None
    learning: float | None
    steps_deviation: float | None = None
    discrepancy_deviation: float | None = None
    seconds_deviation: float | None = None


@dataclass(frozen=True)
class Numbers:
    """What a row needs to know of one lesson: steps to the tolerance, the discrepancy at its end, examples, seconds."""

    steps: int | None
    discrepancy: float
    examples: int
    distinct: int
    seconds: float
    choosing: float | None = None

    @classmethod
    def of(cls, lesson: Lesson, tol: float | None, choosing: float | None = None) -> Numbers:
        return cls(
            None if tol is None else lesson.steps_to(tol),
            float(lesson.discrepancy[-1]),
            int(lesson.picks.sum()),
            int(np.count_nonzero(lesson.picks)),
            lesson.elapsed,
            choosing,
        )


def summarised(name: str, lessons: Sequence[Numbers]) -> Row:
    """Return the row of lessons that differ in their seed only."""
    met = [lesson.steps for lesson in lessons if lesson.steps is not None]
    ends = [lesson.discrepancy for lesson in lessons]
    times = [lesson.seconds for lesson in lessons]
    seconds = float(np.mean(times))
    choosing = [lesson.choosing for lesson in lessons if lesson.choosing is not None]
    choose = float(np.mean(choosing)) if choosing else None
    everyone = len(met) == len(lessons)
    return Row(
        name=name,
        seeds=len(lessons),
        reached=len(met),
        steps=float(np.mean(met)) if everyone else None,
        steps_range=(min(met), max(met)) if everyone else None,
        steps_deviation=deviation(met) if everyone else None,
        discrepancy=float(np.mean(ends)),
        discrepancy_range=(min(ends), max(ends)),
        discrepancy_deviation=deviation(ends),
        examples=float(np.mean([lesson.examples for lesson in lessons])),
        distinct=float(np.mean([lesson.distinct for lesson in lessons])),
        seconds=seconds,
        seconds_deviation=deviation(times),
        choosing=choose,
        learning=None if choose is None else max(0.0, seconds - choose),
    )


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of a sample, with n - 1 below; None for a single value.

    Examples
    --------
    >>> deviation([1.0, 3.0]), deviation([1.0])
    (1.4142135623730951, None)
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


@dataclass(frozen=True, eq=False)
class Band:
    """A curve with a band: mean, lowest and highest discrepancy over the seeds at each step (T + 1,).

    After the end of a lesson its last value is repeated: the learner does not change any more.
    """

    name: str
    colour: str | None
    step: NDArray[np.int64]
    mean: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Comparison:
    """The lessons of several teachers on one problem, each for one or more seeds.

    Attributes
    ----------
    lessons : dict of name -> tuple of Lesson
    tol : float or None
        A lesson reached it if its discrepancy fell below.
    choosing : dict of name -> tuple of float
        Seconds spent in the teacher's `select` per lesson; empty if they were not measured.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5)
    >>> comparison = nimt.compare(learner, {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}, x, np.sin,
    ...                           max_iterations=500, tol=1e-2, seeds=3)
    >>> [(row.name, row.seeds, row.reached) for row in comparison.rows()]
    [('greedy', 1, 1), ('random', 3, 3)]
    """

    lessons: dict[str, tuple[Lesson, ...]]
    tol: float | None
    choosing: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        """What all its lessons were measured by."""
        return next(iter(self.lessons.values()))[0].measure

    def rows(self) -> list[Row]:
        """Return one row per teacher, in the order they were given."""
        rows = []
        for name, lessons in self.lessons.items():
            times: tuple[float | None, ...] = self.choosing.get(name, (None,) * len(lessons))
            numbers = [Numbers.of(lesson, self.tol, time) for lesson, time in zip(lessons, times, strict=True)]
            rows.append(summarised(name, numbers))
        return rows

    def bands(self) -> list[Band]:
        """Return the curves to draw, one per teacher."""
        return [_band(name, lessons) for name, lessons in self.lessons.items()]

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return one row per teacher as columns, ready for pandas.DataFrame, polars.DataFrame or CSV.

        Means over the seeds, their standard deviations, and the smallest and the largest; NaN where there is none.
        """
        rows = [dataclasses.asdict(row) for row in self.rows()]
        for row in rows:
            for name in ("steps", "discrepancy"):
                low, high = row.pop(f"{name}_range") or (None, None)
                row |= {f"{name}_lowest": low, f"{name}_highest": high}
        return {
            name: np.array([row[name] for row in rows], dtype=object if name == "name" else float) for name in rows[0]
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write every lesson into a folder, made if it is missing, and a file that says which lesson is whose."""
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise InvalidInput(f"a comparison is saved to a folder, and {str(place)!r} is a file: name a folder")
        if not place.parent.is_dir():
            raise MissingFile(f"there is no folder {str(place.parent)!r} to save the comparison in: make it first")
        place.mkdir(exist_ok=True)
        content: dict[str, Any] = {"nimt": __version__, "tol": self.tol, "teachers": {}}
        for number, (name, lessons) in enumerate(self.lessons.items()):
            files = [f"teacher-{number}-lesson-{each}.npz" for each in range(len(lessons))]
            for file, lesson in zip(files, lessons, strict=True):
                lesson.save(place / file)
            content["teachers"][name] = {"lessons": files, "choosing": list(self.choosing.get(name, ()))}
        write_text(place / CONTENTS, json.dumps(content, indent=1) + "\n")  # last: an older one stays whole until then

    @classmethod
    def load(cls, folder: str | PathLike[str], *, allow: Iterable[object] = ()) -> Comparison:
        """Read what `save` wrote; `allow` is as in `Lesson.load`."""
        place = Path(folder)
        if not (place / CONTENTS).is_file():
            raise MissingFile(f"there is no comparison in {str(place)!r}: name the folder that it was saved to")
        try:
            content = json.loads((place / CONTENTS).read_text(encoding="utf-8"))
            tol, told = content["tol"], content["teachers"]
            names = {str(name): [str(file) for file in one["lessons"]] for name, one in told.items()}
            choosing = {str(name): tuple(float(each) for each in one["choosing"]) for name, one in told.items()}
            wrong = not names or not all(names.values()) or not (tol is None or is_number(tol))
            if wrong or any(Path(file).name != file for files in names.values() for file in files):
                raise ValueError("its contents are not those of a comparison")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise CorruptLesson(f"{place / CONTENTS} was cut short or altered: {error}") from None
        allowed = list(allow)
        lessons = {
            name: tuple(Lesson.load(place / file, allow=allowed) for file in files) for name, files in names.items()
        }
        measured = {name: times for name, times in choosing.items() if len(times) == len(lessons[name])}
        return cls(lessons, tol, measured)

    def to_dict(self) -> dict[str, Any]:
        """Return everything a JSON file should hold: the rows, and the problem they are about."""
        first = next(iter(self.lessons.values()))[0]
        return {
            "tol": self.tol,
            "measure": first.measure.name,
            "points": len(first.pool),
            "max_iterations": first.settings["max_iterations"],
            "versions": {"nimt": first.settings["nimt"], **first.settings["versions"]},
            "teachers": [
                dataclasses.asdict(row)
                | {
                    "engine": self.lessons[row.name][0].engine,
                    "outcomes": [str(lesson.outcome) for lesson in self.lessons[row.name]],
                    "seed_list": [lesson.settings["seed"] for lesson in self.lessons[row.name]],
                }
                for row in self.rows()
            ],
        }

    def _repr_html_(self) -> str:
        # the table of text is made far above the record, so it is asked for by name and only here
        shown: str = import_module("nimt.reports.comparison").comparison_cell(self)
        return shown

    def __str__(self) -> str:
        word = self.measure.word
        return "\n".join(
            f"{row.name}: {'not reached' if row.steps is None else f'{row.steps:g} steps'}, "
            f"{word} {row.discrepancy:.4g}, {row.examples:g} examples at {row.distinct:g} points"
            for row in self.rows()
        )


def compare(
    learner: Learner,
    teachers: Mapping[str, SelectsExamples] | Sequence[SelectsExamples],
    X: Pool | Box | ArrayLike,
    y: FunctionLike,
    *,
    max_iterations: int,
    tol: float | None = None,
    seeds: int | Iterable[int] = 5,
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
        `measure`, `stop_when_stationary`, `patience`, `time_limit`, `snapshots`, `record`.

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
    named = _named(teachers)
    several = checked_seeds(seeds)
    kept = None if checkpoint is None else KeptLessons(checkpoint)
    place = X if isinstance(X, Box) else as_pool(X)
    target = y if isinstance(place, Box) or hasattr(y, "predict") else values_on(place, y, "the target")
    common = {"max_iterations": max_iterations, "tol": tol, "callback": callback, "engine": engine, **options}
    given: dict[tuple[str, int], tuple[Lesson, float | None]] = {}

    def give(lessons: list[tuple[str, int]]) -> None:
        calls = ((kept, name, learner, named[name], place, target, seed, common) for name, seed in lessons)
        with contextlib.closing(Workers(n_jobs).each(_one, calls)) as finished:
            for name, seed, lesson, seconds in finished:
                if lesson.outcome is Outcome.INTERRUPTED:
                    raise KeyboardInterrupt  # an incomplete comparison would mislead
                given[name, seed] = lesson, seconds

    give([(name, seed) for name, teacher in named.items() for seed in first_seeds(teacher, several)])
    drew = [name for name in named if given[name, several[0]][0].drew]
    give([(name, seed) for name in drew for seed in several if (name, seed) not in given])
    # of a teacher that drew nothing, another seed would give the same lesson again
    wanted = {name: several if name in drew else several[:1] for name in named}
    lessons = {name: tuple(given[name, seed][0] for seed in seeds) for name, seeds in wanted.items()}
    times = {name: [given[name, seed][1] for seed in seeds] for name, seeds in wanted.items()}
    choosing = {
        name: tuple(seconds for seconds in measured if seconds is not None)
        for name, measured in times.items()
        if None not in measured
    }
    return Comparison(lessons, tol, choosing)


def compare_lessons(lessons: Mapping[str, Lesson | Iterable[Lesson]] | Iterable[Lesson]) -> Comparison:
    """Compare finished lessons, and refuse those that differ in pool, target, start or measure.

    Parameters
    ----------
    lessons : dict of name -> lesson or lessons, or a list of lessons
        In a list, lessons whose teachers have the same name become one row. The tolerance is the largest of theirs, if
        all have one.
    """
    groups: dict[str, list[Lesson]] = {}
    if isinstance(lessons, Mapping):
        for name, value in lessons.items():
            groups[str(name)] = [value] if isinstance(value, Lesson) else list(value)
    else:
        for lesson in lessons:
            _check_lesson(lesson)
            groups.setdefault(lesson.method, []).append(lesson)
    everything = [lesson for group in groups.values() for lesson in group]
    if not everything or not all(groups.values()):
        raise InvalidInput("there is nothing to compare: give at least one lesson for every name")
    for lesson in everything:
        _check_lesson(lesson)
        _check_alike(everything[0], lesson)
    tolerances = [lesson.tol for lesson in everything]
    known = [tol for tol in tolerances if tol is not None]
    return Comparison(
        {name: tuple(group) for name, group in groups.items()}, max(known) if len(known) == len(tolerances) else None
    )


class TimedTeacher:
    """A teacher that measures the time of `select` of another teacher, and chooses what that one chooses."""

    def __init__(self, teacher: SelectsExamples) -> None:
        self.teacher: SelectsExamples = teacher
        self.seconds: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.teacher, name)

    def select(self, view: View) -> Selection:
        began = time.perf_counter()
        try:
            return self.teacher.select(view)
        finally:
            self.seconds += time.perf_counter() - began

    def measured(self) -> float:
        """Return the seconds so far."""
        return self.seconds


def _one(
    kept: KeptLessons | None,
    name: str,
    learner: Learner,
    teacher: SelectsExamples,
    place: Pool | Box,
    target: FunctionLike,
    seed: int,
    options: dict[str, Any],
) -> tuple[str, int, Lesson, float | None]:
    """Return the lesson and the seconds of choosing, which the plain loop measures in a lesson given at once."""
    check_teacher(teacher)
    timed = TimedTeacher(teacher) if options["engine"] == "reference" else None
    run = prepare(learner, timed or teacher, place, target, seed=seed, **options)
    if timed is not None:  # the record is that of the teacher, not of its clock
        run.settings = run.settings | {"teacher": describe(_storable(teacher, run.task.pool))}
    if kept is None:
        lesson = run.to_the_end(options.get("time_limit"))
        return name, seed, lesson, None if timed is None else timed.seconds
    lesson = kept.given(name, seed, run, options.get("time_limit"), None if timed is None else timed.measured)
    return name, seed, lesson, lesson.settings.get(CHOOSING)


def _storable(teacher: SelectsExamples, pool: Pool) -> SelectsExamples:
    labels = getattr(teacher, "labels", None)
    if not isinstance(teacher, Teacher) or not is_own(teacher) or labels is None:
        return teacher
    values = values_on(pool, labels.other_target, "the other target")
    return teacher.with_labels(AlternativeLabels(values, labels.probability))


def _check_options(options: Mapping[str, Any]) -> None:
    if "seed" in options:
        raise InvalidInput(f"compare() takes seeds, a count or a list, instead of seed: seeds=[{options['seed']!r}]")


def _named(teachers: Mapping[str, SelectsExamples] | Sequence[SelectsExamples]) -> dict[str, SelectsExamples]:
    if isinstance(teachers, Mapping):
        named = {str(name): teacher for name, teacher in teachers.items()}
    else:
        try:
            listed = list(teachers)
        except TypeError:
            raise InvalidInput(f"teachers must be a dict of name -> teacher or a list, got {teachers!r}") from None
        named = {}
        for teacher in listed:
            name = name_of(teacher)
            if name in named:
                raise InvalidInput(f"two teachers are both called {name!r}: give a dict of name -> teacher")
            named[name] = teacher
    if not named:
        raise InvalidInput("there is nothing to compare: give at least one teacher")
    return named


def checked_seeds(seeds: int | Iterable[int]) -> list[int]:
    """Return the seeds of a count or a list, or refuse them."""
    if isinstance(seeds, Iterable):
        listed = list(seeds)
        for seed in listed:
            check_count("a seed", seed, at_least=0, at_most=None)
        if not listed or len(set(listed)) < len(listed):
            raise InvalidInput(f"seeds must be a count or different whole numbers, got {listed!r}")
        return [int(seed) for seed in listed]
    check_count("seeds", seeds, at_least=1)
    return list(range(int(seeds)))


def _check_lesson(lesson: object) -> None:
    if not isinstance(lesson, Lesson):
        raise InvalidInput(f"lessons to compare must be nimt.Lesson objects, got {lesson!r}")


def _check_alike(first: Lesson, other: Lesson) -> None:
    if not same_points(first.pool, other.pool):
        raise InvalidInput(f"these lessons differ in their pool ({first.pool!r} and {other.pool!r}): use one pool")
    for name, what in (("target", "target"), ("initial", "start")):
        if not np.array_equal(getattr(first, name), getattr(other, name)):
            raise InvalidInput(f"these lessons differ in their {what} on the pool: compare lessons of one problem")
    one, two = first.measure.name, other.measure.name
    if one != two:
        raise InvalidInput(f"these lessons differ in their measure ({one} and {two}): use one measure")


def _band(name: str, lessons: tuple[Lesson, ...]) -> Band:
    length = max(len(lesson.discrepancy) for lesson in lessons)
    curves = np.stack(
        [np.pad(lesson.discrepancy, (0, length - len(lesson.discrepancy)), mode="edge") for lesson in lessons]
    )
    return Band(
        name=name,
        colour=lessons[0].colour,
        step=np.arange(length),
        mean=curves.mean(axis=0),
        low=curves.min(axis=0),
        high=curves.max(axis=0),
    )

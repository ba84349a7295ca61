"""What lessons of several teachers show side by side: steps to the tolerance, discrepancy, examples, seconds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt._version import __version__
from nimt.arrays import Array, is_number
from nimt.counting import say_count
from nimt.display import below
from nimt.errors import CorruptLesson, InvalidInput, MissingFile
from nimt.files import write_text
from nimt.lesson.held_out import HeldOutError
from nimt.lesson.lesson import Lesson
from nimt.measures import Measure
from nimt.pools.base import same_points

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
    held_out_rms, held_out_r2, held_out_accuracy : float or None
        The errors on points held out, as of `Lesson.held_out`; None where none are, or where it has none.
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
    held_out_rms: float | None = None
    held_out_r2: float | None = None
    held_out_accuracy: float | None = None


@dataclass(frozen=True)
class Numbers:
    """What a row needs to know of one lesson: steps to the tolerance, the discrepancy at its end, examples, seconds."""

    steps: int | None
    discrepancy: float
    examples: int
    distinct: int
    seconds: float
    choosing: float | None = None
    held_out: HeldOutError | None = None

    @classmethod
    def of(cls, lesson: Lesson, tol: float | None, choosing: float | None = None) -> Numbers:
        return cls(
            None if tol is None else lesson.steps_to(tol),
            float(lesson.discrepancy[-1]),
            int(lesson.picks.sum()),
            int(np.count_nonzero(lesson.picks)),
            lesson.elapsed,
            choosing,
            lesson.held_out,
        )


def summarise(name: str, lessons: Sequence[Numbers]) -> Row:
    """Return the row of lessons that differ in their seed only."""
    met = [lesson.steps for lesson in lessons if lesson.steps is not None]
    ends = [lesson.discrepancy for lesson in lessons]
    times = [lesson.seconds for lesson in lessons]
    seconds = float(np.mean(times))
    choosing = [lesson.choosing for lesson in lessons if lesson.choosing is not None]
    choose = float(np.mean(choosing)) if choosing else None
    everyone = len(met) == len(lessons)
    errors = [lesson.held_out for lesson in lessons if lesson.held_out is not None]
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
        held_out_rms=_mean([error.rms for error in errors if error.accuracy is None]),
        held_out_r2=_mean([error.r_squared for error in errors if error.accuracy is None]),
        held_out_accuracy=_mean([error.accuracy for error in errors]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, None where there is no value or one is not known."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


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
        return list(self._rows)

    @cached_property
    def _rows(self) -> tuple[Row, ...]:
        # kept, because the error on points held out takes a prediction of each
        rows = []
        for name, lessons in self.lessons.items():
            times: tuple[float | None, ...] = self.choosing.get(name, (None,) * len(lessons))
            numbers = [Numbers.of(lesson, self.tol, time) for lesson, time in zip(lessons, times, strict=True)]
            rows.append(summarise(name, numbers))
        return tuple(rows)

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
        if not isinstance(folder, str | PathLike):
            raise InvalidInput(f"a comparison is loaded from the path of its folder, got {folder!r}")
        place = Path(folder)
        if not (place / CONTENTS).is_file():
            raise MissingFile(f"there is no comparison in {str(place)!r}: name the folder that it was saved to")
        try:
            content = json.loads((place / CONTENTS).read_text(encoding="utf-8"))
            tol, told = content["tol"], content["teachers"]
            names = {str(name): [str(file) for file in one["lessons"]] for name, one in told.items()}
            choosing = {str(name): tuple(float(each) for each in one["choosing"]) for name, one in told.items()}
            wrong = not names or not all(names.values()) or not (tol is None or is_number(tol))
            files = [file for files in names.values() for file in files]
            wrong = wrong or len(files) != len(set(files)) or any(Path(file).name != file for file in files)
            if wrong:
                raise ValueError("its contents are not those of a comparison")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError) as error:
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
            f"{row.name}: {'not reached' if row.steps is None else say_count(row.steps, 'step', 'g')}, "
            f"{word} {below(row.discrepancy, self.tol, 4)}, {say_count(row.examples, 'example', 'g')} at "
            f"{say_count(row.distinct, 'point', 'g')}"
            for row in self.rows()
        )


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

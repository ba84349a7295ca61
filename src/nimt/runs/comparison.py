"""What lessons of several teachers show side by side: steps to the tolerance, discrepancy, examples, seconds."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from nimt.counting import say_count
from nimt.display import FigureStyle, FigureWidth, below
from nimt.errors import CorruptLesson, InvalidInput
from nimt.lesson.identity import fingerprint
from nimt.lesson.lesson import Lesson
from nimt.measures import Measure
from nimt.pools.pool import same_points
from nimt.runs.bands import Band, BandKind, band_of, check_band
from nimt.runs.combinations import ONLY
from nimt.runs.entries import Entry, entry_of_lesson
from nimt.runs.pairing import Pairs, pair_up
from nimt.runs.runs_folder import RunsFolder
from nimt.runs.spelled_tables import SpelledTable
from nimt.runs.summaries import Row, summarise

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SAVED = ""  # the learner in the lines of `Comparison.save`, whose lessons may be of any learners


@dataclass(frozen=True, eq=False)
class Comparison(SpelledTable):
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

    @classmethod
    def of(cls, lessons: Mapping[str, Lesson | Iterable[Lesson]] | Iterable[Lesson]) -> Comparison:
        """Compare finished lessons, and refuse those that differ in pool, target, start or measure.

        Parameters
        ----------
        lessons : dict of name -> lesson or lessons, or a list of lessons
            In a list, lessons whose teachers have the same name become one row. The tolerance is the largest of theirs,
            if all have one.
        """
        if isinstance(lessons, Lesson):
            raise InvalidInput("a comparison is of a list or a dict of lessons, got one lesson: give [lesson]")
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
        known = [lesson.tol for lesson in everything if lesson.tol is not None]
        tol = max(known) if len(known) == len(everything) else None
        return cls({name: tuple(group) for name, group in groups.items()}, tol)

    @property
    def measure(self) -> Measure:
        """What all its lessons were measured by."""
        return next(iter(self.lessons.values()))[0].measure

    def rows(self) -> list[Row]:
        """Return one row per teacher, in the order they were given."""
        return [summarise(name, entries) for name, entries in self._entries.items()]

    @cached_property
    def _entries(self) -> dict[str, list[Entry]]:
        # kept, because the error on points held out takes a prediction of each
        found: dict[str, list[Entry]] = {}
        for name, lessons in self.lessons.items():
            times: tuple[float | None, ...] = self.choosing.get(name, (None,) * len(lessons))
            found[name] = [
                dataclasses.replace(
                    entry_of_lesson(
                        lesson, key="", problem=ONLY, learner=SAVED, teacher=name, seed=lesson.settings["seed"]
                    ),
                    itd=None if self.tol is None else lesson.steps_to(self.tol),
                    choosing=time,
                )
                for lesson, time in zip(lessons, times, strict=True)
            ]
        return found

    def pairs(self) -> Pairs:
        """Return every two teachers compared seed by seed, with the p of a sign test.

        A lesson that did not meet the tolerance is behind one that did, so that none is left out.

        Examples
        --------
        >>> import nimt
        >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
        >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.5)
        >>> teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
        >>> found = nimt.compare(learner, teachers, x, np.sin, max_iterations=500, tol=1e-2, seeds=6)
        >>> [(pair.first, pair.ahead, pair.behind, pair.p) for pair in found.pairs().rows]
        [('greedy', 6, 0, 0.03125)]
        """
        return pair_up(self._entries, higher_is_better=self.measure.higher_is_better)

    def bands(self, band: BandKind = "range") -> list[Band]:
        """Return the curves to draw, one per teacher; `band` is as in `plot`."""
        return [band_of(name, lessons, band) for name, lessons in self.lessons.items()]

    @overload
    def plot(
        self,
        ax: None = None,
        *,
        band: BandKind = "range",
        width: FigureWidth | None = None,
        style: FigureStyle = "light",
    ) -> Figure: ...
    @overload
    def plot(self, ax: Axes, *, band: BandKind = "range") -> Axes: ...
    def plot(
        self,
        ax: Axes | None = None,
        *,
        band: BandKind = "range",
        width: FigureWidth | None = None,
        style: FigureStyle = "light",
    ) -> Figure | Axes:
        """Draw every teacher's discrepancy: the mean over its seeds, in a band from the lowest to the highest value.

        Curves of more than 600 steps are drawn at 300, as the median of the steps around each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        band : {"range", "std", "sem", "ci"} or two quantiles
            What the band is: the lowest to the highest; one standard deviation; one standard error of the mean; 95 %
            confidence of the mean, by Student's t; or the quantiles, such as (0.25, 0.75), around the median.
        width : {"column", "page"}, optional
            Of a new figure, in a paper with two columns: 3.25 or 6.75 inches.
        style : {"light", "dark"}
            Of a new figure: dark for slides.

        Returns
        -------
        Figure, or the Axes given
        """
        # matplotlib takes long to load, so that drawing is asked for by name and only here
        draw = import_module("nimt.plots.comparisons").draw_comparison
        drawn: Figure | Axes = draw(self, ax, check_band(band), width, style)
        return drawn

    def replay(self, path: str | PathLike[str], *, title: str = "A race") -> Path:
        """Write one HTML file that plays the first lesson of every teacher on one clock; return its path.

        Curves are drawn up to the step that is seen, so that it is a race. Six teachers fit on a page.
        """
        first = {name: lessons[0] for name, lessons in self.lessons.items()}
        # the page is made far below, so it is asked for by name and only here
        page: Path = import_module("nimt.replay.player_page").write_race(first, path, title=title)
        return page

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
        """Write every lesson into a folder, made if it is missing, as `nimt.compare(..., out=folder)` does."""
        RunsFolder(folder).replace(
            (dataclasses.replace(entry, key=fingerprint([name, number, lesson.settings]), itd=lesson.itd), lesson)
            for name, lessons in self.lessons.items()
            for number, (entry, lesson) in enumerate(zip(self._entries[name], lessons, strict=True))
        )

    @classmethod
    def load(cls, folder: str | PathLike[str], *, allow: Iterable[object] = ()) -> Comparison:
        """Read what `save` or `nimt.compare(..., out=folder)` wrote; `allow` is as in `Lesson.load`.

        A folder that holds more than one comparison is refused: `nimt.runs.Sweep.load` reads it.
        """
        kept, allowed = RunsFolder.open(folder, "comparison"), list(allow)
        groups: dict[str, list[Entry]] = {}
        for entry in kept.entries.values():
            if entry.error is None:
                groups.setdefault(entry.teacher, []).append(entry)
        if not groups:
            raise CorruptLesson(f"{kept.rows} was cut short or altered: no lesson in it can be read")
        _check_one_comparison(kept, [entry for group in groups.values() for entry in group])
        found = cls.of({name: [kept.load(one, allowed) for one in group] for name, group in groups.items()})
        times = {name: [one.choosing for one in group] for name, group in groups.items()}
        return dataclasses.replace(found, choosing=list_known_times(times))

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

    def _text_table(self) -> tuple[Sequence[str], list[list[str]]]:
        table: tuple[list[str], list[list[str]]] = import_module("nimt.reports.comparison_page").comparison_table(self)
        return table

    def _repr_html_(self) -> str:
        # the table of text is made far above the record, so it is asked for by name and only here
        shown: str = import_module("nimt.reports.comparison_page").comparison_cell(self)
        return shown

    def __str__(self) -> str:
        word = self.measure.word
        return "\n".join(
            f"{row.name}: {'not reached' if row.steps is None else say_count(row.steps, 'step', 'g')}, "
            f"{word} {below(row.discrepancy, self.tol, 4)}, {say_count(row.examples, 'example', 'g')} at "
            f"{say_count(row.distinct, 'point', 'g')}"
            for row in self.rows()
        )


def list_known_times(measured: Mapping[str, Iterable[float | None]]) -> dict[str, tuple[float, ...]]:
    """Return the seconds of choosing by teacher, of those teachers all of whose lessons were measured.

    Examples
    --------
    >>> list_known_times({"greedy": [0.5], "random": [0.5, None]})
    {'greedy': (0.5,)}
    """
    known = {name: list(times) for name, times in measured.items()}
    return {
        name: tuple(time for time in times if time is not None) for name, times in known.items() if None not in times
    }


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


def _check_one_comparison(kept: RunsFolder, entries: list[Entry]) -> None:
    """Refuse lessons of several problems, learners or settings: they were not given by one comparison."""
    if all(entry.learner == SAVED for entry in entries):
        return
    where = f"{str(kept.path)!r} holds"
    for name in ("problem", "learner", "tol"):
        values = list(dict.fromkeys(getattr(entry, name) for entry in entries))
        if len(values) > 1:
            raise InvalidInput(
                f"{where} lessons that differ in their {name} ({values[0]} and {values[1]}): "
                "nimt.runs.Sweep.load reads them"
            )
    (teacher, seed), count = Counter((one.teacher, one.seed) for one in entries).most_common(1)[0]
    if count > 1:
        raise InvalidInput(
            f"{where} several lessons called {teacher}, seed {seed}, given by other code or other settings: "
            f"nimt.compare(..., out=) returns those of now, nimt.runs.Sweep.load reads them all"
        )

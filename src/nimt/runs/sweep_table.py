"""What a sweep found: its lessons as a table, as curves, as a figure, and which combination was best."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from nimt import display
from nimt.counting import say_count
from nimt.display import FigureStyle, FigureWidth
from nimt.errors import InvalidInput, MissingExtra, MissingFile, StorageWarning
from nimt.lesson.lesson import Lesson
from nimt.measures import MEASURES
from nimt.runs.bands import BandKind
from nimt.runs.entries import Entry, Scalar
from nimt.runs.pairing import Pairs, pair_up
from nimt.runs.runs import Runs
from nimt.runs.runs_folder import RunsFolder
from nimt.runs.spelled_tables import SpelledTable
from nimt.runs.summaries import Row, summarise
from nimt.store.whole_files import whole_file

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = dict[str, NDArray[Any]]
Where = Mapping[str, Scalar | Sequence[Scalar]]
MOST_SHOWN = 30  # rows of a notebook's table
HEADER = ("problem", "learner", "teacher", "seeds", "steps to the tolerance", "discrepancy at the end", "seconds")


@dataclass(frozen=True)
class Group:
    """The lessons of one problem, learner and teacher over the seeds; `row` has their means, spreads and ranges."""

    problem: str
    learner: str
    teacher: str
    row: Row


@dataclass(frozen=True, eq=False)
class Sweep(SpelledTable):
    """The lessons of a sweep in numbers.

    Attributes
    ----------
    entries : tuple of Entry
        One per lesson, failed ones included.
    folder : Path or None
        Where they are kept.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.5)
    >>> found = nimt.sweep((nimt.Grid(np.arange(-3, 3, 0.1)), np.sin), learner,
    ...                    [nimt.GreedyTeacher(), nimt.RandomTeacher()], seeds=3, max_iterations=500, tol=1e-2)
    >>> found
    <Sweep of 4 lessons: 1 problem, 1 learner, 2 teachers>
    >>> found.best().teacher
    'GFT-1'
    """

    entries: tuple[Entry, ...]
    folder: Path | None = None

    @classmethod
    def of(cls, runs: Runs) -> Sweep:
        """Return the lessons of a collection that was run."""
        return cls(runs.entries, None if runs.folder is None else runs.folder.path)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Sweep:
        """Read every lesson that is kept in a folder, by a sweep, a comparison or `nimt reproduce`, also under way.

        Lessons of before, whose code or settings were changed since, are among them; a warning says so.
        """
        kept = RunsFolder.open(folder, "sweep")
        path, entries = kept.path, tuple(kept.entries.values())
        named = Counter((one.problem, one.learner, one.teacher, one.seed, one.tol, one.measure) for one in entries)
        alike = next((names for names, count in named.items() if count > 1), None)
        if alike is not None:
            warnings.warn(
                f"{str(path)!r} holds several lessons called {', '.join(alike[:3])}, seed {alike[3]}, given by other "
                f"code or other settings: all are in the table; nimt.sweep(..., out=) returns those of now",
                StorageWarning,
                stacklevel=2,
            )
        return cls(entries, path)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def failed(self) -> tuple[Entry, ...]:
        """The lessons that could not be given; `error` says why, as a sentence."""
        return tuple(entry for entry in self.entries if entry.error is not None)

    @property
    def given(self) -> tuple[Entry, ...]:
        """The lessons that were given."""
        return tuple(entry for entry in self.entries if entry.error is None)

    @overload
    def to_table(self, form: Literal["columns"] = ...) -> Columns: ...
    @overload
    def to_table(self, form: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def to_table(self, form: Literal["polars"]) -> polars.DataFrame: ...
    def to_table(self, form: str = "columns") -> Any:
        """Return one row per lesson.

        Parameters
        ----------
        form : {"columns", "pandas", "polars"}
            A dictionary of arrays, or a data frame of that library, which must be installed.
        """
        return in_form(columns_of([entry.row for entry in self.entries]), form)

    @property
    def curves(self) -> Columns:
        """The discrepancy step by step, one row per lesson and step kept, ready for pandas or polars."""
        rows: list[dict[str, Scalar]] = []
        for entry in self.given:
            which: dict[str, Scalar] = {
                name: getattr(entry, name) for name in ("problem", "learner", "teacher", "seed")
            }
            rows += [
                {**which, "step": step, "discrepancy": value}
                for step, value in zip(entry.curve_steps, entry.curve, strict=True)
            ]
        return columns_of(rows)

    def save_table(self, path: str | os.PathLike[str]) -> None:
        """Write the table as .csv, or as .parquet (pip install 'nimt[parquet]')."""
        place = Path(path)
        if place.suffix not in (".csv", ".parquet"):
            raise InvalidInput(f"a table is saved as .csv or .parquet, got {place.name!r}")
        if not place.parent.is_dir():
            raise MissingFile(
                f"there is no folder {str(place.parent)!r} to save the table {place.name} in: make it first"
            )
        frame = self.to_table("pandas")
        with whole_file(place) as temporary:
            if place.suffix == ".csv":
                frame.to_csv(temporary, index=False, lineterminator="\r\n")
            else:
                _import_extra("pyarrow", "parquet")
                frame.to_parquet(temporary, engine="pyarrow", index=False)

    def groups(self) -> list[Group]:
        """Return one summary per problem, learner and teacher, of the lessons that were given."""
        together: dict[tuple[str, str, str], list[Entry]] = {}
        for entry in self.given:
            together.setdefault((entry.problem, entry.learner, entry.teacher), []).append(entry)
        return [Group(*names, summarise(", ".join(names), group)) for names, group in together.items()]

    def pairs(self) -> Pairs:
        """Return every two teachers compared seed by seed, for each problem and learner, as `Comparison.pairs` does.

        Examples
        --------
        >>> import nimt
        >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
        >>> learners = {rate: nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=rate) for rate in (0.2, 0.5)}
        >>> teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
        >>> found = nimt.sweep((x, np.sin), learners, teachers, max_iterations=500, tol=1e-2, seeds=6)
        >>> [(pair.learner, pair.ahead, pair.behind, pair.p) for pair in found.pairs().rows]
        [('0.2', 6, 0, 0.03125), ('0.5', 6, 0, 0.03125)]
        """
        together: dict[tuple[str, str], dict[str, list[Entry]]] = {}
        for entry in self.given:
            together.setdefault((entry.problem, entry.learner), {}).setdefault(entry.teacher, []).append(entry)
        return Pairs(
            tuple(
                dataclasses.replace(pair, problem=problem, learner=learner)
                for (problem, learner), teachers in together.items()
                for pair in pair_up(teachers, higher_is_better=self._is_higher_better()).rows
            )
        )

    def _is_higher_better(self) -> bool:
        names = {entry.measure for entry in self.given if entry.itd is None and entry.measure is not None}
        unknown = sorted(name for name in names if name not in MEASURES)
        if unknown:
            raise InvalidInput(
                f"lessons that did not reach the tolerance are compared by their last value, and it is not known "
                f"whether a higher {unknown[0]} is better: use nimt.compare, whose lessons know it"
            )
        return any(MEASURES[name].higher_is_better for name in names if name is not None)

    def best(self, problem: str | None = None) -> Group:
        """Return the combination that met the tolerance in the fewest steps, the mean over the seeds.

        Those that met it with every seed come first. If none did, the most seeds and then the smallest discrepancy at
        the end decide.

        Parameters
        ----------
        problem : str, optional
            Its name; needed if the sweep has several.
        """
        names = self.problems
        if not names:
            raise InvalidInput("no lesson of this sweep could be given: .failed says why")
        if problem is None and len(names) > 1:
            raise InvalidInput(
                f"steps on different problems cannot be compared: best(problem={names[0]!r}), for example"
            )
        one = self.one_problem(names[0] if problem is None else problem)
        return min((group for group in self.groups() if group.problem == one), key=_rank)

    @property
    def problems(self) -> list[str]:
        """The names of the problems on which lessons were given."""
        return list(dict.fromkeys(entry.problem for entry in self.given))

    def one_problem(self, name: str) -> str:
        """Return the name of a problem, or refuse it."""
        if name not in self.problems:
            raise InvalidInput(f"must be one of {', '.join(self.problems)}, got {name!r}", parameter="problem")
        return name

    def lesson(self, key: str) -> Lesson:
        """Load the lesson of an entry, if the sweep was told to keep lessons (keep_lessons=True)."""
        entry = next((one for one in self.entries if one.key == key), None)
        if entry is None or self.folder is None:
            raise MissingFile(f"the lesson {key} is not kept: give out=, keep_lessons=True")
        return RunsFolder(self.folder).load(entry)

    @overload
    def plot(
        self,
        x: str = ...,
        y: str | None = ...,
        hue: str = ...,
        ax: None = None,
        *,
        where: Where | None = ...,
        facet: str | None = ...,
        band: BandKind = ...,
        width: FigureWidth | None = ...,
        style: FigureStyle = ...,
    ) -> Figure: ...
    @overload
    def plot(
        self,
        x: str = ...,
        y: str | None = ...,
        hue: str = ...,
        *,
        ax: Axes,
        where: Where | None = ...,
        band: BandKind = ...,
    ) -> Axes: ...
    def plot(
        self,
        x: str = "step",
        y: str | None = None,
        hue: str = "teacher",
        ax: Axes | None = None,
        *,
        where: Where | None = None,
        facet: str | None = None,
        band: BandKind = "range",
        width: FigureWidth | None = None,
        style: FigureStyle = "light",
    ) -> Figure | Axes:
        """Draw y over x, one line per value of hue, named at its end: the mean, in a band over the lessons.

        If lessons did not reach the tolerance, the steps to it are drawn as medians, in which such a lesson counts as
        longer than all others; each point says how many there are, and a triangle marks a point whose median is one of
        them, at the steps that were taken. If a line is taken over several learners or teachers, the axis says so.
        Problems are never mixed.

        Parameters
        ----------
        x : str
            "step" for curves of the discrepancy, or any column of the table; the end of its name will do, if only one
            column ends so (`learning_rate` for `learner.learning_rate`).
        y : str
            A column of numbers; "itd" by default.
        hue : str
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        where : dict of column -> value or list of values, optional
            Draw only the lessons that have these: {"problem": "sine", "learning_rate": [0.1, 0.5]}.
        facet : str, optional
            A column of which each value has a panel of its own, all of one scale.
        band : {"range", "std", "sem", "ci"} or two quantiles
            As of `Comparison.plot`. Steps that some lessons did not take to the end have no mean, and so only "range"
            and quantiles.
        width : {"column", "page"}, optional
            Of a new figure, in a paper with two columns: 3.25 or 6.75 inches.
        style : {"light", "dark"}
            Of a new figure: dark for slides.

        Returns
        -------
        Figure, or the Axes given
        """
        # matplotlib takes long to load, so that drawing is asked for by name and only here
        draw = import_module("nimt.plots.sweeps").draw_sweep
        drawn: Figure | Axes = draw(self, x, y, hue, ax, where=where, facet=facet, band=band, width=width, style=style)
        return drawn

    def __repr__(self) -> str:
        counts = ", ".join(
            say_count(len({getattr(entry, name) for entry in self.entries}), name)
            for name in ("problem", "learner", "teacher")
        )
        failed = f"; {len(self.failed)} failed" if self.failed else ""
        return f"<Sweep of {say_count(len(self), 'lesson')}: {counts}{failed}>"

    def _text_table(self) -> tuple[Sequence[str], list[list[str]]]:
        return HEADER, [cells(group) for group in self.groups()]

    def _repr_html_(self) -> str:
        groups = self.groups()
        lines = [cells(group) for group in groups[:MOST_SHOWN]]
        more = [f"and {len(groups) - MOST_SHOWN} more"] if len(groups) > MOST_SHOWN else []
        return display.cell(repr(self)[1:-1], display.table(HEADER, lines, words=(1, 2)), display.sentences(more))


def columns_of(rows: Sequence[dict[str, Scalar]]) -> Columns:
    """Return the rows as columns: numbers as numbers with NaN where there is none, everything else as objects.

    Examples
    --------
    >>> columns_of([{"a": 1, "b": "x"}, {"a": None}])
    {'a': array([ 1., nan]), 'b': array(['x', None], dtype=object)}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column([row.get(name) for row in rows]) for name in names}


def _column(values: list[Scalar]) -> NDArray[Any]:
    known = [value for value in values if value is not None]
    if len({type(value) for value in values}) == 1 and isinstance(values[0], int):  # a bool is one
        return np.array(values)
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.array(values, dtype=object)


def in_form(table: Columns, form: str) -> Any:
    """Return a table as it is, or as a data frame of the library named."""
    if form == "columns":
        return table
    if form not in ("pandas", "polars"):
        raise InvalidInput(f"must be 'columns', 'pandas' or 'polars', got {form!r}", parameter="form")
    frames = _import_extra(form, form)
    if form == "polars":
        return frames.DataFrame({name: column.tolist() for name, column in table.items()}, strict=False)
    return frames.DataFrame(table)


def _import_extra(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        what = f"'nimt[{extra}]'" if extra == "parquet" else module
        raise MissingExtra(f"this needs {module.partition('.')[0]}: pip install {what}") from None


def _rank(group: Group) -> tuple[float, float, float]:
    row = group.row
    return (-row.reached / row.seeds, np.inf if row.steps is None else row.steps, row.discrepancy)


def cells(group: Group) -> list[str]:
    """Return a group as a line of text: names, seeds, steps to the tolerance, discrepancy at the end, seconds."""
    row = group.row
    steps = (
        f"{row.reached} of {row.seeds} reached it"
        if row.steps is None
        else _with_spread(row.steps, row.steps_deviation)
    )
    end = _with_spread(row.discrepancy, row.discrepancy_deviation)
    return [group.problem, group.learner, group.teacher, str(row.seeds), steps, end, f"{row.seconds:.3g}"]


def _with_spread(mean: float, spread: float | None) -> str:
    """Return a mean and its spread; numbers from 100 on are whole.

    Examples
    --------
    >>> _with_spread(1044.33, 203.1), _with_spread(226.2, 41.3), _with_spread(0.001957, None)
    ('1,044 ± 203', '226 ± 41', '0.001957')
    """
    return _few_digits(mean, 4) + (f" ± {_few_digits(spread, 2)}" if spread else "")


def _few_digits(value: float, digits: int) -> str:
    return f"{value:,.0f}" if 100 <= abs(value) < 1e15 else f"{value:.{digits}g}"

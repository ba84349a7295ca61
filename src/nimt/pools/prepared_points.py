"""The rows of a table as points: how its columns become coordinates, kept with the points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, is_number, real_array
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.pools.dates import count_days, write_dates
from nimt.pools.pool import Points

DIGITS = 15  # significant digits that survive scaling a number and scaling it back

ColumnValues = NDArray[Any]  # numbers, or words


@dataclass(frozen=True)
class Column:
    """One feature column of a table, and how it becomes coordinates.

    Parameters
    ----------
    name : str
    mean, deviation : float
        A number x becomes the coordinate (x - mean) / deviation.
    levels : tuple of str
        The words of a column of words: each becomes a coordinate, 1 where the row has this word and 0 elsewhere.
    fill : float or str, optional
        What stands in for a missing value; without it, a missing value is refused.
    dates : str
        The form of a column of dates, such as %d.%m.%Y: each becomes the days since 1970-01-01, and then a coordinate
        as a number does.

    Examples
    --------
    >>> Column("age", mean=40.0, deviation=10.0).coordinates(np.array([50.0, 35.0])).tolist()
    [[1.0], [-0.5]]
    >>> Column("colour", levels=("blue", "red")).names
    ('colour=blue', 'colour=red')
    """

    name: str
    mean: float = 0.0
    deviation: float = 1.0
    levels: tuple[str, ...] = ()
    fill: float | str | None = None
    dates: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if not all(isinstance(word, str) for word in (self.name, self.dates, *self.levels)):
            raise InvalidInput(f"a column has a name, levels and a form of dates that are words, got {self.name!r}")
        numbers = is_number(self.mean) and is_number(self.deviation) and np.isfinite([self.mean, self.deviation]).all()
        if not numbers or self.deviation <= 0:
            raise InvalidInput(f"the column {self.name!r} needs a finite mean and a positive deviation")
        if self.fill is not None and not isinstance(self.fill, str) and not is_number(self.fill):
            raise InvalidInput(f"the column {self.name!r} is filled by a number or a word, got {self.fill!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """What its coordinates are called."""
        return tuple(f"{self.name}={level}" for level in self.levels) if self.levels else (self.name,)

    @property
    def unit(self) -> str:
        """What figures add to the name of its coordinates."""
        if (self.mean, self.deviation) != (0.0, 1.0):
            return ", scaled"
        return ", days since 1970-01-01" if self.dates else ""

    def coordinates(self, values: ColumnValues) -> Array:
        """Return the coordinates (n, m) of values; a missing number is NaN, a word that is not a level has only 0."""
        if self.levels:
            filled = np.where(_is_missing(values), self.fill, values) if isinstance(self.fill, str) else values
            return np.column_stack([filled == level for level in self.levels]).astype(np.float64)
        if self.dates and np.asarray(values).dtype.kind not in "iuf":  # numbers are days already
            values = self._days(np.asarray(values))
        numbers = real_array(f"the column {self.name!r}", values)
        if isinstance(self.fill, int | float):
            numbers = np.where(np.isnan(numbers), self.fill, numbers)
        return np.asarray((numbers - self.mean) / self.deviation)[:, np.newaxis]

    def values(self, coordinates: Array) -> ColumnValues:
        """Return the values in the table from coordinates (n, m); numbers to 15 digits, dates to the second."""
        if self.levels:
            words = np.array([*self.levels, ""])
            return words[np.where(coordinates.any(axis=1), coordinates.argmax(axis=1), len(self.levels))]
        numbers = round_digits(coordinates[:, 0] * self.deviation + self.mean)
        return write_dates(numbers, self.dates) if self.dates else numbers

    def _days(self, values: ColumnValues) -> Array:
        days = count_days(values, self.dates)
        strange = np.isnan(days) & ~_is_missing(values)
        if strange.any():
            raise InvalidInput(
                f"{str(values[strange][0])!r} in the column {self.name!r} is no date of the form {self.dates}"
            )
        return days


@dataclass(frozen=True)
class Preparation:
    """How the rows of a table become points and labels, and how predictions become what the table holds.

    Parameters
    ----------
    columns : tuple of Column
        The features.
    target : str
        The name of the target column.
    classes : tuple of str
        The words of a target of words, () for numbers. Two classes are -1 and 1; of more, each is one output.
    missing : {"refuse", "drop", "mean"}
        What is done with a row without a value.

    Examples
    --------
    >>> preparation = Preparation((Column("x", 5.0, 2.0),), "y", ("no", "yes"))
    >>> preparation.points([[5.0], [9.0]]).tolist()
    [[0.0], [2.0]]
    >>> preparation.answers(np.array([-0.3, 2.0])).tolist()
    ['no', 'yes']
    """

    columns: tuple[Column, ...]
    target: str = "target"
    classes: tuple[str, ...] = ()
    missing: str = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "classes", tuple(self.classes))
        if not self.columns or not all(isinstance(column, Column) for column in self.columns):
            raise InvalidInput("a preparation needs at least one nimt Column")
        if not isinstance(self.target, str) or not all(isinstance(word, str) for word in self.classes):
            raise InvalidInput(f"the target has a name and classes that are words, got {self.target!r}")
        if len(self.classes) == 1:
            raise InvalidInput(f"one class, {self.classes[0]!r}, leaves nothing to tell apart")

    @property
    def names(self) -> tuple[str, ...]:
        """What the coordinates are called."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def outputs(self) -> tuple[int, ...]:
        """The outputs of the labels: (q,) for q > 2 classes, () otherwise."""
        return (len(self.classes),) if len(self.classes) > 2 else ()

    def points(self, X: Any) -> Array:
        """Return points (n, d) of rows: an array of the features in order, or columns by name (also a DataFrame)."""
        values = self._by_column(X)
        if len({len(part) for part in values}) > 1:
            raise InvalidInput("the columns have different lengths: give each row a value in every column")
        return np.column_stack([column.coordinates(part) for column, part in zip(self.columns, values, strict=True)])

    def _by_column(self, X: Any) -> list[ColumnValues]:
        if isinstance(X, Mapping) or hasattr(X, "columns"):
            absent = [column.name for column in self.columns if column.name not in X]
            if absent:
                raise InvalidInput(f"there is no column {absent[0]!r}; the features are {self._list()}")
            return [np.asarray(X[column.name]) for column in self.columns]
        rows = np.asarray(X)
        if rows.ndim == 1 and len(self.columns) == 1:
            rows = rows[:, np.newaxis]
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise InvalidInput(
                f"X has shape {rows.shape} and a row has {say_count(len(self.columns), 'feature', 'd')}: give (n, "
                f"{len(self.columns)}) with {self._list()}, or columns by name"
            )
        return [rows[:, place] for place in range(len(self.columns))]

    def _list(self) -> str:
        return ", ".join(column.name for column in self.columns)

    def table(self, points: Array) -> dict[str, ColumnValues]:
        """Return the feature columns of points, as the table had them."""
        columns, start = {}, 0
        for column in self.columns:
            width = len(column.names)
            columns[column.name] = column.values(points[:, start : start + width])
            start += width
        return columns

    def labels(self, words: Sequence[str] | ColumnValues) -> Array:
        """Return the labels of words: -1 and 1 for two classes, otherwise (n, q) with a 1 in the place of the class."""
        places = {word: place for place, word in enumerate(self.classes)}
        strange = next((word for word in words if str(word) not in places), None)
        if strange is not None:
            raise InvalidInput(f"{strange!r} is no class of the target; there are {', '.join(self.classes)}")
        codes = np.array([places[str(word)] for word in words], dtype=np.intp)
        if len(self.classes) == 2:
            return np.asarray(2.0 * codes - 1.0)
        return np.asarray(np.eye(len(self.classes))[codes])

    def answers(self, values: Array) -> ColumnValues:
        """Return predictions as the table has its target: words of classes, numbers otherwise."""
        if not self.classes:
            return values
        codes = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(np.intp)
        return np.asarray(np.array(self.classes)[codes])


class PreparedPoints(Points):
    """The rows of a table as points.

    Parameters
    ----------
    points : array (n, d)
        Prepared: scaled, and with words as coordinates.
    preparation : Preparation
    rows : array (n,) of int, optional
        The row of each point in the file.

    Examples
    --------
    >>> pool = PreparedPoints([[0.0], [2.0]], Preparation((Column("x", 5.0, 2.0),), "y"))
    >>> pool.coordinates(np.array([1]))
    {'x': array([9.])}
    """

    def __init__(self, points: ArrayLike, preparation: Preparation, rows: ArrayLike | None = None) -> None:
        super().__init__(points, ())
        if not isinstance(preparation, Preparation):
            raise InvalidInput(f"must be a nimt.pools.Preparation, got {preparation!r}", parameter="preparation")
        if self.dimension != len(preparation.names):
            raise InvalidInput(
                f"the points have dimension {self.dimension} and the preparation makes {len(preparation.names)}"
            )
        self.preparation: Preparation = preparation
        self.names = preparation.names
        self.rows: NDArray[np.int64] = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
        if self.rows.shape != (len(self),):
            raise InvalidInput(f"{len(self)} points need as many rows, got shape {self.rows.shape}")

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the columns, which say where a figure has scaled numbers."""
        return tuple(f"{name}{column.unit}" for column in self.preparation.columns for name in column.names)

    @property
    def target_name(self) -> str:
        return self.preparation.target

    def coordinates(self, indices: NDArray[np.intp]) -> dict[str, ColumnValues]:
        """Return the feature columns at some indices, as the table had them."""
        return self.preparation.table(self.take(indices))

    def describe(self) -> dict[str, Any]:
        """Return the parameters it is made from."""
        return {"points": self.points, "preparation": self.preparation, "rows": self.rows}

    def __repr__(self) -> str:
        return f"PreparedPoints({len(self)} in {self.dimension}-D)"


def round_digits(values: Array) -> Array:
    """Return numbers with 15 significant digits, so that 0.1 that was scaled and scaled back is 0.1 again.

    Examples
    --------
    >>> float(round_digits(np.array([0.1 * 3 / 3 + 1e-17]))[0])
    0.1
    """
    return np.array([float(f"{value:.{DIGITS}g}") for value in np.ravel(values)]).reshape(np.shape(values))


def _is_missing(values: ColumnValues) -> NDArray[np.bool_]:
    return np.array([value is None or value == "" or value != value for value in values], dtype=bool)

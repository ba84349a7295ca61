"""Rows of another table, read as the table of a lesson was."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.dates import count_days, write_dates
from nimt.pools.prepared_points import Column, Preparation
from nimt.sources.cells import as_word, list_names, short
from nimt.sources.table_files import LARGEST_TABLE, read_columns
from nimt.sources.tables import as_array
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows to predict.

    Attributes
    ----------
    columns : dict of name -> array (n,)
        The features as the table has them.
    complete : array (n,) of bool
        Which rows have a value in every feature, after missing ones were filled in.
    target : array (n,) of numbers or words, or None
        What the table says of the target, NaN or "" where it says nothing; None where it does not have that column.
    notes : tuple of str
    """

    columns: dict[str, NDArray[Any]]
    complete: NDArray[np.bool_]
    target: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()


def read_new_rows(path: str | os.PathLike[str], preparation: Preparation, encoding: str | None = None) -> NewRows:
    """Read the features of a preparation from a table; other columns are not looked at."""
    file = readable_file(path, LARGEST_TABLE)
    wanted = [column.name for column in preparation.columns]
    frame, notes = read_columns(file, lambda names: [*wanted, preparation.target], encoding)
    absent = next((name for name in wanted if name not in frame), None)
    if absent is not None:
        raise InvalidInput(
            f"{str(file)!r} has no column {short(absent)!r}; the features of the lesson are {list_names(wanted)}"
        )
    if len(frame) == 0:
        raise InvalidInput(f"{str(file)!r} has no rows: there is nothing to predict")
    columns, complete = {}, np.ones(len(frame), dtype=bool)
    filled: list[str] = []
    for column in preparation.columns:
        columns[column.name] = _read_column(column, frame[column.name], str(file), notes)
        lacking = frame[column.name].isna()
        if not lacking.any():
            continue
        count, first = int(lacking.sum()), lacking.idxmax()
        if preparation.missing == "refuse":
            raise InvalidInput(
                f"{str(file)!r} has no value in row {first}, column {short(column.name)!r}",
                way_out=Wording(
                    "Columns(missing='drop') or Columns(missing='mean')", "--missing drop or --missing mean"
                ).embed("fill it in, or teach with "),
            )
        if column.fill is None:
            complete &= ~lacking.to_numpy()
        else:
            filled.append(_describe_filling(column, count, first))
    if filled:
        notes.append(f"{file.name}: missing values are filled in as in the lesson: {'; '.join(filled)}")
    if not complete.all():
        first = frame.index[~complete][0]
        notes.append(
            f"{file.name}: {int((~complete).sum()):,} row(s) lack a value, the first is row {first}; they get no "
            f"prediction"
        )
    target = frame.get(preparation.target)
    known = target is not None and target.dtype != object
    return NewRows(columns, complete, as_array(target) if known else None, tuple(notes))


def _describe_filling(column: Column, count: int, first: int) -> str:
    """Say what is filled in for missing values of a column."""
    value = column.fill if isinstance(column.fill, str) else f"{column.fill:.4g}"
    if column.dates and not isinstance(column.fill, str):
        value = write_dates(np.array([column.fill]), column.dates)[0]
    return f"{count:,} of {short(column.name)} with {short(str(value))}, the first in row {first}"


def _read_column(column: Column, found: pd.Series, file: str, notes: list[str]) -> NDArray[Any]:
    """Return a column as the preparation takes it."""
    if found.dtype == object:
        raise InvalidInput(f"{file!r} has values in column {short(column.name)!r} that are neither numbers nor words")
    if column.dates:
        return _read_dates(column, found, file)
    if not column.levels:
        if found.dtype.kind != "f":
            raise InvalidInput(f"{file!r} has words in column {short(column.name)!r}, which was one of numbers")
        return as_array(found)
    words = as_array(found)
    if found.dtype.kind == "f":
        words = np.array([as_word(value) for value in words])
    words = np.where(found.isna(), "", words)
    strange = (words != "") & ~np.isin(words, column.levels)
    if strange.any():
        notes.append(
            f"{file}: column {short(column.name)} has words that were not taught, the first is "
            f"{short(str(words[strange][0]))!r}, in {int(strange.sum()):,} row(s): they count as none of the known ones"
        )
    return words


def _read_dates(column: Column, found: pd.Series, file: str) -> NDArray[Any]:
    """Return dates as the table has them; one that is in another form than the lesson's is refused."""
    words = as_array(found)
    if words.dtype.kind == "U":
        strange = np.isnan(count_days(words, column.dates)) & (words != "")
        if strange.any():
            raise InvalidInput(
                f"{file!r} has {short(str(words[strange][0]))!r} in row {found.index[strange][0]}, column "
                f"{short(column.name)!r}, where the lesson has dates of the form {column.dates}: write it so"
            )
    elif words.dtype.kind != "M":
        raise InvalidInput(f"{file!r} has numbers in column {short(column.name)!r}, which was one of dates")
    return words


def has_value(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which cells of a column hold a number or a word.

    Examples
    --------
    >>> has_value(np.array(["a", ""])).tolist(), has_value(np.array([np.nan, 1.0])).tolist()
    ([True, False], [False, True])
    """
    return np.asarray(column != "" if column.dtype.kind == "U" else ~np.isnan(column))


def read_points(path: str | os.PathLike[str], dimension: int, encoding: str | None = None) -> Array:
    """Return the points of a table: of its columns x_1, x_2, ..., or else of the first ones."""
    file = readable_file(path, LARGEST_TABLE)
    called = [f"x_{axis + 1}" for axis in range(dimension)]
    frame, _ = read_columns(file, lambda names: called if set(called) <= set(names) else names[:dimension], encoding)
    if frame.shape[1] < dimension:
        raise InvalidInput(f"{str(file)!r} has {frame.shape[1]} column(s), and a point of this lesson has {dimension}")
    for name, column in frame.items():
        if column.dtype.kind != "f":
            raise InvalidInput(f"{str(file)!r} has words in column {short(name)!r}: a coordinate is a number")
        if column.isna().any():
            row = column.isna().idxmax()
            raise InvalidInput(f"{str(file)!r} has no value in row {row}, column {short(name)!r}: fill it in")
    if len(frame) == 0:
        raise InvalidInput(f"{str(file)!r} has no rows: there is nothing to predict")
    return np.asarray(frame, dtype=np.float64)

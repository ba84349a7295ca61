"""Rows of another table, read as the table of a lesson was."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.prepared import Column, Preparation
from nimt.sources.cells import RawColumn, as_word, short
from nimt.sources.tables import LARGEST_TABLE, as_given, names_listed, raw_columns


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


def read_new_rows(path: str | os.PathLike[str], preparation: Preparation) -> NewRows:
    """Read the features of a preparation from a table; other columns are not looked at."""
    file = readable_file(path, LARGEST_TABLE)
    wanted = [column.name for column in preparation.columns]
    raw, first_row = raw_columns(file, lambda names: [*wanted, preparation.target])
    found = {column.name: column for column in raw}
    absent = next((name for name in wanted if name not in found), None)
    if absent is not None:
        raise InvalidInput(
            f"{str(file)!r} has no column {short(absent)!r}; the features of the lesson are {names_listed(wanted)}"
        )
    notes: list[str] = []
    columns, complete = {}, np.ones(len(found[wanted[0]].values), dtype=bool)
    filled: list[str] = []
    for column in preparation.columns:
        values, there = _values(column, found[column.name], str(file), notes)
        lacking = np.flatnonzero(~there)
        if lacking.size and preparation.missing == "refuse":
            raise InvalidInput(
                f"{str(file)!r} has no value in row {lacking[0] + first_row}, column {short(column.name)!r}: fill it "
                f"in, or teach with --missing drop or --missing mean"
            )
        if column.fill is None:
            complete &= there
        elif lacking.size:
            filled.append(_filling(column, lacking.size, int(lacking[0]) + first_row))
        columns[column.name] = values
    target = found.get(preparation.target)
    known = target is not None and target.words != ()
    if complete.size == 0:
        raise InvalidInput(f"{str(file)!r} has no rows: there is nothing to predict")
    if filled:
        notes.append(f"{file.name}: missing values are filled in as in the lesson: {'; '.join(filled)}")
    if not complete.all():
        first = int(np.flatnonzero(~complete)[0]) + first_row
        notes.append(
            f"{file.name}: {int((~complete).sum()):,} row(s) lack a value, the first is row {first}; they get no "
            f"prediction"
        )
    return NewRows(columns, complete, as_given(target) if target is not None and known else None, tuple(notes))


def _filling(column: Column, count: int, first: int) -> str:
    """Say what is filled in for missing values of a column."""
    value = column.fill if isinstance(column.fill, str) else f"{column.fill:.4g}"
    return f"{count:,} of {short(column.name)} with {short(str(value))}, the first in row {first}"


def _values(column: Column, raw: RawColumn, file: str, notes: list[str]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column as the preparation takes it, and where it has a value."""
    if not column.levels:
        if raw.words is not None:
            raise InvalidInput(f"{file!r} has words in column {short(column.name)!r}, which was one of numbers")
        return raw.values, ~raw.missing
    if raw.words == ():
        raise InvalidInput(f"{file!r} has too many different words in column {short(column.name)!r}")
    words = as_given(raw) if raw.words is not None else np.array([as_word(value) for value in raw.values])
    words = np.where(raw.missing, "", words)
    strange = ~raw.missing & ~np.isin(words, column.levels)
    if strange.any():
        notes.append(
            f"{file}: column {short(column.name)} has words that were not taught, the first is "
            f"{short(str(words[strange][0]))!r}, in {int(strange.sum()):,} row(s): they count as none of the known ones"
        )
    return words, ~raw.missing


def has_value(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which cells of a column hold a number or a word.

    Examples
    --------
    >>> has_value(np.array(["a", ""])).tolist(), has_value(np.array([np.nan, 1.0])).tolist()
    ([True, False], [False, True])
    """
    return np.asarray(column != "" if column.dtype.kind == "U" else ~np.isnan(column))


def read_points(path: str | os.PathLike[str], dimension: int) -> Array:
    """Return the points of a table: of its columns x_1, x_2, ..., or else of the first ones."""
    file = readable_file(path, LARGEST_TABLE)
    called = [f"x_{axis + 1}" for axis in range(dimension)]
    raw, first_row = raw_columns(file, lambda names: called if set(called) <= set(names) else names[:dimension])
    if len(raw) < dimension:
        raise InvalidInput(f"{str(file)!r} has {len(raw)} column(s), and a point of this lesson has {dimension}")
    for column in raw:
        if column.words is not None:
            raise InvalidInput(f"{str(file)!r} has words in column {short(column.name)!r}: a coordinate is a number")
        if column.missing.any():
            row = int(np.flatnonzero(column.missing)[0]) + first_row
            raise InvalidInput(f"{str(file)!r} has no value in row {row}, column {short(column.name)!r}: fill it in")
    points = np.column_stack([column.values for column in raw])
    if len(points) == 0:
        raise InvalidInput(f"{str(file)!r} has no rows: there is nothing to predict")
    return points

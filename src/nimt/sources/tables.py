"""Tables of examples: feature columns and a target column of a CSV file."""

from __future__ import annotations

import array
import contextlib
import csv
import itertools
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from nimt.arrays import Array
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.base import Points
from nimt.sources.source import Source

LARGEST_TABLE = 1 << 28  # bytes
LONGEST_LINE = 1 << 20  # characters
MOST_COLUMNS = 10_000
MOST_CELLS = 1 << 25  # numbers in use
MOST_LISTED = 20  # names of columns in a sentence
DUPLICATES = ("refuse", "mean")
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are used, and how.

    Parameters
    ----------
    features : tuple of str, optional
        Every column but the target by default.
    target : str, optional
        The last column by default.
    scale : bool
        Bring every feature to mean 0 and deviation 1.
    duplicates : {"refuse", "mean"}
        What to do with a point that has several targets.
    """

    features: tuple[str, ...] | None = None
    target: str | None = None
    scale: bool = False
    duplicates: str = "refuse"

    def __post_init__(self) -> None:
        if self.duplicates not in DUPLICATES:
            raise InvalidInput(f"duplicates must be one of {', '.join(DUPLICATES)}, got {self.duplicates!r}")


def read_table(path: str | os.PathLike[str], columns: Columns = Columns()) -> Source:  # noqa: B008 (frozen)
    """Read a CSV file as a function on its points.

    Parameters
    ----------
    path : path-like
        UTF-8, separated by commas, semicolons or tabs; with or without a first row of names.
    columns : Columns
    """
    file = readable_file(path, LARGEST_TABLE)
    with contextlib.closing(_rows_of(file)) as rows:
        first = next(rows, None)
        if first is None:
            raise InvalidInput(f"{str(file)!r} has no rows: a table needs at least 2")
        titled = not all(_is_number(cell) for cell in first)
        names = _names_of(first, file) if titled else [f"column {index + 1}" for index in range(len(first))]
        features, target = _used_columns(names, columns, file)
        used = _numbers(rows if titled else itertools.chain([first], rows), names, [*features, target], titled, file)
    if len(used) < 2:
        raise InvalidInput(f"{str(file)!r} has {len(used)} row(s) of data: a table needs at least 2")
    points, values = used[:, :-1], used[:, -1]
    notes = []
    if columns.features is None or columns.target is None:
        listed = _listed([names[index] for index in features])
        notes.append(f"{file.name}: features {listed}; target {_short(names[target])}")
    points, values, merged = _without_contradictions(points, values, columns.duplicates, file)
    notes += merged
    if columns.scale:
        points = _scaled(points, [names[index] for index in features], file)
    return Source(file.name, Points(points), values, dimension=len(features), notes=tuple(notes))


def _rows_of(file: Path) -> Generator[list[str], None, None]:
    """Yield the rows of text one after another, all as wide as the first; empty lines are left out."""
    with open(file, encoding="utf-8-sig", newline="") as text:
        lines = _lines_of(text, file)
        try:
            first = next(lines, "")
            separator = max(",;\t", key=first.count)
            if first.count(separator) >= MOST_COLUMNS:
                raise InvalidInput(
                    f"{str(file)!r} has {first.count(separator) + 1} columns, and {MOST_COLUMNS} are the most: leave "
                    f"some out"
                )
            width = None
            reader = csv.reader(itertools.chain([first], lines), delimiter=separator, strict=True)
            for number, row in enumerate((row for row in reader if row), start=1):
                width = len(row) if width is None else width
                if len(row) != width:
                    raise InvalidInput(
                        f"{str(file)!r} has {len(row)} column(s) in row {number} and {width} in the first"
                    )
                yield row
        except csv.Error as problem:
            raise InvalidInput(f"{str(file)!r} is not a table of comma-separated values ({problem})") from None
        except UnicodeDecodeError as problem:
            byte = problem.object[problem.start]
            raise InvalidInput(
                f"{str(file)!r} is not text in UTF-8 (it holds byte {byte:#x}): save it as such"
            ) from None


def _lines_of(text: TextIO, file: Path) -> Iterator[str]:
    while line := text.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise InvalidInput(
                f"{str(file)!r} has a line of more than {LONGEST_LINE} characters: a table has a row on each line"
            )
        yield line


def _names_of(row: list[str], file: Path) -> list[str]:
    names = [cell.strip() or f"column {index + 1}" for index, cell in enumerate(row)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInput(f"{str(file)!r} has two columns named {_short(twice)!r}: rename one")
    return names


def _used_columns(names: list[str], columns: Columns, file: Path) -> tuple[list[int], int]:
    """Return the places of the features, and of the target."""
    places = {name: index for index, name in enumerate(names)}
    for asked in (*(columns.features or ()), *(() if columns.target is None else (columns.target,))):
        if asked not in places:
            raise InvalidInput(f"{str(file)!r} has no column {_short(asked)!r}; it has {_listed(names)}")
    target = len(names) - 1 if columns.target is None else places[columns.target]
    if columns.features is not None:
        features = [places[name] for name in columns.features]
    else:
        features = [index for index in range(len(names)) if index != target]
    if not features or target in features:
        raise InvalidInput(
            f"{str(file)!r} needs a target column and at least one other as a feature, and has {_listed(names)}"
        )
    return features, target


def _numbers(rows: Iterable[list[str]], names: list[str], used: list[int], titled: bool, file: Path) -> Array:
    """Return the numbers in the columns that are used, counted while they are read."""
    numbers = array.array("d")
    for line, row in enumerate(rows, start=2 if titled else 1):
        numbers.extend(_number(row[index], line, names[index], file) for index in used)
        if len(numbers) > MOST_CELLS:
            raise InvalidInput(f"{str(file)!r} has more than {MOST_CELLS} numbers in use: leave out rows or columns")
    return np.array(numbers).reshape(-1, len(used))


def _listed(names: list[str]) -> str:
    """Return the names of columns for a sentence, not all where they are many."""
    more = f", ... ({len(names)} columns)" if len(names) > MOST_LISTED else ""
    return ", ".join(_short(name) for name in names[:MOST_LISTED]) + more


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:40]}..."


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # float() accepts 1_000, which is text in a table


def _number(cell: str, line: int, name: str, file: Path) -> float:
    if cell.strip().lower() in MISSING:
        raise InvalidInput(
            f"{str(file)!r} has no value in row {line}, column {_short(name)!r}: fill it in or drop the row"
        )
    if not _is_number(cell):
        raise InvalidInput(
            f"{str(file)!r} has the text {cell[:40]!r} in row {line}, column {_short(name)!r}: choose columns of "
            f"numbers with --features and --target-column"
        )
    value = float(cell)
    if not np.isfinite(value):
        raise InvalidInput(
            f"{str(file)!r} has {_short(cell)!r} in row {line}, column {_short(name)!r}: every value must be finite"
        )
    return value


def _without_contradictions(
    points: Array, values: Array, duplicates: str, file: Path
) -> tuple[Array, Array, list[str]]:
    """Refuse, or average, points that come with several targets; equal rows count once."""
    distinct, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
    if len(distinct) == len(points):
        return points, values, []
    place = np.ravel(place)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    torn = int(np.count_nonzero(low < high))
    if torn and duplicates == "refuse":
        raise InvalidInput(
            f"{str(file)!r} has {torn} point(s) that come with different targets, and no learner can fit both: "
            f"--duplicates mean teaches their mean"
        )
    counts = np.bincount(place)
    means = low.copy()  # exact for points with one target
    apart = low < high
    means[apart] = (np.bincount(place, weights=values) / counts)[apart]
    order = np.argsort(first)  # in the order of the file
    done = f"{torn} of them with different targets, taught as their mean" if torn else "each counts once"
    note = f"{file.name}: {len(points) - len(distinct)} row(s) repeat a point, {done}"
    return points[np.sort(first)], means[order], [note]


def _scaled(points: Array, names: list[str], file: Path) -> Array:
    deviation = points.std(axis=0)
    if (flat := np.flatnonzero(deviation == 0)).size:
        raise InvalidInput(
            f"{str(file)!r} has the same value everywhere in column {_short(names[flat[0]])!r}: leave it out"
        )
    return np.asarray((points - points.mean(axis=0)) / deviation)

"""Tables of examples: feature columns and a target column of a CSV file."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nimt.arrays import Array
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.base import Points
from nimt.sources.source import Source

LARGEST_TABLE = 1 << 28  # bytes
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
        What to do with one point that has several targets.
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
        UTF-8, separated by commas, semicolons or tabs; a first row of names, or none.
    columns : Columns
    """
    file = readable_file(path, LARGEST_TABLE)
    names, rows, titled = _rows_of(file)
    target = _column(names, columns.target, file) if columns.target is not None else len(names) - 1
    if columns.features is not None:
        features = [_column(names, name, file) for name in columns.features]
    else:
        features = [index for index in range(len(names)) if index != target]
    if not features or target in features:
        raise InvalidInput(
            f"{str(file)!r} needs a target column and at least one other as a feature, and has {', '.join(names)}"
        )
    if len(rows) < 2:
        raise InvalidInput(f"{str(file)!r} has {len(rows)} row(s) of data: a table needs at least 2")
    used = np.array(
        [
            [_number(row[index], line, names[index], file) for index in (*features, target)]
            for line, row in enumerate(rows, start=2 if titled else 1)
        ]
    )
    points, values = used[:, :-1], used[:, -1]
    notes = []
    if columns.features is None or columns.target is None:
        listed = ", ".join(names[index] for index in features)
        notes.append(f"{file.name}: features {listed}; target {names[target]}")
    points, values, merged = _without_contradictions(points, values, columns.duplicates, file)
    notes += merged
    if columns.scale:
        points = _scaled(points, [names[index] for index in features], file)
    return Source(file.name, Points(points), values, dimension=len(features), notes=tuple(notes))


def _rows_of(file: Path) -> tuple[list[str], list[list[str]], bool]:
    """Return the names of the columns, the rows of text, and whether the file named its columns itself."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{str(file)!r} is not text in UTF-8 (byte {problem.start}): save it as such") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True) if row]
    except csv.Error as problem:
        raise InvalidInput(f"{str(file)!r} is not a table of comma-separated values ({problem})") from None
    if not rows:
        raise InvalidInput(f"{str(file)!r} has no rows: a table needs at least 2")
    width = len(rows[0])
    for line, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InvalidInput(f"{str(file)!r} has {len(row)} column(s) in row {line} and {width} in the first")
    if all(_is_number(cell) for cell in rows[0]):
        return [f"column {index + 1}" for index in range(width)], rows, False
    names = [cell.strip() or f"column {index + 1}" for index, cell in enumerate(rows[0])]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInput(f"{str(file)!r} has two columns named {twice!r}: rename one")
    return names, rows[1:], True


def _column(names: list[str], asked: str, file: Path) -> int:
    if asked not in names:
        raise InvalidInput(f"{str(file)!r} has no column {asked!r}; it has {', '.join(names)}")
    return names.index(asked)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell  # Python's 1_000 is text in a table


def _number(cell: str, line: int, name: str, file: Path) -> float:
    if cell.strip().lower() in MISSING:
        raise InvalidInput(f"{str(file)!r} has no value in row {line}, column {name!r}: fill it in or drop the row")
    if not _is_number(cell):
        raise InvalidInput(
            f"{str(file)!r} has the text {cell[:40]!r} in row {line}, column {name!r}: choose columns of numbers "
            f"with --features and --target-column"
        )
    value = float(cell)
    if not np.isfinite(value):
        raise InvalidInput(f"{str(file)!r} has {cell!r} in row {line}, column {name!r}: every value must be finite")
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
    means = low.copy()  # exact where a point has one target only
    apart = low < high
    means[apart] = (np.bincount(place, weights=values) / counts)[apart]
    order = np.argsort(first)  # as they come in the file
    done = f"{torn} of them with different targets, taught as their mean" if torn else "each counts once"
    note = f"{file.name}: {len(points) - len(distinct)} row(s) repeat a point, {done}"
    return points[np.sort(first)], means[order], [note]


def _scaled(points: Array, names: list[str], file: Path) -> Array:
    deviation = points.std(axis=0)
    if (flat := np.flatnonzero(deviation == 0)).size:
        raise InvalidInput(f"{str(file)!r} has the same value everywhere in column {names[flat[0]]!r}: leave it out")
    return np.asarray((points - points.mean(axis=0)) / deviation)

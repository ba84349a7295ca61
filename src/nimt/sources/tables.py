"""Tables of examples: which columns are features and target, and how their rows become points."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, is_number, power_of_two
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.prepared import Column, Preparation, PreparedPoints
from nimt.sources.cells import ColumnReader, RawColumn, as_word, numbers_of, short
from nimt.sources.parquet import read_parquet
from nimt.sources.rows import MOST_COLUMNS, blocks_of, readable_text
from nimt.sources.source import Aside, Source

LARGEST_TABLE = 1 << 28  # bytes
MOST_CELLS = 1 << 25  # values in use
MOST_LISTED = 20  # names of columns in a sentence
MOST_LEVELS = 100  # different words of a feature
MOST_CLASSES = 100
USUAL_HOLDOUT = 0.2
FEW_ROWS = 20  # with fewer, none is held out by default
DUPLICATES = ("refuse", "mean")
MISSING_RULES = ("refuse", "drop", "mean")
NUMBERS_OF_ROWS = {"id", "index", "row", "no", "nr", "number", "unnamed: 0", "rowid", "row_id", "column 1"}


@dataclass(frozen=True)
class Columns:
    """Which columns and rows of a table are used, and how.

    Parameters
    ----------
    features : tuple of str, optional
        Every column but the target by default.
    target : str, optional
        The last column by default.
    scale : bool
        Bring every feature of numbers to mean 0 and deviation 1.
    duplicates : {"refuse", "mean"}
        What to do with a point that has several targets; of classes, "mean" takes the most frequent.
    missing : {"refuse", "drop", "mean"}
        What to do with a row without a value: refuse the table, leave the row out, or fill in the mean of the column
        (of words: the most frequent). A row without a target is left out also with "mean".
    holdout : float or None
        The share of the rows that is held out: not taught, and kept for measuring the error on rows never seen. None
        holds out a fifth where there are at least 20 rows.
    classes : bool
        Whether a target of numbers is one of classes, as it is for the hinge and the logistic loss. A target of words
        always is.
    """

    features: tuple[str, ...] | None = None
    target: str | None = None
    scale: bool = True
    duplicates: str = "refuse"
    missing: str = "refuse"
    holdout: float | None = 0.0
    classes: bool = False

    def __post_init__(self) -> None:
        if self.duplicates not in DUPLICATES:
            raise InvalidInput(f"duplicates must be one of {', '.join(DUPLICATES)}, got {self.duplicates!r}")
        if self.missing not in MISSING_RULES:
            raise InvalidInput(f"missing must be one of {', '.join(MISSING_RULES)}, got {self.missing!r}")
        if self.holdout is not None and (not is_number(self.holdout) or not 0 <= self.holdout < 1):
            raise InvalidInput(f"holdout must be a share from 0 to below 1, got {self.holdout!r}")

    def asked(self, names: list[str]) -> list[str]:
        """Return which of the columns of a table are used."""
        if self.features is None:
            return names
        return [*self.features, names[-1] if self.target is None else self.target]


@dataclass(frozen=True, eq=False)
class Rows:
    """The used columns of the used rows, before they become points."""

    features: list[RawColumn]
    target: RawColumn
    numbers: NDArray[np.int64]  # of the rows, in the file
    file: Path
    notes: tuple[str, ...] = ()

    def taken(self, rows: NDArray[np.intp], *notes: str) -> Rows:
        """Return some of the rows."""
        features = [replace(column, values=column.values[rows]) for column in self.features]
        target = replace(self.target, values=self.target.values[rows])
        return Rows(features, target, self.numbers[rows], self.file, (*self.notes, *notes))

    def __len__(self) -> int:
        return len(self.numbers)


def read_table(path: str | os.PathLike[str], columns: Columns = Columns()) -> Source:  # noqa: B008 (frozen)
    """Read a table as a function on its points.

    Parameters
    ----------
    path : path-like
        `.csv` or `.tsv`, also gzipped (`.csv.gz`), in UTF-8, separated by commas, semicolons or tabs, with or without a
        first row of names; or `.parquet`. With semicolons and tabs, 1,5 is a number.
    columns : Columns
    """
    file = readable_file(path, LARGEST_TABLE)
    raw, first_row = raw_columns(file, columns.asked)
    rows = _used(raw, columns, file, first_row)
    rows = _without_missing(rows, columns.missing)
    rows = _as_classes(rows, columns)
    rows = _without_contradictions(rows, columns.duplicates)
    if len(rows) < 2:
        raise InvalidInput(f"{str(file)!r} has {len(rows)} different row(s) of data: a table needs at least 2")
    kept, aside = _split(rows, columns.holdout)
    preparation = _prepared(kept, columns)
    points = preparation.points(_named(kept))
    pool = PreparedPoints(points, preparation, kept.numbers)
    values = _target_values(kept, preparation)
    held = None if aside is None else Aside(preparation.points(_named(aside)), _target_values(aside, preparation))
    return Source(file.name, pool, values, dimension=pool.dimension, notes=kept.notes, aside=held)


def raw_columns(file: Path, asked: Callable[[list[str]], Iterable[str]]) -> tuple[list[RawColumn], int]:
    """Return the columns of a file, and the row at which the data begin.

    `asked` says which columns are read, given the names of all: the cells of the others are not looked at.
    """
    if file.suffix.lower() == ".parquet":
        return read_parquet(file, MOST_COLUMNS, asked), 1
    with readable_text(file), contextlib.closing(blocks_of(file)) as blocks:
        first = next(blocks, None)
        rows = [] if first is None else first.rows()
        if first is None or not rows:
            raise InvalidInput(f"{str(file)!r} has no rows: a table needs at least 2")
        comma = first.separator != ","
        titled = any(numbers_of([cell], comma) is None for cell in rows[0])
        names = _names_of(rows[0], file) if titled else [f"column {place + 1}" for place in range(len(rows[0]))]
        wanted = set(asked(names))
        used = [place for place, name in enumerate(names) if name in wanted]
        readers = [ColumnReader(names[place], file, comma=comma) for place in used]
        _add_cells(readers, used, rows[1:] if titled else rows, 2 if titled else 1)
        count = len(rows) * len(used)
        for block in blocks:
            numbers = None if any(reader.is_of_words for reader in readers) else block.numbers(used)
            if numbers is not None:
                count += numbers.size
                for reader, column in zip(readers, numbers.T, strict=True):
                    reader.add_numbers(column)
            else:
                rows = block.rows()
                count += len(rows) * len(used)
                _add_cells(readers, used, rows, block.number)
            if count > MOST_CELLS:
                raise InvalidInput(f"{str(file)!r} has more than {MOST_CELLS} values in use: leave out rows or columns")
        return [reader.column() for reader in readers], 2 if titled else 1


def _add_cells(readers: list[ColumnReader], places: list[int], rows: list[list[str]], number: int) -> None:
    """Give every column its cells of some rows."""
    if rows:
        columns = list(zip(*rows, strict=True))
        for reader, place in zip(readers, places, strict=True):
            reader.add(columns[place], number)


def _names_of(row: list[str], file: Path) -> list[str]:
    names = [cell.strip() or f"column {index + 1}" for index, cell in enumerate(row)]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInput(f"{str(file)!r} has two columns named {short(twice)!r}: rename one")
    return names


def _check_names(names: Iterable[str], columns: Columns, file: Path) -> None:
    """Refuse columns that are asked for and not there."""
    there = list(names)
    known = set(there)
    for asked in (*(columns.features or ()), *(() if columns.target is None else (columns.target,))):
        if asked not in known:
            raise InvalidInput(f"{str(file)!r} has no column {short(asked)!r}; it has {names_listed(there)}")


# ---------------------------------------------------------------- which columns


def _used(raw: list[RawColumn], columns: Columns, file: Path, first_row: int) -> Rows:
    """Choose the features and the target, and point out columns that can teach nothing."""
    names = [column.name for column in raw]
    _check_names(names, columns, file)
    by_name = {column.name: column for column in raw}
    target = raw[-1] if columns.target is None else by_name[columns.target]
    asked = [name for name in names if name != target.name] if columns.features is None else list(columns.features)
    if not asked or target.name in asked:
        raise InvalidInput(
            f"{str(file)!r} needs a target column and at least one other as a feature, and has {names_listed(names)}"
        )
    features, notes = [], []
    for name in asked:
        column = by_name[name]
        why = _why_useless(column)
        if why is None:
            features.append(column)
            if column.is_of_dates:
                notes.append(
                    f"{file.name}: column {short(name)} holds dates, used as {len(column.words or ())} categories "
                    f"without an order: write a date as a number to use its order"
                )
        elif columns.features is not None or len(asked) == 1:
            raise InvalidInput(f"{str(file)!r}: column {short(name)!r} {why}: choose others with --features")
        else:
            notes.append(f"{file.name}: column {short(name)} {why}, and is left out")
    if not features:
        raise InvalidInput(f"{str(file)!r} has no column that can be a feature: {'; '.join(notes)[:300]}")
    if columns.features is None or columns.target is None:
        used = names_listed([column.name for column in features])
        notes.insert(0, f"{file.name}: features {used}; target {short(target.name)}")
    if columns.features is None and len(features) > 1:
        notes += [_numbering_note(column, file) for column in features if numbers_the_rows(column)]
    count = len(target.values)
    if count < 2:
        raise InvalidInput(f"{str(file)!r} has {count} row(s) of data: a table needs at least 2")
    return Rows(features, target, np.arange(first_row, first_row + count), file, tuple(notes))


def _why_useless(column: RawColumn) -> str | None:
    """Say why a column cannot be a feature, None if it can."""
    if column.words is None:
        return None
    if not column.words:
        return "has too many different words, or values that are neither numbers nor words"
    if len(column.words) > MOST_LEVELS:
        return f"has {len(column.words):,} different words{_kind(column)}, and a category has at most {MOST_LEVELS}"
    if len(column.values) >= FEW_ROWS and len(column.words) == len(column.values):
        return f"has another word in every row{_kind(column) or ', like a name'}"
    return None


def _kind(column: RawColumn) -> str:
    return " (dates)" if column.is_of_dates else column.hint


def numbers_the_rows(column: RawColumn) -> bool:
    """Say whether a column counts the rows, as an id does: 1, 2, 3, ...; or is called so and never repeats a number."""
    if column.words is not None or len(column.values) < FEW_ROWS or column.missing.any():
        return False
    steps = np.diff(column.values)
    if not np.array_equal(column.values, np.round(column.values)):
        return False
    return bool((steps == 1).all()) or (
        column.name.strip().lower() in NUMBERS_OF_ROWS and len(np.unique(column.values)) == len(column.values)
    )


def _numbering_note(column: RawColumn, file: Path) -> str:
    return (
        f"{file.name}: column {short(column.name)} looks like an id, which says nothing about other rows: --features "
        f"without it leaves it out"
    )


# ---------------------------------------------------------------- which rows


def _without_missing(rows: Rows, rule: str) -> Rows:
    """Leave out rows, or refuse the table, by the rule for missing values; "mean" fills features in later."""
    columns = [*rows.features, rows.target]
    lacking = np.column_stack([column.missing for column in columns])
    if not lacking.any():
        return rows
    first = int(np.flatnonzero(lacking.any(axis=1))[0])
    name = columns[int(np.flatnonzero(lacking[first])[0])].name
    count = int(lacking.any(axis=1).sum())
    if rule == "refuse":
        raise InvalidInput(
            f"{str(rows.file)!r} has no value in row {rows.numbers[first]}, column {short(name)!r}, and {count:,} "
            f"row(s) without one in all: fill them in, or use --missing drop (leave these rows out) or --missing mean"
        )
    without = lacking.any(axis=1) if rule == "drop" else lacking[:, -1]
    if without.all():
        raise InvalidInput(f"{str(rows.file)!r} has no row with a value in every column: choose others with --features")
    said = f"{rows.file.name}: {count:,} row(s) lack a value, the first is row {rows.numbers[first]} ({short(name)}); "
    if rule == "drop":
        done = "they are left out"
    else:
        done = "the mean of the column is filled in"
        if without.any():
            done += f", and {int(without.sum()):,} without a target are left out"
        done += "; the target of such a row fits it badly, so greedy teaching shows it most often: --missing drop"
    return rows.taken(np.flatnonzero(~without), said + done)


def _as_classes(rows: Rows, columns: Columns) -> Rows:
    """Turn a target of numbers into words where it is one of classes, and check the classes."""
    target = rows.target
    if target.words is None and columns.classes:
        values, codes = np.unique(target.values, return_inverse=True)
        if len(values) > MOST_CLASSES:
            raise InvalidInput(
                f"{str(rows.file)!r}: this loss needs classes, and the target {short(target.name)!r} has {len(values)} "
                f"different numbers: use --loss square"
            )
        target = RawColumn(target.name, np.ravel(codes).astype(np.int64), tuple(as_word(value) for value in values))
    if target.words is None:
        return rows
    if not target.words or len(target.words) > MOST_CLASSES:
        raise InvalidInput(
            f"{str(rows.file)!r}: the target {short(target.name)!r} has more than {MOST_CLASSES} different "
            f"words{target.hint}: choose another with --target-column"
        )
    used = sorted({target.words[code] for code in np.unique(target.values)})  # in alphabetical order
    if len(used) < 2:
        raise InvalidInput(
            f"{str(rows.file)!r}: the target {short(target.name)!r} is {short(used[0])!r} in every row: there is "
            f"nothing to teach"
        )
    place = {word: number for number, word in enumerate(used)}
    codes = np.array([place.get(word, -1) for word in target.words])[target.values]
    counts = np.bincount(codes, minlength=len(used))
    listed = ", ".join(f"{short(word)} ({counts[number]:,})" for number, word in enumerate(used[:MOST_LISTED]))
    more = "" if len(used) <= MOST_LISTED else ", ..."
    note = f"{rows.file.name}: the target {short(target.name)} has {len(used)} classes: {listed}{more}"
    return Rows(rows.features, RawColumn(target.name, codes, tuple(used)), rows.numbers, rows.file, (*rows.notes, note))


def _without_contradictions(rows: Rows, duplicates: str) -> Rows:
    """Refuse, or average, points that come with several targets; equal rows count once."""
    points = np.column_stack([np.nan_to_num(column.values.astype(float), nan=np.inf) for column in rows.features])
    if not _may_repeat(points):
        return rows
    distinct, first, place = np.unique(points, axis=0, return_index=True, return_inverse=True)
    if len(distinct) == len(points):
        return rows
    place = np.ravel(place)
    values = rows.target.values.astype(float)
    low, high = np.full(len(distinct), np.inf), np.full(len(distinct), -np.inf)
    np.minimum.at(low, place, values)
    np.maximum.at(high, place, values)
    torn = int(np.count_nonzero(low < high))
    if torn and duplicates == "refuse":
        refusal = InvalidInput(
            f"{str(rows.file)!r} has {torn} point(s) that come with different targets, and no learner can fit both: "
            f"--duplicates mean teaches their mean"
        )
        for note in rows.notes:
            if note.startswith(f"{rows.file.name}: column "):  # one that was left out may have told them apart
                refusal.add_note(note)
        raise refusal
    merged = low.copy()  # exact for points with one target
    apart = low < high
    if rows.target.words is None:
        merged[apart] = (np.bincount(place, weights=values) / np.bincount(place))[apart]
        taught = "their mean"
    else:
        counts = np.zeros((len(distinct), len(rows.target.words)))
        np.add.at(counts, (place, rows.target.values), 1)
        merged[apart] = counts.argmax(axis=1)[apart]
        taught = "the most frequent"
    order = np.argsort(first)  # in the order of the file
    done = f"{torn} of them with different targets, taught as {taught}" if torn else "each counts once"
    note = f"{rows.file.name}: {len(points) - len(distinct)} row(s) repeat a point, {done}"
    kept = rows.taken(np.sort(first), note)
    return replace(kept, target=replace(rows.target, values=merged[order].astype(rows.target.values.dtype)))


def _may_repeat(points: Array) -> bool:
    """Say whether two rows may be equal: they then have equal sums, and sorting sums is faster than sorting rows."""
    sums = np.zeros(len(points))
    factors = np.random.default_rng(0).normal(size=(points.shape[1], 1))
    for column, factor in zip(points.T, factors, strict=True):
        sums += np.where(np.isinf(column), 0.5, column) * factor  # column by column, so that equal rows round alike
    sums.sort()
    return not bool((sums[1:] > sums[:-1]).all())


def _split(rows: Rows, share: float | None) -> tuple[Rows, Rows | None]:
    """Hold out a share of the rows, drawn with a fixed seed."""
    if share is None:
        share = USUAL_HOLDOUT if len(rows) >= FEW_ROWS else 0.0
    count = max(1, round(share * len(rows))) if share else 0
    if count == 0:
        return rows, None
    if len(rows) - count < 2:
        raise InvalidInput(f"holdout must leave at least 2 rows of {len(rows)}, got {share!r}")
    order = np.random.default_rng(0).permutation(len(rows))
    aside, kept = np.sort(order[:count]), np.sort(order[count:])
    note = (
        f"{rows.file.name}: {count:,} of {len(rows):,} rows are held out, for measuring the error on rows never shown: "
        f"--holdout sets another share"
    )
    return rows.taken(kept, note), rows.taken(aside)


# ---------------------------------------------------------------- points and labels


def _prepared(rows: Rows, columns: Columns) -> Preparation:
    """Measure means and deviations on the rows that are taught."""
    made = tuple(_prepared_column(column, columns) for column in rows.features)
    flat = [column.name for column in rows.features if column.words is None and _is_flat(column)]
    if len(flat) == len(made):
        raise InvalidInput(
            f"{str(rows.file)!r} has the same value everywhere in column {short(flat[0])!r}: choose others with "
            f"--features"
        )
    return Preparation(made, rows.target.name, rows.target.words or (), columns.missing)


def _prepared_column(column: RawColumn, columns: Columns) -> Column:
    fills = columns.missing == "mean"
    known = column.values[~column.missing]
    if column.words is not None:
        levels = tuple(sorted(column.words[code] for code in np.unique(known)))
        usual = column.words[int(np.bincount(known).argmax())] if fills and len(known) else None
        return Column(column.name, levels=levels, fill=usual)
    unit = power_of_two(known)  # by which dividing is exact, so that no square leaves the range
    mean = unit * float((known / unit).mean()) if len(known) else 0.0
    deviation = unit * float((known / unit).std()) or 1.0  # a column with one value stays at 0
    fill = mean if fills else None
    return Column(column.name, mean, deviation, fill=fill) if columns.scale else Column(column.name, fill=fill)


def _is_flat(column: RawColumn) -> bool:
    known = column.values[~column.missing]
    return len(known) == 0 or bool((known == known[0]).all())


def _named(rows: Rows) -> dict[str, NDArray[np.generic]]:
    return {column.name: as_given(column) for column in rows.features}


def as_given(column: RawColumn) -> NDArray[np.generic]:
    """Return numbers as they are, and words instead of their places; a missing word is empty."""
    if column.words is None:
        return column.values
    return np.asarray(np.array([*column.words, ""])[column.values])


def _target_values(rows: Rows, preparation: Preparation) -> Array:
    if not preparation.classes:
        return np.asarray(rows.target.values, dtype=np.float64)
    return preparation.labels(list(as_given(rows.target)))


def names_listed(names: list[str]) -> str:
    """Return the names of columns for a sentence, not all where they are many."""
    more = f", ... ({len(names)} columns)" if len(names) > MOST_LISTED else ""
    return ", ".join(short(name) for name in names[:MOST_LISTED]) + more

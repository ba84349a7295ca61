"""Tables of examples: which columns are features and target, and how their rows become points."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_count, is_number, power_of_two
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.prepared_points import Column, Preparation, PreparedPoints
from nimt.sources.cells import as_word, list_names, short
from nimt.sources.column_kinds import (
    FEW_ROWS,
    MOST_CLASSES,
    as_dates,
    check_classes,
    describe_words,
    numbers_the_rows,
    replace_values,
    say_why_useless,
    words_of,
)
from nimt.sources.source import Aside, Source
from nimt.sources.table_files import LARGEST_TABLE, read_columns
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

MOST_LISTED = 20  # classes in a sentence
MOST_NUMBERED = 20  # different whole numbers that are taken for classes
USUAL_HOLDOUT = 0.2
MOST_HELD_OUT = 20_000  # rows: they measure an error to a hundredth
DUPLICATES = ("mean", "refuse")
MISSING_RULES = ("refuse", "drop", "mean")
FEATURES = Wording("Columns(features=...)", "--features")
AS_NUMBERS = Wording("Columns(classes=False)", "--numbers")
AS_CLASSES = Wording("Columns(classes=True)", "--classes")
OTHER_FEATURES = FEATURES.embed("choose others with ")


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
    duplicates : {"mean", "refuse"}
        What to do with a point that has several targets; of classes, "mean" takes the most frequent.
    missing : {"refuse", "drop", "mean"}
        What to do with a row without a value: refuse the table, leave the row out, or fill in the mean of the column
        (of words: the most frequent). A row without a target is left out also with "mean".
    holdout : float or None
        The share of the rows that is held out: not taught, and kept for measuring the error on rows never seen. None
        holds out a fifth where there are at least 20 rows.
    classes : bool or None
        Whether a target of numbers is one of classes, as it is for the hinge and the logistic loss. None takes whole
        numbers for classes if there are few, with a note. A target of words always is one of classes.
    encoding : str, optional
        Of a table as text, such as "latin-1"; by default UTF-8, or else Latin-1 with a note.
    most_rows : int, optional
        How many rows are taught; of more, so many are drawn at random, with a note, and at most 20,000 are held out
        where `holdout` does not say how many. By default all.
    """

    features: tuple[str, ...] | None = None
    target: str | None = None
    scale: bool = True
    duplicates: str = "mean"
    missing: str = "refuse"
    holdout: float | None = 0.0
    classes: bool | None = False
    encoding: str | None = None
    most_rows: int | None = None

    def __post_init__(self) -> None:
        if self.duplicates not in DUPLICATES:
            raise InvalidInput(
                f"must be one of {', '.join(DUPLICATES)}, got {self.duplicates!r}", parameter="duplicates"
            )
        if self.missing not in MISSING_RULES:
            raise InvalidInput(f"must be one of {', '.join(MISSING_RULES)}, got {self.missing!r}", parameter="missing")
        if self.holdout is not None and (not is_number(self.holdout) or not 0 <= self.holdout < 1):
            raise InvalidInput(f"must be a share from 0 to below 1, got {self.holdout!r}", parameter="holdout")
        if self.most_rows is not None:
            check_count("most_rows", self.most_rows, at_least=2)

    def choose(self, names: list[str]) -> list[str]:
        """Return which of the columns of a table are used."""
        if self.features is None:
            return names
        return [*self.features, names[-1] if self.target is None else self.target]


@dataclass(frozen=True, eq=False)
class TableRows:
    """The used columns of the used rows, before they become points.

    Attributes
    ----------
    frame : DataFrame
        The features in their order, then the target; its index is the number of each row in the file.
    forms : dict of name -> str
        The forms of the columns of dates.
    """

    frame: pd.DataFrame
    file: Path
    notes: tuple[str, ...] = ()
    forms: dict[str, str] = field(default_factory=dict)

    @property
    def features(self) -> pd.DataFrame:
        return self.frame.iloc[:, :-1]

    @property
    def target(self) -> pd.Series:
        return self.frame.iloc[:, -1]

    def take(self, places: Any, *notes: str) -> TableRows:
        """Return some of the rows."""
        return replace(self, frame=self.frame.iloc[places], notes=(*self.notes, *notes))

    def with_target(self, target: Any, *notes: str) -> TableRows:
        """Return the rows with other values of the target."""
        frame = self.frame.assign(**{self.target.name: target})
        return replace(self, frame=frame, notes=(*self.notes, *notes))

    def __len__(self) -> int:
        return len(self.frame)


def read_table(path: str | os.PathLike[str], columns: Columns = Columns()) -> Source:  # noqa: B008 (frozen)
    """Read a table as a function on its points.

    Parameters
    ----------
    path : path-like
        `.csv` or `.tsv`, also gzipped (`.csv.gz`), separated by commas, semicolons or tabs, with or without a first row
        of names; `.xlsx`, of which the first sheet is read; or `.parquet`. With semicolons and tabs, 1,5 is a number.
    columns : Columns
    """
    file = readable_file(path, LARGEST_TABLE)
    frame, notes = read_columns(file, lambda names: _ask_for(names, columns, file), columns.encoding)
    rows = _choose_columns(frame, columns, file, notes)
    rows = _treat_missing(rows, columns.missing)
    rows = _find_classes(rows, columns)
    rows = _merge_repeated(rows, columns.duplicates)
    if len(rows) < 2:
        raise InvalidInput(f"{str(file)!r} has {len(rows)} different row(s) of data: a table needs at least 2")
    _check_varies(rows)
    kept, aside = _split(rows, columns.holdout, columns.most_rows)
    preparation = _prepare(kept, columns)
    pool = PreparedPoints(_points(kept, preparation), preparation, kept.frame.index.to_numpy())
    values = _labels(kept, preparation)
    held = None if aside is None else Aside(_points(aside, preparation), _labels(aside, preparation))
    return Source(file.name, pool, values, dimension=pool.dimension, notes=kept.notes, aside=held)


# ---------------------------------------------------------------- which columns


def _ask_for(names: list[str], columns: Columns, file: Path) -> list[str]:
    """Return which of the columns of a table are used; one that is asked for and not there is refused."""
    asked = columns.choose(names)
    there = set(names)
    wanted = asked if columns.target is None else [*asked, columns.target]
    absent = next((name for name in wanted if name not in there), None)
    if absent is not None:
        raise InvalidInput(f"{str(file)!r} has no column {short(absent)!r}; it has {list_names(names)}")
    return asked


def _choose_columns(frame: pd.DataFrame, columns: Columns, file: Path, notes: list[str]) -> TableRows:
    """Choose the features and the target, and point out columns that can teach nothing."""
    import pandas as pd

    names = list(frame.columns)
    target = names[-1] if columns.target is None else columns.target
    asked = [name for name in names if name != target] if columns.features is None else list(columns.features)
    if not asked or target in asked:
        raise InvalidInput(
            f"{str(file)!r} needs a target column and at least one other as a feature, and has {list_names(names)}"
        )
    features: dict[str, pd.Series] = {}
    said: list[str] = []
    forms: dict[str, str] = {}
    for name in asked:
        column, form = as_dates(frame[name])
        why = say_why_useless(column)
        if why is None:
            features[name] = column
            if form is not None:
                forms[name] = form
            said += describe_words(column, form, file)
        elif columns.features is not None or len(asked) == 1:
            raise InvalidInput(f"{str(file)!r}: column {short(name)!r} {why}", way_out=OTHER_FEATURES)
        else:
            said.append(f"{file.name}: column {short(name)} {why}, and is left out")
    if not features:
        raise InvalidInput(f"{str(file)!r} has no column that can be a feature: {'; '.join(said)[:300]}")
    if columns.features is None or columns.target is None:
        said.insert(0, f"{file.name}: features {list_names(list(features))}; target {short(target)}")
    if columns.features is None and len(features) > 1:
        said += describe_ids(pd.DataFrame(features), tuple(forms), file.name)
    if len(frame) < 2:
        raise InvalidInput(f"{str(file)!r} has {len(frame)} row(s) of data: a table needs at least 2")
    used = pd.DataFrame(features | {target: frame[target]})
    return TableRows(used, file, (*notes, *said), forms)


def describe_ids(features: pd.DataFrame, dates: Sequence[str], table: str) -> list[Wording]:
    """Return a sentence for each column that looks like an id; columns of dates, as days, are none."""
    once = features.drop_duplicates()  # a row that repeats has the same id
    begin = "looks like an id, another whole number in every row, which says nothing"
    return [
        FEATURES.embed(f"{table}: column {short(name)} {begin}: ", " without it leaves it out")
        for name in features.columns
        if name not in dates and numbers_the_rows(once[name])
    ]


# ---------------------------------------------------------------- which rows


def _treat_missing(rows: TableRows, rule: str) -> TableRows:
    """Leave out rows, or refuse the table, by the rule for missing values; "mean" fills features in later."""
    lacking = rows.frame.isna()
    incomplete = lacking.any(axis=1)
    if not incomplete.any():
        return rows
    first, count = incomplete.idxmax(), int(incomplete.sum())
    name = lacking.loc[first].idxmax()
    if rule == "refuse":
        raise InvalidInput(
            f"{str(rows.file)!r} has no value in row {first}, column {short(name)!r}, and {count:,} row(s) without one "
            f"in all",
            way_out=Wording(
                "fill them in, or use Columns(missing='drop') (leave these rows out) or Columns(missing='mean')",
                "fill them in, or use --missing drop (leave these rows out) or --missing mean",
            ),
        )
    without = incomplete if rule == "drop" else rows.target.isna()
    if without.all():
        raise InvalidInput(f"{str(rows.file)!r} has no row with a value in every column", way_out=OTHER_FEATURES)
    said = f"{rows.file.name}: {count:,} row(s) lack a value, the first is row {first} ({short(name)}); "
    if rule == "drop":
        said += "they are left out"
    else:
        said += "the mean of the column is filled in"
        if without.any():
            said += f", and {int(without.sum()):,} without a target are left out"
        said += "; the target of such a row fits it badly, so greedy teaching shows it most often"
        said = Wording("Columns(missing='drop')", "--missing drop").embed(f"{said}: ", " leaves it out")
    return rows.take(np.flatnonzero(~without), said)


def _find_classes(rows: TableRows, columns: Columns) -> TableRows:
    """Turn a target of numbers into words where it is one of classes, and check the classes."""
    import pandas as pd

    target, name = rows.target, short(rows.target.name)
    named = target.dtype.kind == "f" and _look_like_classes(target)
    notes = []
    if named and not columns.classes:
        listed = ", ".join(as_word(value) for value in sorted(target.unique()))
        found = f"{rows.file.name}: the target {name} holds few whole numbers ({listed})"
        if columns.classes is None:
            notes.append(AS_NUMBERS.embed(f"{found}, taken for classes: ", " takes them for numbers"))
        else:
            notes.append(AS_CLASSES.embed(f"{found}, taught as numbers: ", " takes them for classes"))
    if target.dtype.kind == "f" and (columns.classes or (named and columns.classes is None)):
        if target.nunique() > MOST_CLASSES:
            raise InvalidInput(
                f"{str(rows.file)!r}: this loss needs classes, and the target {name!r} has {target.nunique()} "
                f"different numbers",
                way_out=Wording("use the square loss", "use --loss square"),
            )
        order = sorted(target.unique())
        target = replace_values(
            target, pd.Categorical(target, order).rename_categories([as_word(value) for value in order])
        )
    if target.dtype.kind == "f":
        return rows.take(slice(None), *notes)
    check_classes(words_of(target), name, rows.file)
    target = target.cat.remove_unused_categories()
    target = target.cat.reorder_categories(sorted(target.cat.categories))
    used = words_of(target)
    if len(used) < 2:
        raise InvalidInput(
            f"{str(rows.file)!r}: the target {name!r} is {short(used[0])!r} in every row: there is nothing to teach"
        )
    counts = target.value_counts(sort=False)
    listed = ", ".join(f"{short(word)} ({counts[word]:,})" for word in used[:MOST_LISTED])
    more = "" if len(used) <= MOST_LISTED else ", ..."
    note = f"{rows.file.name}: the target {name} has {len(used)} classes: {listed}{more}"
    return rows.with_target(target, *notes, note)


def _check_varies(rows: TableRows) -> None:
    """Refuse a target that is the same number everywhere: the learner of a table starts at the mean, and is done."""
    values = rows.target
    if values.dtype.kind == "f" and values.min() == values.max():
        raise InvalidInput(
            f"{str(rows.file)!r}: the target {short(values.name)!r} is {values.iloc[0]:g} in every row: "
            f"there is nothing to teach"
        )


def _look_like_classes(target: pd.Series) -> bool:
    """Say whether numbers may name classes: whole ones, few of them, each in five rows or more on average."""
    values = target.to_numpy()
    if len(values) < FEW_ROWS or not np.array_equal(values, np.round(values)):
        return False
    return bool(2 <= target.nunique() <= min(MOST_NUMBERED, len(values) // 5))


def _merge_repeated(rows: TableRows, duplicates: str) -> TableRows:
    """Refuse, or average, points that come with several targets; equal rows count once."""
    if not rows.features.duplicated().any():
        return rows
    has_classes = rows.target.dtype == "category"
    values = rows.target.cat.codes if has_classes else rows.target
    keys = [column.cat.codes if column.dtype == "category" else column for _, column in rows.features.items()]
    groups = values.groupby(keys, sort=False, dropna=False)  # in the order of the file
    low, high = groups.min().to_numpy(), groups.max().to_numpy()
    torn = low < high
    if torn.any() and duplicates == "refuse":
        refusal = InvalidInput(
            f"{str(rows.file)!r} has {int(torn.sum())} point(s) that come with different targets, and no learner can "
            f"fit both",
            way_out=Wording("Columns(duplicates='mean')", "--duplicates mean").embed(after=" teaches their mean"),
        )
        for note in rows.notes:
            if note.startswith(f"{rows.file.name}: column "):  # one that was left out may have told them apart
                refusal.add_note(note)
        raise refusal
    merged, taught = low.copy(), "their mean"  # low is exact for points with one target
    if torn.any() and has_classes:
        merged, taught = groups.agg(lambda codes: codes.mode()[0]).to_numpy(), "the most frequent"
    elif torn.any():
        merged[torn] = groups.mean().to_numpy()[torn]
    done = f"{int(torn.sum())} of them with different targets, taught as {taught}" if torn.any() else "each counts once"
    kept = rows.take(~rows.features.duplicated().to_numpy())
    if has_classes:
        merged = kept.target.cat.categories.take(merged)
        if len(set(merged)) < 2:
            raise InvalidInput(
                f"{str(rows.file)!r}: {int(torn.sum()):,} points come with several classes, and the most frequent of "
                f"each is {short(merged[0])!r}, the only one left: other features must tell the classes apart"
            )
    note = f"{rows.file.name}: {len(rows) - len(kept)} row(s) repeat a point, {done}"
    return kept.with_target(replace_values(kept.target, merged).astype(kept.target.dtype), note)


def _split(rows: TableRows, share: float | None, most: int | None) -> tuple[TableRows, TableRows | None]:
    """Hold out a share of the rows, and draw those that are taught where they are too many; with a fixed seed."""
    limit = len(rows)
    if share is None:
        share = USUAL_HOLDOUT if len(rows) >= FEW_ROWS else 0.0
        limit = limit if most is None else MOST_HELD_OUT
    count = min(limit, max(1, round(share * len(rows)))) if share else 0
    if count and len(rows) - count < 2:
        raise InvalidInput(f"must leave at least 2 rows of {len(rows)}, got {share!r}", parameter="holdout")
    order = np.random.default_rng(0).permutation(len(rows))
    aside, kept = order[:count], np.sort(order[count:][:most])  # any first part of `aside` is drawn at random, too
    notes = []
    if count + len(kept) < len(rows):
        drawn = f"{rows.file.name}: {len(kept):,} of {len(rows):,} rows are taught, drawn at random"
        notes.append(Wording("Columns(most_rows=...)", "--most-rows").embed(f"{drawn}: ", " sets another number"))
    if count == 0:
        return (rows.take(kept, *notes) if notes else rows), None
    said = (
        f"{rows.file.name}: {count:,} of {len(rows):,} rows are held out, for measuring the error on rows never shown"
    )
    note = Wording("Columns(holdout=...)", "--holdout").embed(f"{said}: ", " sets another share")
    return rows.take(kept, note, *notes), rows.take(aside)


# ---------------------------------------------------------------- points and labels


def _prepare(rows: TableRows, columns: Columns) -> Preparation:
    """Measure means and deviations on the rows that are taught."""
    made, flat = [], []
    for name, column in rows.features.items():
        made.append(_prepare_column(column, columns, rows.forms.get(name, "")))
        if column.dtype.kind == "f" and np.unique(column.to_numpy()[~np.isnan(column.to_numpy())]).size < 2:
            flat.append(name)
    if len(flat) == len(made):
        raise InvalidInput(
            f"{str(rows.file)!r} has the same value everywhere in column {short(flat[0])!r}", way_out=OTHER_FEATURES
        )
    return Preparation(tuple(made), rows.target.name, tuple(words_of(rows.target)), columns.missing)


def _prepare_column(column: pd.Series, columns: Columns, form: str) -> Column:
    fills = columns.missing == "mean"
    if column.dtype == "category":
        known = column.dropna()
        levels = tuple(sorted(known.unique()))
        return Column(column.name, levels=levels, fill=known.mode()[0] if fills and len(known) else None)
    values = column.to_numpy()
    values = values[~np.isnan(values)]
    unit = power_of_two(values)  # by which dividing is exact, so that no square leaves the range
    mean = unit * float((values / unit).mean()) if len(values) else 0.0
    deviation = (
        unit * float((values / unit).std()) if len(values) else 0.0
    ) or 1.0  # a column with one value stays at 0
    fill = mean if fills else None
    if not columns.scale:
        return Column(column.name, fill=fill, dates=form)
    return Column(column.name, mean, deviation, fill=fill, dates=form)


def _points(rows: TableRows, preparation: Preparation) -> Array:
    return preparation.points({name: as_array(column) for name, column in rows.features.items()})


def as_array(column: pd.Series) -> NDArray[Any]:
    """Return numbers and dates as they are, and words as text; a missing word is empty."""
    if column.dtype != "category":
        return np.asarray(column)
    return np.asarray(np.array([*words_of(column), ""], dtype=np.str_)[column.cat.codes])


def _labels(rows: TableRows, preparation: Preparation) -> Array:
    values = as_array(rows.target)
    return preparation.labels(list(values)) if preparation.classes else np.asarray(values, dtype=np.float64)

"""A table with a target column, read for the commands that judge its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.cli.console import Doing, note, stderr
from nimt.counting import say_count
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

FEW_ROWS = 20  # with fewer, no column is taken for a name or a number of rows

Table = Annotated[str, typer.Argument(help="A table: .csv, .tsv, .csv.gz, .xlsx or .parquet.", metavar="TABLE")]
TargetColumn = Annotated[
    str | None, typer.Option("--target-column", help="The column of the labels; by default the last.")
]
FeatureColumns = Annotated[
    str | None, typer.Option("--features", help="Feature columns, separated by commas; by default all others.")
]
Kind = Annotated[
    bool | None, typer.Option("--classes/--numbers", help="What the labels are, where they are whole numbers.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Of text, such as latin-1.")]


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The rows of a table that have a label.

    Attributes
    ----------
    frame : DataFrame
        All columns; its index is the number of each row in the file.
    X : DataFrame
        The features.
    y : array (n,)
    classes : bool or None
        Whether the labels are classes; None lets them tell.
    notes : tuple of str
        What was said of the table.
    file, encoding : Path, str or None
        Where the rows are from.
    first : int
        The number of the first row in the file.
    """

    frame: pd.DataFrame
    X: pd.DataFrame
    y: NDArray[Any]
    classes: bool | None
    notes: tuple[str, ...]
    file: Path
    encoding: str | None
    first: int

    def keep_columns(self, places: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], str, str]:
        """Return the numbers and all columns of some rows as the file has them; and its separator and decimal sign.

        Of a file that is not text, the columns are those that were read.
        """
        import numpy as np

        numbers = self.frame.index.to_numpy()[places]
        separator, decimal = ",", "."
        if self.file.suffix.lower() in (".parquet", ".xlsx"):
            columns = as_columns(self.frame.iloc[places])
        else:
            from nimt.sources.delimited import read_cells

            cells = read_cells(self.file, self.encoding)
            separator, decimal = cells.separator, cells.decimal
            written = [cells.rows[number - self.first] for number in numbers]
            columns = {
                name: np.array([row[place] for row in written], object) for place, name in enumerate(cells.names)
            }
        return {find_free_name("row", columns): numbers, **columns}, separator, decimal


def read_labelled_rows(
    table: str, target: str | None, features: str | None, classes: bool | None, encoding: str | None, watch: Doing
) -> LabelledRows:
    """Read all columns of a table, say what is left out, and refuse labels that cannot be judged."""
    from nimt.datasets.places import readable_file
    from nimt.sources.cells import list_names, short
    from nimt.sources.column_kinds import check_classes, describe_units, words_of
    from nimt.sources.table_files import LARGEST_TABLE, read_columns, tell_reading
    from nimt.sources.tables import as_array, describe_ids
    from nimt.teaching_sets.row_checks import read_rows

    file = readable_file(table, LARGEST_TABLE)
    if not stderr().isatty():  # a person was told at once, before anything was loaded
        tell_reading(file, watch)
    frame, said = read_columns(file, lambda names: names, encoding)
    names = list(frame.columns)
    label = names[-1] if target is None else target
    asked = [name for name in names if name != label] if features is None else features.split(",")
    absent = next((name for name in (label, *asked) if name not in names), None)
    if absent is not None:
        raise InvalidInput(f"{table!r} has no column {short(absent)!r}; it has {list_names(names)}")
    if not asked or label in asked:
        raise InvalidInput(f"{table!r} needs a target column and at least one other as a feature: {list_names(names)}")
    first = int(frame.index[0]) if len(frame) else 0
    known = frame[label].notna().to_numpy()
    if known.sum() < 2:
        count = say_count(int(known.sum()), "row")
        raise InvalidInput(f"{table!r} has {count} with a value in {short(label)!r}: at least 2 are needed")
    notes = [f"{file.name}: {sentence}" for sentence in _say_left_out(known)] + said
    frame = frame[known]
    used = []
    readable = frame.select_dtypes(exclude=object)
    once = frame if readable.empty else frame[~readable.duplicated()]  # a copy of a row has its name, too
    for name in asked:
        why = _say_why_useless(once[name]) if features is None and len(asked) > 1 else None
        if why is None:
            used.append(name)
            notes += describe_units(frame[name], file)
        else:
            notes.append(f"{file.name}: column {short(name)} {why}, and is not used as a feature")
    if not used:
        raise InvalidInput(f"{table!r} has no column that can be a feature: choose some with --features")
    X = frame[used].apply(_as_days)
    if features is None and len(used) > 1:
        dates = [name for name in used if X[name].dtype != frame[name].dtype]
        notes += describe_ids(X, dates, file.name)
    y = as_array(frame[label])
    if frame[label].dtype == "category":
        check_classes(words_of(frame[label]), short(label), file)
    notes += read_rows(X, y, classes, f"{table!r}: the target {short(label)!r}").notes  # before models are loaded
    for sentence in notes:
        note(sentence, quiet=watch.quiet)
    return LabelledRows(frame, X, y, classes, tuple(notes), file, encoding, first)


def _say_left_out(known: NDArray[Any]) -> list[str]:
    count = int((~known).sum())
    return [f"{count:,} row(s) have no label, and are left out"] if count else []


def _say_why_useless(column: pd.Series) -> str | None:
    import numpy as np

    from nimt.sources.column_kinds import are_grouped, hint_at, words_of

    words = words_of(column)
    if column.dtype == object:
        return "has values that are neither numbers nor words"
    if words and are_grouped(words):
        return f"has {len(words):,} different words{hint_at(words)}"
    if len(column) < FEW_ROWS or not column.is_unique:
        return None
    if column.dtype == "category":
        from nimt.pools.dates import find_form

        return None if find_form(words) else f"has another word in every row{hint_at(words) or ', like a name'}"
    if column.dtype.kind == "f" and bool((np.abs(np.diff(np.sort(column.to_numpy()))) == 1).all()):
        return "numbers the rows"
    return None


def _as_days(column: pd.Series) -> pd.Series:
    """Return dates that are written as words as days; any other column as it is."""
    import pandas as pd

    from nimt.pools.dates import count_days, find_form

    if column.dtype != "category":
        return column
    form = find_form([str(word) for word in column.cat.categories])
    if form is None:
        return column
    words = column.astype(object).where(column.notna(), "").to_numpy()
    return pd.Series(count_days(words, form), index=column.index, name=column.name)


def as_columns(frame: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Return the columns of a frame as they are written: words as text, dates as they are."""
    import numpy as np

    from nimt.sources.tables import as_array

    columns: dict[str, NDArray[Any]] = {}
    for name in frame.columns:
        values = as_array(frame[name])
        columns[str(name)] = values.astype(str) if values.dtype.kind in "MO" else np.asarray(values)
    return columns


def find_free_name(name: str, taken: Any) -> str:
    """Return a name for a new column that no column has."""
    return name if name not in taken else f"{name} (2)"

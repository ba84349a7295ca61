"""Columns of a file of a table, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nimt.errors import InvalidInput
from nimt.sources.delimited import Chooser, read_delimited
from nimt.sources.excel import read_excel
from nimt.sources.parquet import read_parquet
from nimt.wording import Watcher

if TYPE_CHECKING:
    import pandas as pd

LARGE_TABLE = 1 << 22  # bytes
LARGEST_TABLE = 1 << 28  # bytes
TABLE_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".xlsx")


def tell_reading(path: Path, watch: Watcher) -> None:
    """Say that a table is read, where it is so large that this takes longer than half a second."""
    if path.is_file() and path.stat().st_size > LARGE_TABLE:
        watch(f"reading {path.name}")


def read_columns(file: Path, choose: Chooser, encoding: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Return some columns of a file, and notes about how it was read.

    A column is of numbers (float64), words (category), dates (datetime64), or of objects, which no lesson can use.
    The index is the number of each row in the file.

    Parameters
    ----------
    file : Path
    choose : callable of names -> names
        Says which columns are read, given the names of all.
    encoding : str, optional
        Of text; by default UTF-8, or else Latin-1 with a note.
    """
    ending = file.suffix.lower()
    if encoding is not None and ending in (".parquet", ".xlsx"):
        raise InvalidInput(f"encoding is for tables as text, and {str(file)!r} has its own: leave it out")
    if ending == ".parquet":
        frame, first_row, notes = read_parquet(file, choose)
    elif ending == ".xlsx":
        frame, first_row, notes = read_excel(file, choose)
    else:
        frame, first_row, notes = read_delimited(file, choose, encoding)
    frame.index = range(first_row, first_row + len(frame))
    return frame, notes

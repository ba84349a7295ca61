"""Tables in Excel files, by openpyxl."""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nimt.datasets.limits import check_unpacked, check_values
from nimt.errors import InvalidInput, MissingExtra
from nimt.sources.delimited import MOST_COLUMNS, Chooser, parse_delimited

if TYPE_CHECKING:
    import pandas as pd


def read_excel(file: Path, choose: Chooser) -> tuple[pd.DataFrame, int, list[str]]:
    """Return the columns of the first sheet, the row at which the data begin, and notes.

    Its cells are read as if they were written to a .csv file. Not by pandas.read_excel, which holds every cell of the
    rectangle that a few cells far apart span.
    """
    try:
        openpyxl: Any = importlib.import_module("openpyxl")
    except ImportError:
        raise MissingExtra(f"{str(file)!r} needs openpyxl: pip install 'nimt[excel]', or save it as .csv") from None
    try:
        with zipfile.ZipFile(file) as archive:
            check_unpacked(sum(part.file_size for part in archive.infolist()), file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that are not read
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            sheet = book.worksheets[0]
            rows = _read_rows(sheet, file)
            book.close()
    except InvalidInput:
        raise
    except Exception as problem:  # openpyxl raises whatever a damaged file leads it to
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise InvalidInput(f"{str(file)!r} cannot be read as an Excel file ({first[:120]}): save it again") from None
    width = max(map(len, rows), default=0)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*row, *[""] * (width - len(row))] for row in rows)
    frame, first_row = parse_delimited(text.getvalue().encode("utf-8", "replace"), file, choose, ",")
    others = len(book.sheetnames) - 1
    notes = [f"{file.name}: the sheet {sheet.title} is read, the first of {others + 1}"] if others else []
    return frame, first_row, notes


def _read_rows(sheet: Any, file: Path) -> list[tuple[str, ...]]:
    """Return the cells as text, without rows that are empty and without empty cells at the end of a row."""
    rows: list[tuple[str, ...]] = []
    count = 0
    sheet.reset_dimensions()  # what it declares may be wrong
    for row in sheet.iter_rows(values_only=True):
        cells = [_as_text(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if len(cells) > MOST_COLUMNS:
            raise InvalidInput(
                f"{str(file)!r} has a cell in column {len(cells)}, and {MOST_COLUMNS} columns are the most: "
                f"leave some out"
            )
        if cells:
            rows.append(tuple(cells))
        count += len(cells) + 1
        check_values(count, file)
    return rows


def _as_text(cell: Any) -> str:
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ").removesuffix(" 00:00:00")
    return "" if cell is None else str(cell).replace("\0", "")

"""Tables as text, separated by commas, semicolons or tabs, read by pandas within limits of size."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.datasets.limits import check_unpacked, check_values
from nimt.errors import InvalidInput
from nimt.sources.cells import MISSING_CELLS, NUMBER, as_column, check_numbers, is_missing, short, write_points
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

LONGEST_LINE = 1 << 20  # bytes
MOST_COLUMNS = 10_000
MOST_CELLS = 1 << 25  # values in use
CHUNK_CELLS = 1 << 20  # cells that pandas holds as text
WITH_COMMA = re.compile(r"[+-]?[\d.]*,\d+([eE][+-]?\d+)?")  # a number
FALLBACK = "cp1252"  # Latin-1, and the letters that Windows has where Latin-1 has control characters
ENCODING = Wording("Columns(encoding=...)", "--encoding")
Chooser = Callable[[list[str]], Iterable[str]]  # which columns are read, given the names of all


def read_delimited(file: Path, choose: Chooser, encoding: str | None = None) -> tuple[pd.DataFrame, int, list[str]]:
    """Return the columns of a file as numbers or categories, the row at which the data begin, and notes."""
    data = _read_bytes(file)
    text, notes = _decode(data, file, encoding)
    with _say_what_is_wrong(file):
        frame, first_row = parse_delimited(text, file, choose, "\t" if ".tsv" in file.suffixes else None)
    return frame, first_row, notes


def parse_delimited(text: bytes, file: Path, choose: Chooser, separator: str | None = None) -> tuple[pd.DataFrame, int]:
    """Return the columns of text in UTF-8, and the row at which the data begin."""
    import pandas as pd

    separator, head = _find_separator(text, separator)
    if head.count(separator) >= MOST_COLUMNS:
        raise InvalidInput(
            f"{str(file)!r} has {head.count(separator) + 1} columns, and {MOST_COLUMNS} are the most: leave some out"
        )
    check_values((text.count(b"\n") + 1) * (head.count(separator) + 1), file)
    first, count = _check_widths(text, separator, file)
    comma = separator != ","
    titled, names = _read_names(first, comma, file)
    asked = set(choose(names))
    used = [name for name in names if name in asked]
    if count * len(used) > MOST_CELLS:
        raise InvalidInput(f"{str(file)!r} has more than {MOST_CELLS} values in use: leave out rows or columns")
    options = {
        "sep": separator,
        "decimal": "," if comma and b"," in text else ".",
        "header": 0 if titled else None,
        "names": names,
        "keep_default_na": False,
        "na_values": MISSING_CELLS,
        "chunksize": max(1, CHUNK_CELLS // len(names)),
    }
    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"  # what later versions do always
    columns = _read_numbers(text, used, options)
    first_row = 2 if titled else 1
    for name, values in columns.items():
        check_numbers(values, name, file, first_row)
    words = _read_words(text, [name for name in used if name not in columns], options)
    for name, (codes, found) in words.items():
        columns[name] = as_column(codes, found, name, file, first_row, comma)
    return pd.DataFrame({name: columns[name] for name in used}), first_row


@dataclass(frozen=True, eq=False)
class WrittenCells:
    """A table as it is written.

    Attributes
    ----------
    names : list of str
    rows : list of list of str
    separator, decimal : str
        Between cells, and within numbers.
    """

    names: list[str]
    rows: list[list[str]]
    separator: str
    decimal: str


def read_cells(file: Path, encoding: str | None = None) -> WrittenCells:
    """Return all cells of a file as they are written, in the rows that `read_delimited` reads."""
    text, _ = _decode(_read_bytes(file), file, encoding)
    separator, _ = _find_separator(text, "\t" if ".tsv" in file.suffixes else None)
    with _say_what_is_wrong(file):
        lines = csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline=""), delimiter=separator, strict=True)
        rows = list(filter(None, lines))
    comma = separator != ","
    titled, names = _read_names(rows[0], comma, file)
    rows = rows[1:] if titled else rows
    has_comma = comma and any(WITH_COMMA.fullmatch(cell.strip()) for row in rows for cell in row)
    return WrittenCells(names, rows, separator, "," if has_comma else ".")


def _find_separator(text: bytes, separator: str | None) -> tuple[str, str]:
    """Return what separates the cells, and the first line."""
    head = text.lstrip(b"\n").split(b"\n", 1)[0].decode()
    return separator or max(",;\t", key=head.count), head


def _read_names(first: list[str], comma: bool, file: Path) -> tuple[bool, list[str]]:
    """Return whether the first row names the columns, and their names."""
    cells = [cell.strip() for cell in first]
    titled = any(NUMBER.fullmatch(write_points([cell])[0] if comma else cell) is None for cell in cells)
    return titled, _name_columns(first, file) if titled else [f"column {place + 1}" for place in range(len(first))]


def _read_numbers(text: bytes, names: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that pandas takes for numbers from their first cell to their last."""
    parts: dict[str, list[NDArray[np.float64]]] = {name: [] for name in names}
    for chunk in _read_chunks(text, names, options):
        for name in list(parts):
            if chunk[name].dtype.kind in "iuf":
                parts[name].append(chunk[name].to_numpy(np.float64))
            else:
                del parts[name]
    return {name: np.concatenate(found) if found else np.empty(0) for name, found in parts.items()}


def _read_words(
    text: bytes, names: list[str], options: dict[str, Any]
) -> dict[str, tuple[NDArray[np.int64], list[str]]]:
    """Return the other columns as they are written: the places of the words, -1 for a missing one, and the words."""
    import pandas as pd

    places: dict[str, list[NDArray[np.int64]]] = {name: [] for name in names}
    words: dict[str, dict[str, int]] = {name: {} for name in names}
    for chunk in _read_chunks(text, names, options | {"dtype": str}):
        for name, known in words.items():
            codes, found = pd.factorize(chunk[name])
            place = [-1 if is_missing(word) else known.setdefault(word.strip(), len(known)) for word in found]
            places[name].append(np.array([*place, -1])[codes])
    return {name: (np.concatenate(places[name]), list(words[name])) for name in names}


def _read_chunks(text: bytes, names: list[str], options: dict[str, Any]) -> Iterator[pd.DataFrame]:
    import pandas as pd

    if names:
        with pd.read_csv(io.BytesIO(text), usecols=names, **options) as chunks:
            yield from chunks


def _check_widths(text: bytes, separator: str, file: Path) -> tuple[list[str], int]:
    """Return the first row and the number of rows; a row of another length is refused: pandas would fill it."""
    rows = csv.reader(io.TextIOWrapper(io.BytesIO(text), "utf-8", newline=""), delimiter=separator, strict=True)
    first = next(filter(None, rows), None)
    if first is None:
        raise InvalidInput(f"{str(file)!r} has no rows: a table needs at least 2")
    widths: Iterable[int] = map(len, filter(None, rows))
    if b'"' not in text:  # counted without splitting, which takes as long as pandas does
        mark = separator.encode()
        lines = (line for line in io.BytesIO(text) if line != b"\n")
        next(lines)
        widths = (line.count(mark) + 1 for line in lines)
    count = 1
    for width in widths:
        count += 1
        if width != len(first):
            raise InvalidInput(f"{str(file)!r} has {width} column(s) in row {count} and {len(first)} in the first")
    return first, count


def _name_columns(row: list[str], file: Path) -> list[str]:
    names = [cell.strip() or f"column {place + 1}" for place, cell in enumerate(row)]
    check_names(names, file)
    return names


def check_names(names: list[str], file: Path) -> None:
    """Refuse a name that two columns have."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput(f"{str(file)!r} has two columns named {short(name)!r}: rename one")
        seen.add(name)


def _read_bytes(file: Path) -> bytes:
    """Return the content of a file, unpacked, with one kind of line end."""
    data = bytearray()
    open_file: Any = gzip.open if file.suffix.lower() == ".gz" else open
    try:
        with open_file(file, "rb") as stream:
            while block := stream.read(LONGEST_LINE):
                data += block
                check_unpacked(len(data), file)  # while it is unpacked: the size that a gzip file declares may be wrong
                if len(block) == LONGEST_LINE and b"\n" not in block and b"\r" not in block:
                    raise InvalidInput(
                        f"{str(file)!r} has a line of more than {LONGEST_LINE} bytes: a table has a row on each line"
                    )
    except (gzip.BadGzipFile, zlib.error, EOFError) as problem:
        raise InvalidInput(
            f"{str(file)!r} cannot be unpacked ({problem}): it is damaged or cut short, copy it again"
        ) from None
    return bytes(data)


def _decode(data: bytes, file: Path, encoding: str | None) -> tuple[bytes, list[str]]:
    """Return the text in UTF-8 with one kind of line end, and a note if its encoding was guessed."""
    notes: list[str] = []
    if encoding is None and data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        text = data.decode(encoding or "utf-8-sig")
    except (LookupError, AttributeError) as problem:
        known = f"must be one that Python knows, such as utf-8 or latin-1, got {encoding!r}"
        raise InvalidInput(known, parameter="encoding") from problem
    except UnicodeError as problem:
        found = (
            f"it holds byte {problem.object[problem.start]:#x}"
            if isinstance(problem, UnicodeDecodeError)
            else "it is damaged"
        )
        told = f"{str(file)!r} is not text in {'UTF-8' if encoding is None else encoding} ({found})"
        try:
            text = data.decode(FALLBACK) if encoding is None else ""
        except UnicodeError:
            text = ""
        if not text or "\0" in text:
            raise InvalidInput(told, way_out=ENCODING.embed("save it as UTF-8, or name its encoding with ")) from None
        read = f"{file.name} is not text in UTF-8 ({found}) and is read as Latin-1 (Windows-1252)"
        notes.append(ENCODING.embed(f"{read}: ", " names another"))
    if "\0" in text:
        raise InvalidInput(f"{str(file)!r} is not text in UTF-8 (it holds a null character): save it as such")
    return text.encode("utf-8", "replace").replace(b"\r\n", b"\n").replace(b"\r", b"\n"), notes


@contextlib.contextmanager
def _say_what_is_wrong(file: Path) -> Iterator[None]:
    """Turn what csv and pandas say of damaged text into a sentence."""
    from pandas.errors import ParserError

    try:
        yield
    except (csv.Error, ParserError) as problem:
        raise InvalidInput(f"{str(file)!r} is not a table of comma-separated values ({problem})") from None

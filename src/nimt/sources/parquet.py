"""Tables in parquet files, by pyarrow."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from nimt.datasets.limits import check_unpacked, check_values
from nimt.errors import InvalidInput, MissingExtra
from nimt.sources.cells import MOST_WORDS, RawColumn, short
from nimt.sources.parquet_pages import LONGEST_FOOTER, Chunk, groups_of

LONGEST_WORDS = 1 << 28  # bytes


def read_parquet(file: Path, most_columns: int, asked: Callable[[list[str]], Iterable[str]]) -> list[RawColumn]:
    """Return columns of a parquet file: numbers, or words.

    Parameters
    ----------
    file : Path
    most_columns : int
        A file with more is refused, as is one that declares far more values than it has bytes for.
    asked : callable of names -> names
        Says which columns are read, given the names of all.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f"{str(file)!r} needs pyarrow: pip install 'nimt[parquet]', or save it as .csv") from None
    try:
        opened = parquet.ParquetFile(
            file, thrift_string_size_limit=LONGEST_FOOTER, thrift_container_size_limit=LONGEST_FOOTER
        )
        schema = opened.schema_arrow
        _check_names(schema.names, most_columns, file)
        wanted = set(asked(schema.names))
        kinds = {field.name: _kind(field.type, arrow) for field in schema if field.name in wanted}
        read = [name for name, kind in kinds.items() if kind is not None]
        groups = list(groups_of(file, set(read)))
        rows, filled = sum(count for count, _ in groups), [place for place, (count, _) in enumerate(groups) if count]
        chunks = [chunk for place in filled for chunk in groups[place][1]]
        check_values(rows * len(read), file)
        _check_unpacked(chunks, rows, file)
        # words in a dictionary stay there: a few bytes can repeat a long one a million times
        kept = {chunk.name for chunk in chunks if chunk.has_dictionary and kinds[chunk.name] == "words"}
        opened = parquet.ParquetFile(file, read_dictionary=sorted(kept))
        table = opened.read_row_groups(filled, columns=read) if read else None
        if table is not None and (table.num_rows != rows or table.column_names != read):
            raise ValueError("its columns are not those that it lists")
        return [_column(name, kind, rows, table, arrow, file) for name, kind in kinds.items()]
    except (arrow.ArrowException, OSError, ValueError, TypeError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        first = (str(problem).splitlines() or [""])[0]
        raise InvalidInput(f"{str(file)!r} cannot be read as a parquet file ({first[:120]}): save it again") from None


def _check_names(names: list[str], most_columns: int, file: Path) -> None:
    if not names:
        raise InvalidInput(f"{str(file)!r} has no columns: a table needs at least 2")
    if len(names) > most_columns:
        raise InvalidInput(f"{str(file)!r} has {len(names)} columns, and {most_columns} are the most: leave some out")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InvalidInput(f"{str(file)!r} has two columns named {short(name)!r}: rename one")


def _kind(kind: Any, arrow: Any) -> str | None:
    """Return "numbers" or "words"; None for dates and nested values, which are no coordinates and are not read."""
    types = arrow.types
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "truths"
    if types.is_dictionary(kind):
        return "words" if _kind(kind.value_type, arrow) == "words" else None
    return "words" if types.is_string(kind) or types.is_large_string(kind) else None


def _check_unpacked(chunks: list[Chunk], rows: int, file: Path) -> None:
    """Refuse columns that unpack to far more than the file has bytes for."""
    unpacked = sum(chunk.unpacked for chunk in chunks)
    check_unpacked(unpacked, file)
    # words that are stored by what they share with the word before could each be as long as all together
    if any(chunk.has_differences for chunk in chunks) and rows * unpacked > LONGEST_WORDS:
        raise InvalidInput(
            f"{str(file)!r} stores words as differences, which may unpack to {rows * unpacked} bytes: save it again "
            f"with dictionaries, as is usual"
        )


def _column(name: str, kind: str | None, rows: int, table: Any, arrow: Any, file: Path) -> RawColumn:
    if kind is None:
        return RawColumn(name, np.zeros(rows, np.int64), ())
    column = table.column(name)
    if kind == "numbers":
        values = np.asarray(column.cast(arrow.float64(), safe=False).to_numpy(), dtype=np.float64)
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise InvalidInput(
                f"{str(file)!r} has {values[infinite[0]]} in row {infinite[0] + 1}, column {short(name)!r}: every "
                f"value must be finite"
            )
        return RawColumn(name, values)
    encoded = (column.cast(arrow.string()) if kind == "truths" else column).combine_chunks()
    if not arrow.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    if isinstance(encoded, arrow.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    words = tuple(str(word) for word in encoded.dictionary.to_pylist()[: MOST_WORDS + 1])
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return RawColumn(name, codes, () if len(words) > MOST_WORDS else words)

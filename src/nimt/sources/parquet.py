"""Tables in parquet files, by pyarrow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from nimt.datasets.limits import check_values
from nimt.errors import InvalidInput, MissingExtra
from nimt.sources.cells import MOST_WORDS, RawColumn


def read_parquet(file: Path, most_columns: int) -> list[RawColumn]:
    """Return the columns of a parquet file: numbers, or words.

    Parameters
    ----------
    file : Path
    most_columns : int
        A file with more is refused, as is one that declares far more values than it has bytes for.
    """
    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f"{str(file)!r} needs pyarrow: pip install 'nimt[parquet]', or save it as .csv") from None
    try:
        opened = parquet.ParquetFile(file)
        rows, count = opened.metadata.num_rows, len(opened.schema_arrow)
        if count > most_columns:
            raise InvalidInput(f"{str(file)!r} has {count} columns, and {most_columns} are the most: leave some out")
        check_values(rows * count, file)
        table = opened.read()
        return [_column(name, table.column(place), arrow, file) for place, name in enumerate(table.column_names)]
    except (arrow.ArrowException, OSError, ValueError, TypeError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        raise InvalidInput(
            f"{str(file)!r} cannot be read as a parquet file ({str(problem).splitlines()[0][:120]}): save it again"
        ) from None


def _column(name: str, column: Any, arrow: Any, file: Path) -> RawColumn:
    kind = column.type
    if arrow.types.is_boolean(kind) or arrow.types.is_dictionary(kind):
        column = column.cast(arrow.string())
    elif arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_decimal(kind):
        numbers = column.cast(arrow.float64(), safe=False).to_numpy()
        values = np.asarray(numbers, dtype=np.float64)
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise InvalidInput(
                f"{str(file)!r} has {values[infinite[0]]} in row {infinite[0] + 1}, column {name[:40]!r}: every value "
                f"must be finite"
            )
        return RawColumn(name, values)
    elif not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
        return RawColumn(name, np.zeros(len(column), np.int64), ())  # dates and nested values: no coordinates
    encoded = column.combine_chunks().dictionary_encode()
    words = tuple(str(word) for word in encoded.dictionary.to_pylist()[: MOST_WORDS + 1])
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return RawColumn(name, codes, () if len(words) > MOST_WORDS else words)

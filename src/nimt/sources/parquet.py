"""Tables in parquet files, by pyarrow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt.datasets.limits import check_unpacked, check_values
from nimt.errors import InvalidInput, MissingExtra
from nimt.sources.cells import check_numbers
from nimt.sources.delimited import MOST_COLUMNS, Chooser, check_names

if TYPE_CHECKING:
    import pandas as pd

LONGEST_FOOTER = 1 << 24  # bytes
ROWS_AT_ONCE = 1 << 12


def read_parquet(file: Path, choose: Chooser) -> tuple[pd.DataFrame, int, list[str]]:
    """Return columns of numbers, categories or dates, and of objects where their values are none of these.

    Also returns the row at which the data begin, and notes, as `read_delimited` does.
    """
    import pandas as pd

    try:
        arrow: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f"{str(file)!r} needs pyarrow: pip install 'nimt[parquet]', or save it as .csv") from None
    limits = {"thrift_string_size_limit": LONGEST_FOOTER, "thrift_container_size_limit": LONGEST_FOOTER}
    try:
        opened = parquet.ParquetFile(file, **limits)
        schema = opened.schema_arrow
        _check_columns(schema.names, file)
        asked = set(choose(schema.names))
        kinds = {field.name: _find_kind(field.type, arrow.types) for field in schema if field.name in asked}
        read = [name for name, kind in kinds.items() if kind is not None]
        rows = opened.metadata.num_rows
        check_values(rows * len(read), file)
        # of a group, not of a column: pyarrow ends the process when it describes the columns of some damaged footers
        groups = map(opened.metadata.row_group, range(opened.metadata.num_row_groups))
        check_unpacked(sum(group.total_byte_size for group in groups), file)
        # words stay in a dictionary: a few bytes can repeat a long one a million times
        words = [name for name, kind in kinds.items() if kind == "words"]
        opened = parquet.ParquetFile(file, read_dictionary=words, **limits)
        table: Any = _read_batches(opened, read, file, arrow) if read else None
        if read and (table.num_rows != rows or table.column_names != read):
            raise ValueError("its columns are not those that it lists")
        columns = {
            name: pd.Series(np.full(rows, None)) if kind is None else _as_series(table.column(name), kind, arrow)
            for name, kind in kinds.items()
        }
    except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError) as problem:
        if isinstance(problem, InvalidInput):
            raise
        first = (str(problem).splitlines() or [""])[0]
        raise InvalidInput(f"{str(file)!r} cannot be read as a parquet file ({first[:120]}): save it again") from None
    for name, kind in kinds.items():
        if kind == "numbers":
            check_numbers(columns[name].to_numpy(), name, file, 1)
    return pd.DataFrame(columns), 1, []


def _check_columns(names: list[str], file: Path) -> None:
    if not names:
        raise InvalidInput(f"{str(file)!r} has no columns: a table needs at least 2")
    if len(names) > MOST_COLUMNS:
        raise InvalidInput(f"{str(file)!r} has {len(names)} columns, and {MOST_COLUMNS} are the most: leave some out")
    check_names(names, file)


def _find_kind(kind: Any, types: Any) -> str | None:
    """Return "numbers", "truths", "dates" or "words"; None for nested and other values, which are not read."""
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_boolean(kind):
        return "truths"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "dates"
    if types.is_dictionary(kind):
        return "words" if _find_kind(kind.value_type, types) == "words" else None
    return "words" if types.is_string(kind) or types.is_large_string(kind) else None


def _read_batches(opened: Any, names: list[str], file: Path, arrow: Any) -> Any:
    """Return a table, read part by part: what its parts take is counted, whatever the footer says."""
    batches, known, size = [], set(), 0
    for batch in opened.iter_batches(batch_size=ROWS_AT_ONCE, columns=names):
        batches.append(batch)
        for column in batch.columns:
            is_coded = arrow.types.is_dictionary(column.type)
            for buffer in [*column.buffers(), *(column.dictionary.buffers() if is_coded else ())]:
                if buffer is not None and buffer.address not in known:  # a dictionary belongs to many parts
                    known.add(buffer.address)
                    size += buffer.size
        check_unpacked(size, file)
    return arrow.Table.from_batches(batches) if batches else opened.schema_arrow.empty_table().select(names)


def _as_series(column: Any, kind: str, arrow: Any) -> pd.Series:
    import pandas as pd

    if kind == "numbers":
        return pd.Series(np.asarray(column.cast(arrow.float64(), safe=False).to_numpy(), dtype=np.float64))
    if kind == "dates":
        found = pd.to_datetime(column.to_pandas(), utc=True)
        return found.dt.tz_localize(None)
    encoded = (column.cast(arrow.string()) if kind == "truths" else column).unify_dictionaries()
    if not arrow.types.is_dictionary(encoded.type):
        encoded = encoded.dictionary_encode()
    encoded = encoded.combine_chunks()
    if isinstance(encoded, arrow.ChunkedArray):  # of no chunk
        encoded = arrow.array([], encoded.type)
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    words = [str(word) for word in encoded.dictionary.to_pylist()]
    return pd.Series(pd.Categorical.from_codes(codes, words))

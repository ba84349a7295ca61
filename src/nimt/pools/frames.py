"""DataFrames and Series as points: the names of their columns, and their numbers. Nothing here loads pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import check_finite
from nimt.errors import InvalidInput

NUMBERS = "biuf"  # kinds of dtype


def column_names(given: object) -> tuple[str, ...]:
    """Return the names of the columns of a DataFrame, or of a Series; () where they are not words, and of an array."""
    columns = getattr(given, "columns", None)
    if columns is None or callable(columns):
        name = series_name(given)
        return (name,) if name else ()
    names = list(columns)
    return tuple(names) if names and all(isinstance(name, str) for name in names) else ()


def series_name(given: object) -> str:
    """Return the name of a Series, "" where it has none, and of anything else."""
    name = getattr(given, "name", None)
    return str(name) if isinstance(name, str) and hasattr(given, "dtype") else ""


def check_names(what: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; refuse what is no word, and a name that two columns have."""
    found = tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise InvalidInput(f"must be a list of words, got {names!r:.80}", parameter=f"the names of {what}")
    repeated = next((name for place, name in enumerate(found) if name in found[:place]), None)
    if repeated is not None:
        raise InvalidInput(f"two columns of {what} are named {repeated!r}: rename one of them, or leave it out")
    return found


def stack_columns(what: str, given: Any) -> Any:
    """Return the numbers of a DataFrame with named columns, anything else as it is; refuse a column without numbers.

    Examples
    --------
    >>> import pandas
    >>> stack_columns("the pool", pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})).tolist()
    [[1.0, 0.5], [2.0, 1.5]]
    """
    names = column_names(given)
    if not names or not hasattr(given, "columns"):
        return given
    check_names(what, names)
    return np.column_stack([_column_numbers(what, name, given[name]) for name in names])


def _column_numbers(what: str, name: str, column: Any) -> NDArray[np.float64]:
    values = np.asarray(column)
    if values.dtype.kind == "O" and getattr(column.dtype, "kind", "O") in NUMBERS:  # whole numbers, some missing
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if values.dtype.kind not in NUMBERS:
        held = f"holds {str(values[0])[:40]!r}" if len(values) else f"is of dtype {values.dtype}"
        example = f"pandas.get_dummies(X, columns=[{name!r}], dtype=float)"
        if values.dtype.kind == "M":
            example = f"X[{name!r}].map(lambda day: day.toordinal())"
        raise InvalidInput(
            f"the column {name!r} of {what} {held}, and points are made of numbers: leave it out, or make it "
            f"numbers, for example by {example}; nimt.sources.read_problem does this with the columns of a file"
        )
    with np.errstate(over="ignore"):  # a number too large for float64 becomes inf, which is refused here
        numbers = values.astype(np.float64)
    check_finite(f"the column {name!r} of {what}", numbers)
    return numbers

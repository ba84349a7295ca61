"""Cells of text as a column of numbers or of words, and names for sentences about them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("", "na", "n/a", "#n/a", "nan", "null", "none", "?")
MISSING_CELLS = sorted({spell(word) for word in MISSING for spell in (str, str.upper, str.title)} | {"NaN"})
LARGEST_NUMBER = 1e300  # so that the difference of two numbers is one
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
GROUPED = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d+)?")  # 1.000,5 and 1,000.5 and 1 000
POINTED = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*)(,\d*)?(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
SURELY_POINTED = re.compile(r"[+-]?\d{1,3}(\.\d{3}(,\d+)|(\.\d{3}){2,}(,\d+)?)", re.ASCII)  # 1.000 may be 1


def as_column(
    codes: NDArray[np.int64], words: list[str], name: str, file: Path, first_row: int, comma: bool
) -> pd.Series:
    """Return text as numbers, if all its words are, or as categories; a few words among numbers are refused.

    Parameters
    ----------
    codes : array (n,)
        The places of the cells in `words`, -1 where a value is missing.
    words : list of str
        The different words.
    name, file, first_row
        For error messages.
    comma : bool
        Whether 1,5 is a number.
    """
    import pandas as pd

    decimal = write_points(words) if comma else words
    is_number = np.array([*(NUMBER.fullmatch(word) is not None for word in decimal), True])  # the last: missing
    strange = np.flatnonzero(~is_number[codes])
    if not strange.size:
        values = np.array([*map(float, decimal), np.nan])[codes]
        check_numbers(values, name, file, first_row)
        return pd.Series(values, name=name)
    if 2 * strange.size < np.count_nonzero(codes >= 0):
        cell = words[codes[strange[0]]]
        grouped = ", which looks like a number with a thousands separator" * is_grouped(cell)
        raise InvalidInput(
            f"{str(file)!r} has the text {cell[:40]!r} in row {strange[0] + first_row}, column {short(name)!r}, among "
            f"numbers{grouped}",
            way_out=Wording("Columns(features=..., target=...)", "--features and --target-column").embed(
                "correct it, or choose other columns with "
            ),
        )
    return pd.Series(pd.Categorical.from_codes(codes, words), name=name)


def write_points(words: list[str]) -> list[str]:
    """Return numbers with decimal commas as they are with decimal points, without points between thousands.

    A point is one between thousands if another number shows it; any other word is then none.

    Examples
    --------
    >>> write_points(["1,5", "2.345"]), write_points(["1,5", "2.345", "1.234,5"])
    (['1.5', '2.345'], ['1.5', '2345', '1234.5'])
    """
    if not any(SURELY_POINTED.fullmatch(word) for word in words):
        return [word.replace(",", ".") for word in words]
    return [word.replace(".", "").replace(",", ".") if POINTED.fullmatch(word) else "" for word in words]


def check_numbers(values: Array, name: str, file: Path, first_row: int) -> None:
    """Refuse numbers that are infinite, or so large that a difference of two is not finite; NaN is a missing value."""
    too_large = np.flatnonzero(np.abs(values) > LARGEST_NUMBER)
    if too_large.size:
        value = values[too_large[0]]
        most = "every value must be finite" if np.isinf(value) else f"the most is {LARGEST_NUMBER}"
        raise InvalidInput(
            f"{str(file)!r} has {value:g} in row {too_large[0] + first_row}, column {short(name)!r}: {most}"
        )


def is_grouped(cell: str) -> bool:
    """Say whether a cell looks like a number with a thousands separator.

    Examples
    --------
    >>> is_grouped("1.000,5"), is_grouped("1,234,567.5"), is_grouped("1.5"), is_grouped("31.1.2024")
    (True, True, False, False)
    """
    return GROUPED.fullmatch(cell.strip()) is not None


def is_missing(cell: str) -> bool:
    """Say whether a cell is empty, or holds one of the words for that."""
    return len(cell) < 8 and cell.strip().lower() in MISSING


def as_word(number: float) -> str:
    """Return a number as the word that stands for it among words: 1 for 1.0, all digits of 1234567.

    Examples
    --------
    >>> as_word(1.0), as_word(1234567.0), as_word(0.1)
    ('1', '1234567', '0.1')
    """
    return f"{number:.15g}"


def short(name: str) -> str:
    """Return a name for a sentence, cut where it is long."""
    return name if len(name) <= 40 else f"{name[:40]}..."


def list_names(names: Sequence[str], most: int = 20) -> str:
    """Return the names of columns for a sentence, not all where they are many."""
    more = f", ... ({len(names)} columns)" if len(names) > most else ""
    return ", ".join(short(name) for name in names[:most]) + more

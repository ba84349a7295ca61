"""Cells of text as columns of numbers or of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.errors import InvalidInput

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
LARGEST_NUMBER = 1e300  # so that the difference of two numbers is one
MOST_WORDS = 10_000  # different words of a column that are told apart
GROUPED = re.compile(r"[+-]?\d{1,3}([.,' \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d+)?")  # 1.000,5 and 1,000.5 and 1 000
DATE = re.compile(r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})([ T]\d{1,2}:\d{2}.*)?")
GROUPED_HINT = " (they look like numbers with a thousands separator: remove it from the file)"


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as it was read.

    Attributes
    ----------
    name : str
    values : array (n,)
        Numbers, with NaN where one is missing; or the places of words in `words`, -1 where one is missing.
    words : tuple of str or None
        The different words in the order in which they come; None for numbers, () if there are too many.
    """

    name: str
    values: NDArray[Any]
    words: tuple[str, ...] | None = None

    @property
    def is_of_dates(self) -> bool:
        """Whether every word is a date, such as 2024-01-31 or 31.1.2024."""
        return bool(self.words) and all(DATE.fullmatch(word) for word in self.words or ())

    @property
    def hint(self) -> str:
        """What to add to a sentence about too many words: that most are numbers with a thousands separator."""
        words = self.words or ()
        return GROUPED_HINT if 2 * sum(map(is_grouped, words)) > len(words) else ""

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.isnan(self.values) if self.words is None else self.values < 0


class ColumnReader:
    """Collect the cells of one column.

    A column is of numbers if all cells of its first block that are not missing are; it is of words if half of them are
    not numbers. A few words among numbers are refused.

    Parameters
    ----------
    name : str
    file : Path
        For error messages.
    comma : bool
        Whether 1,5 is a number: where the columns are not separated by commas.
    """

    def __init__(self, name: str, file: Path, *, comma: bool) -> None:
        self.name = name
        self.file = file
        self.comma = comma
        self.parts: list[NDArray[Any]] = []
        self.words: dict[str, int] | None = None  # of a column of words
        self.is_known: bool = False  # whether it is of numbers or of words
        self.has_too_many: bool = False

    def add(self, cells: Sequence[str], row: int) -> None:
        """Add a block of cells, the first of which stands in this row of the file."""
        if self.words is not None:
            self.parts.append(self._codes(cells))
            return
        numbers = numbers_of(cells, self.comma)
        if numbers is None:
            numbers = numbers_of(["nan" if is_missing(cell) else cell for cell in cells], self.comma)
        if numbers is None:
            self._take_words(cells, row)
            return
        too_large = np.flatnonzero(np.abs(numbers) > LARGEST_NUMBER)
        if too_large.size:
            place = int(too_large[0])
            told = f"{str(self.file)!r} has {short(cells[place])!r} in row {row + place}, column {short(self.name)!r}"
            most = "every value must be finite" if np.isinf(numbers[place]) else f"the most is {LARGEST_NUMBER}"
            raise InvalidInput(f"{told}: {most}")
        self.add_numbers(numbers)

    @property
    def is_of_words(self) -> bool:
        """Whether it is known to be a column of words."""
        return self.words is not None

    def add_numbers(self, numbers: NDArray[np.float64]) -> None:
        """Add a block of numbers that are finite, or NaN where one is missing, to a column that is not of words."""
        self.is_known = self.is_known or not np.isnan(numbers).all()
        self.parts.append(numbers)

    def column(self) -> RawColumn:
        """Return the column."""
        kind: Any = np.float64 if self.words is None else np.int64
        values = np.concatenate(self.parts) if self.parts else np.empty(0, kind)
        if self.words is None:
            return RawColumn(self.name, values)
        return RawColumn(self.name, values, () if self.has_too_many else tuple(self.words))

    def _take_words(self, cells: Sequence[str], row: int) -> None:
        strange = [place for place, cell in enumerate(cells) if not is_missing(cell) and not self._is_number(cell)]
        known = sum(not is_missing(cell) for cell in cells)
        if self.is_known or 2 * len(strange) < known:
            first = strange[0]
            grouped = ", which looks like a number with a thousands separator" * is_grouped(cells[first])
            raise InvalidInput(
                f"{str(self.file)!r} has the text {cells[first][:40]!r} in row {row + first}, column "
                f"{short(self.name)!r}, among numbers{grouped}: correct it, or choose other columns with --features "
                f"and --target-column"
            )
        self.words = {}
        self.is_known = True
        before = sum(len(part) for part in self.parts)  # all missing
        self.parts = [np.full(before, -1, np.int64), self._codes(cells)]

    def _codes(self, cells: Sequence[str]) -> NDArray[np.int64]:
        words = self.words
        assert words is not None
        if self.has_too_many or len(words) + len(set(cells)) > 2 * MOST_WORDS:
            self.has_too_many = True
            return np.zeros(len(cells), np.int64)
        codes = (-1 if is_missing(cell) else words.setdefault(cell.strip(), len(words)) for cell in cells)
        found = np.fromiter(codes, np.int64, len(cells))
        self.has_too_many = len(words) > MOST_WORDS
        return found

    def _is_number(self, cell: str) -> bool:
        return numbers_of([cell], self.comma) is not None


def is_grouped(cell: str) -> bool:
    """Say whether a cell looks like a number with a thousands separator.

    Examples
    --------
    >>> is_grouped("1.000,5"), is_grouped("1,234,567.5"), is_grouped("1.5"), is_grouped("31.1.2024")
    (True, True, False, False)
    """
    return GROUPED.fullmatch(cell.strip()) is not None


def numbers_of(cells: Sequence[str], comma: bool = False) -> NDArray[np.float64] | None:
    """Return cells as numbers, None where one is not a number.

    Examples
    --------
    >>> numbers_of(["1", " 2.5e3"]), numbers_of(["1,5"], comma=True), numbers_of(["1_000"])
    (array([1.0e+00, 2.5e+03]), array([1.5]), None)
    """
    try:
        if comma:
            cells = [cell.replace(",", ".") for cell in cells]
        numbers = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    return None if "_" in "".join(cells) else numbers  # float() accepts 1_000, which is text in a table


def as_word(number: float) -> str:
    """Return a number as the word that stands for it among words: 1 for 1.0, all digits of 1234567.

    Examples
    --------
    >>> as_word(1.0), as_word(1234567.0), as_word(0.1)
    ('1', '1234567', '0.1')
    """
    return f"{number:.15g}"


def is_missing(cell: str) -> bool:
    """Say whether a cell is empty, or holds one of the words for that."""
    return len(cell) < 8 and cell.strip().lower() in MISSING


def short(name: str) -> str:
    """Return a name for a sentence, cut where it is long."""
    return name if len(name) <= 40 else f"{name[:40]}..."

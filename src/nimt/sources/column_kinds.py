"""What a column of a table holds: numbers, words, dates, or nothing that can be taught."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nimt.errors import InvalidInput
from nimt.pools.dates import ISO, are_dates, count_days, find_form
from nimt.sources.cells import is_grouped, short
from nimt.wording import Wording

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 100  # different words of a feature
MOST_CLASSES = 100
WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*\s*([^\W\d]{1,4}|[%$€£°])")
FEW_ROWS = 20  # with fewer, columns are not judged, and none is held out by default


def as_dates(column: pd.Series) -> tuple[pd.Series, str | None]:
    """Return a column of dates as days since 1970-01-01, and the form of the dates; any other as it is."""
    if column.dtype.kind == "M":
        return replace_values(column, count_days(column.to_numpy(), ISO)), ISO
    words = words_of(column)
    form = find_form(words)
    if form is None:
        return column, None
    return replace_values(column, np.append(count_days(np.array(words), form), np.nan)[column.cat.codes]), form


def replace_values(column: pd.Series, values: Any) -> pd.Series:
    import pandas as pd

    return pd.Series(values, index=column.index, name=column.name)


def describe_words(column: pd.Series, form: str | None, file: Path) -> list[str]:
    """Return notes on a column that holds dates, or words that may be something else."""
    if form is not None:
        return [f"{file.name}: column {short(column.name)} holds dates, used as days since 1970-01-01"]
    if are_dates(words_of(column)):
        return [
            f"{file.name}: column {short(column.name)} holds dates in which day and month could be exchanged, used as "
            f"{len(words_of(column))} categories: write them as 2024-01-31"
        ]
    return describe_units(column, file)


def describe_units(column: pd.Series, file: Path) -> list[str]:
    """Return a note on words that may be numbers with a unit; for two words it would make no difference."""
    words = words_of(column)
    if len(words) < 3 or not have_one_unit(words):
        return []
    return [
        f"{file.name}: column {short(column.name)} holds words that look like numbers with a unit, such as "
        f"{words[0][:40]!r}, used as {len(words)} categories: remove the unit from the file to make them numbers"
    ]


def words_of(column: pd.Series) -> list[str]:
    """Return the different words of a column; of numbers, none."""
    return list(column.cat.categories) if column.dtype == "category" else []


def say_why_useless(column: pd.Series) -> str | None:
    """Say why a column cannot be a feature, None if it can."""
    if column.dtype.kind == "f":
        return None
    words = words_of(column)
    if column.dtype == object:
        return "has values that are neither numbers nor words"
    if words and are_grouped(words):
        return f"has {len(words):,} different words{hint_at(words)}"
    if len(words) > MOST_LEVELS:
        return f"has {len(words):,} different words{hint_at(words)}, and a category has at most {MOST_LEVELS}"
    if len(column) >= FEW_ROWS and len(words) == len(column):
        return f"has another word in every row{hint_at(words) or ', like a name'}"
    return None


def hint_at(words: list[str]) -> str:
    """Return what to add to a sentence about too many words: that they are dates, or most are grouped numbers."""
    if find_form(words) is not None:  # as a feature they would be days by now
        return " (dates, which cannot be taught)"
    if are_dates(words):
        return " (dates in which day and month could be exchanged: write them as 2024-01-31)"
    grouped = " (they look like numbers with a thousands separator: remove it from the file)"
    if are_grouped(words):
        return grouped
    if have_one_unit(words):
        return f" (they look like numbers with a unit, such as {words[0][:40]!r}: remove the unit from the file)"
    return ""


def check_classes(words: list[str], name: str, file: Path) -> None:
    """Refuse words of a target that are too many, or numbers or dates in truth, to be classes."""
    if not 0 < len(words) <= MOST_CLASSES or are_grouped(words):
        most = f"more than {MOST_CLASSES}" if len(words) > MOST_CLASSES else f"{len(words)}"
        raise InvalidInput(
            f"{str(file)!r}: the target {name!r} has {most} different words{hint_at(words)}",
            way_out=Wording("choose another with Columns(target=...)", "choose another with --target-column"),
        )


def are_grouped(words: list[str]) -> bool:
    """Say whether most words look like numbers with a thousands separator."""
    return 2 * sum(map(is_grouped, words)) > len(words)


def have_one_unit(words: list[str]) -> bool:
    """Say whether all words are numbers with the same unit.

    Examples
    --------
    >>> have_one_unit(["5 EUR", "7.5 EUR"]), have_one_unit(["5%", "7%"]), have_one_unit(["5 EUR", "7 USD"])
    (True, True, False)
    """
    found = [WITH_UNIT.fullmatch(word.strip()) for word in words]
    return len({one[1] if one else "" for one in found} | {""}) == 2 and all(found)


def numbers_the_rows(column: pd.Series) -> bool:
    """Say whether a column may number the rows, in any order: whole numbers, of which none repeats."""
    values = column.to_numpy()
    if values.dtype.kind != "f" or len(values) < FEW_ROWS or not np.array_equal(values, np.round(values)):
        return False
    return bool(column.is_unique)

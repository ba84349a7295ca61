"""Dates of a table as numbers, the days since 1970-01-01, and back in the form in which the table writes them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array

ISO = "ISO8601"  # with or without a time, as pandas calls it
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}([-/.]\d{1,4})?([ T]\d{1,2}:\d{2}.*)?", re.ASCII)
# days first with dots; with - and / days or months may be first, so that both are tried
FORMS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d")
TIMES = ("", " %H:%M", " %H:%M:%S")
DAY = 86_400  # seconds
EPOCH = datetime(1970, 1, 1)


def find_form(words: list[str]) -> str | None:
    """Return the form in which all words are dates; None if there is none, or if day and month could be exchanged.

    Examples
    --------
    >>> find_form(["2024-01-31", "2024-02-01"]), find_form(["31.1.2024"]), find_form(["31/1/2024", "2/1/2024"])
    ('%Y-%m-%d', '%d.%m.%Y', '%d/%m/%Y')
    >>> find_form(["1/2/2024"]), find_form(["1th"])
    (None, None)
    """
    if not are_dates(words):
        return None
    forms = [form for form in ("%Y-%m-%d", ISO) if _fits(words, form)][:1]
    forms += [form + time for form in FORMS for time in TIMES if _fits(words[:20], form + time)]
    fitting = [form for form in forms if _fits(words, form)]
    return fitting[0] if len(fitting) == 1 else None


def are_dates(words: list[str]) -> bool:
    """Say whether every word looks like a date."""
    return bool(words) and all(map(DATE.fullmatch, words))


def count_days(values: NDArray[Any], form: str) -> Array:
    """Return the days since 1970-01-01, and NaN where a value is missing or no date in this form.

    Examples
    --------
    >>> count_days(np.array(["2.1.1970", "31.12.1969", ""]), "%d.%m.%Y").tolist()
    [1.0, -1.0, nan]
    """
    if values.dtype.kind != "M":
        import pandas as pd

        texts = [value if isinstance(value, str) else str(value) for value in values.tolist()]
        values = pd.to_datetime(texts, format=form, errors="coerce", utc=True).tz_localize(None).to_numpy()
    return np.asarray((values - np.datetime64(0, "s")) / np.timedelta64(DAY, "s"), dtype=np.float64)


def write_dates(days: Array, form: str) -> NDArray[np.str_]:
    """Return days since 1970-01-01 as text, to the second; "" for NaN.

    Examples
    --------
    >>> write_dates(np.array([19753.0, np.nan]), "%d.%m.%Y").tolist(), write_dates(np.array([0.5]), ISO).tolist()
    (['31.01.2024', ''], ['1970-01-01 12:00:00'])
    """
    written = "%Y-%m-%d %H:%M:%S" if form == ISO else form
    first, last = ((limit - EPOCH).days for limit in (datetime.min, datetime.max))
    return np.array(
        [
            (EPOCH + timedelta(seconds=round(min(max(day, first), last) * DAY))).strftime(written) if day == day else ""
            for day in days.tolist()
        ],
        dtype=np.str_,
    )


def _fits(words: list[str], form: str) -> bool:
    return bool(np.isfinite(count_days(np.array(words), form)).all())

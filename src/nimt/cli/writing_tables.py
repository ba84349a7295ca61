"""Columns written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_csv(columns: Mapping[str, NDArray[Any]]) -> str:
    r"""Return columns as text in CSV; a number that is not finite leaves its cell empty.

    Examples
    --------
    >>> print(as_csv({"x": np.array([1.0, np.nan]), "name": np.array(["a", "b,c"])}).replace("\r\n", "|"))
    x,name|1.0,a|,"b,c"|
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(column) for column in columns.values()), strict=True))
    return text.getvalue()


def _cells(column: NDArray[Any]) -> list[Any]:
    if column.dtype.kind == "f":
        return [value if np.isfinite(value) else "" for value in column.tolist()]
    return list(column.tolist())

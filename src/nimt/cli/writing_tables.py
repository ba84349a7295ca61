"""Columns written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

ReplaceFiles = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")]
LARGEST_WHOLE = 1e15  # beyond it a float does not tell neighbouring whole numbers apart


def check_free(*files: Path, overwrite: bool) -> None:
    """Refuse, before any work, files that cannot be written, or that are there and are not to be replaced."""
    for file in files:
        if not file.parent.is_dir():
            raise InvalidInput(f"there is no folder {str(file.parent)!r} to write --out to: make it first")
        if file.is_dir():
            raise InvalidInput(f"{str(file)!r} is a folder: name a file with --out")
        if file.exists() and not overwrite:
            raise InvalidInput(f"{str(file)!r} is there already: give another --out, or --overwrite")


def as_csv(columns: Mapping[str, NDArray[Any]], separator: str = ",", decimal: str = ".") -> str:
    r"""Return columns as text in CSV; what is not finite leaves its cell empty, and 3.0 among whole numbers is 3.

    Examples
    --------
    >>> import numpy as np
    >>> columns = {"n": np.array([1.0, np.nan]), "x": np.array([1.0, 0.5]), "name": np.array(["a", "b,c"])}
    >>> print(as_csv(columns).replace("\r\n", "|"))
    n,x,name|1,1.0,a|,0.5,"b,c"|
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(column, decimal) for column in columns.values()), strict=True))
    return text.getvalue()


def _cells(column: NDArray[Any], decimal: str) -> list[Any]:
    import numpy as np

    if column.dtype.kind != "f":
        return list(column.tolist())
    known = np.isfinite(column)
    numbers = column[known]
    if ((numbers == np.round(numbers)) & (np.abs(numbers) < LARGEST_WHOLE)).all():
        return [int(value) if there else "" for value, there in zip(column.tolist(), known.tolist(), strict=True)]
    written = [repr(value) if decimal == "." else repr(value).replace(".", decimal) for value in column.tolist()]
    return [value if there else "" for value, there in zip(written, known.tolist(), strict=True)]

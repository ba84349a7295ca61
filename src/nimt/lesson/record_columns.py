"""What was shown, as columns: coordinates and labels with the names that a table gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.pools.pool import Points, Pool
from nimt.pools.prepared_points import PreparedPoints

LABEL_OUTPUT = "label_output_"  # with its number: the label of one of several outputs
OURS = re.compile(r"step|index|row|label|weight|discrepancy|output|looked|mixed|label(_\d+)?_output.*")
FROM_TABLE = "table_"


def names_in_record(names: Iterable[str]) -> list[str]:
    """Return what a record calls the columns of a table: where a record has the name itself, "table_" precedes it.

    Examples
    --------
    >>> names_in_record(["size", "step"])
    ['size', 'table_step']
    """
    given = list(names)
    found = []
    for name in given:
        title = name
        while OURS.fullmatch(title) or (title != name and title in given):
            title = FROM_TABLE + title
        found.append(title)
    return found


def columns_of(pool: Pool, indices: NDArray[np.int64], labels: Array, points: Array | None) -> dict[str, NDArray[Any]]:
    """Return the coordinates and labels of examples as columns; an index of -1 has none."""
    shown = indices >= 0
    if points is None:
        found = dict(pool.coordinates(indices[shown]))
    else:
        found = {f"x_{axis + 1}": column for axis, column in enumerate(points[shown].T)}
    if isinstance(pool, Points):
        found = dict(zip(names_in_record(found), found.values(), strict=True))
    if isinstance(pool, PreparedPoints):
        preparation = pool.preparation
        if preparation.classes and labels.shape[1:] == preparation.outputs:
            answers = preparation.answers(labels[shown])
            labels = np.empty(len(indices), answers.dtype)
            labels[shown] = answers
    columns = {}
    for name, values in found.items():
        column = np.full(len(indices), np.nan) if values.dtype.kind == "f" else np.zeros(len(indices), values.dtype)
        column[shown] = values
        columns[name] = column
    if labels.ndim == 1:
        return columns | {"label": labels}
    return columns | {f"{LABEL_OUTPUT}{output + 1}": labels[:, output] for output in range(labels.shape[1])}


def columns_per_output(
    pool: Pool, indices: NDArray[np.int64], labels: Array, weights: Array | None, q: int
) -> dict[str, NDArray[Any]]:
    """Return the columns of every example of each of q outputs: its index, coordinates, label and weight."""
    most = max(1, indices.shape[1] // q)  # one of a lesson of no step
    sizes = np.count_nonzero(indices >= 0, axis=1) // q  # examples per output at each step
    rows = np.arange(len(indices))
    columns: dict[str, NDArray[Any]] = {}
    for output in range(q):
        for j in range(most):
            places = np.minimum(output * sizes + j, indices.shape[1] - 1)
            suffix = f"{'' if most == 1 else f'_{j + 1}'}_output_{output + 1}"
            own = np.where(j < sizes, indices[rows, places], -1)
            columns[f"index{suffix}"] = np.append(own, -1)
            told = np.where(j < sizes, labels[rows, places], np.nan)
            for name, column in columns_of(pool, own, told, None).items():
                columns[f"{name}{suffix}"] = with_empty_end(column)
            if weights is not None:
                columns[f"weight{suffix}"] = np.append(np.where(j < sizes, weights[rows, places], np.nan), np.nan)
    return columns


def with_empty_end(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column with one more row, in which nothing is."""
    return np.append(column, np.nan if column.dtype.kind == "f" else "")

"""Rows with labels and weights: what an estimator is fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import LARGEST, SMALLEST, Array, check_finite, real_array
from nimt.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Samples:
    """n points (n, d), their labels (n,) or (n, q), and their weights (n,) or None for all equal."""

    points: Array
    labels: Array
    weight: Array | None = None

    def take(self, rows: NDArray[np.intp]) -> Samples:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Samples(np.ascontiguousarray(self.points[rows]), self.labels[rows], weight)

    def mean(self) -> float | Array:
        """Return the mean label, a number or an array (q,)."""
        mean = np.average(self.labels, axis=0, weights=self.weight)
        return np.asarray(mean) if self.labels.ndim > 1 else float(mean)

    def center(self) -> Samples:
        """Return the rows with the mean label subtracted."""
        return Samples(self.points, self.labels - self.mean(), self.weight)

    def rows_that_count(self) -> NDArray[np.intp]:
        """Return the rows with a positive weight."""
        return np.arange(len(self)) if self.weight is None else np.flatnonzero(self.weight)

    def count(self) -> float:
        """Return how many rows there are, where a row of weight 2 counts like two; no fewer than there are."""
        return float(len(self) if self.weight is None else max(self.weight.sum(), len(self)))

    def count_distinct(self) -> int:
        """Return how many points there are, equal ones counted once."""
        return len(np.unique(self.points, axis=0))

    def __len__(self) -> int:
        return len(self.points)


def check_labels(y: ArrayLike) -> ArrayLike:
    """Return the labels of a regression, or refuse dates and words."""
    kind = np.asarray(y).dtype
    if kind.kind in "mM":
        raise InvalidInput(f"y holds {kind}: give numbers, such as days")
    if kind.kind in "US":
        raise InvalidInput("y holds words, and a regressor needs numbers: use nimt.GreedyKernelClassifier for classes")
    return y


def check_weight(weight: ArrayLike, n: int) -> Array:
    """Return the weights of n rows as an array, or say what is wrong with them.

    Examples
    --------
    >>> check_weight([1, 0], 2)
    array([1., 0.])
    """
    array = real_array("sample_weight", weight)
    if array.shape != (n,):
        raise InvalidInput(f"must have one number per row, shape ({n},), got {array.shape}", parameter="sample_weight")
    check_finite("sample_weight", array)
    if (array < 0).any():
        raise InvalidInput(
            f"must not be negative, got {array.min()} at row {array.argmin()}", parameter="sample_weight"
        )
    if not array.any():
        raise InvalidInput("sample_weight is zero for every row: at least one row must count")
    positive = array[array > 0]
    if positive.min() < SMALLEST or positive.max() > LARGEST:
        raise InvalidInput(
            f"runs from {positive.min():g} to {positive.max():g}, and products of such numbers are lost: use weights "
            f"near 1",
            parameter="sample_weight",
        )
    return array

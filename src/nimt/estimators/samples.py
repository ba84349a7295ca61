"""Rows with labels and weights: what an estimator is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from nimt.arrays import LARGEST, SMALLEST, Array, check_finite, real_array
from nimt.counting import say_count
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


def read_arrays(model: object, X: ArrayLike, *labels: ArrayLike | None, **checks: Any) -> Any:
    """Return what scikit-learn's `validate_data` does; what it refuses for a common reason gets a sentence of ours."""
    try:
        return validate_data(model, X, *labels, dtype=np.float64, **checks)
    except (TypeError, ValueError) as error:
        problem = find_problem(X, labels[0] if labels else None)
        if problem is None:
            raise
        raise InvalidInput(problem) from error


def find_problem(X: Any, y: Any) -> str | None:
    """Return what is wrong with rows that cannot be read, and the way out: they are sparse, have words or gaps.

    Examples
    --------
    >>> find_problem([[1.0, 2.0], [3.0, 4.0]], [0.0, np.nan])
    'y lacks 1 value (NaN), the first in row 1: leave such rows out'
    """
    if issparse(X):
        return (
            "X is sparse, and a kernel compares whole rows: give X.toarray(), or fewer features that are dense, for "
            "example by sklearn.decomposition.TruncatedSVD"
        )
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return None
    names = [repr(name) for name in getattr(X, "columns", range(cells.shape[1]))]
    for name, column in zip(names, cells.T, strict=True):
        words = [value for value in column if isinstance(value, str)]
        if words and not _are_numbers(words):
            return (
                f"column {name} of X holds words, such as {words[0]!r}: make numbers of them first, for example by "
                f"sklearn.preprocessing.OneHotEncoder"
            )
    for what, values in (("X", cells), ("y", np.asarray([] if y is None else y, dtype=object))):
        gaps = np.argwhere(np.frompyfunc(_is_gap, 1, 1)(values).astype(bool))
        if len(gaps):
            where = f"row {gaps[0][0]}" + (f", column {names[gaps[0][1]]}" if what == "X" else "")
            way = "leave such rows out" + (", or fill in, for example by sklearn.impute.SimpleImputer" * (what == "X"))
            return f"{what} lacks {say_count(len(gaps), 'value')} (NaN), the first in {where}: {way}"
    return None


def _is_gap(value: object) -> bool:
    return value is None or str(value) in {"nan", "<NA>", "NaT"}


def _are_numbers(words: list[str]) -> bool:
    try:
        np.array(words, dtype=np.float64)
    except ValueError:
        return False
    return True


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

"""Which rows are held out together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv as as_splitter
from sklearn.utils import check_random_state

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.estimators.samples import Samples

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # the rows that are fitted, and those that are held out
MANY = 10_000  # rows: a fifth of them measures an error to a hundredth, so that one fold is enough


def make_folds(
    cv: Any, samples: Samples, rows: NDArray[np.intp], classes: NDArray[Any] | None, random_state: Any
) -> list[Fold]:
    """Return the folds of the rows that count: of a number, of a splitter of scikit-learn, or as they are given.

    Of a number, equal rows are held out together, classes are kept in proportion, and the folds do not depend on the
    order of the rows. Above 10,000 rows, one fold is returned, and none where all rows are equal.

    Examples
    --------
    >>> samples = Samples(np.array([[0.0], [1.0], [0.0], [3.0]]), np.zeros(4))
    >>> [held_out.tolist() for _, held_out in make_folds(2, samples, np.arange(4), None, 0)]
    [[0, 2, 3], [1]]
    """
    if not isinstance(cv, int | np.integer):
        return _restrict(_split(cv, samples, classes), rows)
    fold_of = deal_rows(samples.points[rows], int(cv), None if classes is None else classes[rows], random_state)
    count = int(fold_of.max()) + 1
    if count < 2:
        return []
    numbers = range(1 if len(rows) > MANY else count)
    return [(rows[fold_of != fold], rows[fold_of == fold]) for fold in numbers]


def check_cv(cv: Any) -> None:
    """Refuse what folds cannot be made of."""
    whole = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    given = (hasattr(cv, "split") or isinstance(cv, Iterable)) and not isinstance(cv, str)
    if not (cv is None or (whole and cv >= 2) or given):
        raise InvalidInput(
            f"must be a number of folds >= 2, a splitter of scikit-learn, a list of (train, test) or None, got {cv!r}",
            parameter="cv",
        )


def deal_rows(points: Array, count: int, classes: NDArray[Any] | None, random_state: Any) -> NDArray[np.intp]:
    """Return the fold of each row, from 0; there are fewer than `count` where there are fewer different rows."""
    distinct, group = np.unique(points, axis=0, return_inverse=True)
    order = check_random_state(random_state).permutation(len(distinct))
    if classes is not None:
        codes = np.unique(classes, return_inverse=True)[1]
        least = np.full(len(distinct), codes.max())
        np.minimum.at(least, group, codes)
        order = order[np.argsort(least[order], kind="stable")]
    fold_of = np.empty(len(distinct), dtype=np.intp)
    fold_of[order] = np.arange(len(distinct)) % min(count, len(distinct))
    return np.asarray(fold_of[group])


def _split(cv: Any, samples: Samples, classes: NDArray[Any] | None) -> list[Fold]:
    splits = as_splitter(cv).split(samples.points, samples.labels if classes is None else classes)
    return [(np.asarray(fitted, dtype=np.intp), np.asarray(held_out, dtype=np.intp)) for fitted, held_out in splits]


def _restrict(folds: list[Fold], rows: NDArray[np.intp]) -> list[Fold]:
    """Return the folds with the rows that count, in their order."""
    kept = [tuple(rows[np.isin(rows, part)] for part in fold) for fold in folds]
    if not kept or any(not len(part) for fold in kept for part in fold):
        raise InvalidInput("has a fold without rows to fit, or without rows to hold out", parameter="cv")
    return [(fitted, held_out) for fitted, held_out in kept]

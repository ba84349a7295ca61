"""Labels of classes that disagree with what a teacher takes for the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from nimt.arrays import Array, Indices
from nimt.classes import answers, are_classes, check_classes
from nimt.errors import InvalidInput
from nimt.pools.pool import FunctionLike, Pool, values_on
from nimt.teachers.references import ask, find_unlike, is_made_of_rows, number_classes

MOST_CLASSES = 20  # different whole numbers that are taken for classes, as `nimt.reference` does


def disagreements(reference: FunctionLike, pool: Pool, target: Array) -> Indices:
    """Return the points of the pool at which a reference names another class than the target.

    Examples
    --------
    >>> from nimt.pools.pool import Points
    >>> disagreements(np.array([1.0, -1.0, 1.0]), Points([[0.0], [1.0], [2.0]]), np.array([1.0, 1.0, -1.0]))
    array([1, 2])
    """
    try:
        check_classes(target)
    except InvalidInput as error:
        raise InvalidInput(f"reference= is compared with labels that are classes: {error}") from None
    return np.flatnonzero(_name_classes(reference, pool, target) != answers(target, target))


def _name_classes(reference: Any, pool: Pool, target: Array) -> Indices:
    """Return the class that the reference names at each point, by its column or its place among the labels."""
    if target.ndim == 2 and np.asarray(getattr(reference, "classes_", 0)).dtype.kind not in "biuf":  # words
        return np.asarray(number_classes(reference, pool), dtype=np.intp)
    values = ask(reference, pool)
    if values.shape == target.shape:
        return answers(values, target)
    columns = np.shape(target)[1] if target.ndim == 2 else 0
    # a classifier answers by class numbers where the target has a column for each
    known = np.asarray(getattr(reference, "classes_", np.arange(columns)))
    if is_made_of_rows(reference) and getattr(reference.classes, "dtype", known.dtype).kind in "biuf":
        known = np.asarray(reference.classes)
    if values.ndim != 1 or len(known) != columns or not np.isin(values, known).all():
        raise InvalidInput(
            f"the reference has shape {values.shape} and the target {target.shape}: give the reference as classes "
            f"in the form of the target, or as numbers of its columns"
        )
    return np.asarray(np.searchsorted(known, values), dtype=np.intp)


def split_by_reference(reference: FunctionLike, pool: Pool, target: Array) -> tuple[Array, Indices]:
    """Return what the reference answers, in a form that can be stored, and the points whose label agrees with it.

    A label that is a class agrees where the reference names the same one. A number agrees within 3 deviations of the
    differences (`find_unlike`).

    Examples
    --------
    >>> from nimt.pools.pool import Points
    >>> pool = Points([[0.0], [1.0], [2.0], [3.0]])
    >>> split_by_reference(np.array([0.1, 1.0, 2.0, 3.0]), pool, np.array([0.0, 1.1, 9.0, 3.2]))[1]
    array([0, 1, 3])
    """
    if _is_of_classes(reference, target):
        named = _name_classes(reference, pool, target)
        wrong = np.flatnonzero(named != answers(target, target))
        said = np.asarray(named if target.ndim == 2 else np.unique(target)[named], dtype=np.float64)
    else:
        said = values_on(pool, ask(reference, pool), "the reference", target.shape[1:])
        wrong = find_unlike(said, target)
    agreeing = np.delete(np.arange(len(target)), wrong)
    if not agreeing.size:
        raise InvalidInput("no label agrees with the reference: where='agrees' leaves nothing to show")
    return said, agreeing


def _is_of_classes(reference: Any, target: Array) -> bool:
    if is_made_of_rows(reference):
        return reference.classes is not None
    if target.ndim > 1:
        return are_classes(target)
    kinds = np.unique(target)
    return 2 <= len(kinds) <= MOST_CLASSES and bool((kinds == np.round(kinds)).all())

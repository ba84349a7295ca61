"""Labels of classes that disagree with what a teacher takes for the truth."""

from __future__ import annotations

import numpy as np

from nimt.arrays import Array, Indices
from nimt.classes import answers, check_classes
from nimt.errors import InvalidInput
from nimt.pools.pool import FunctionLike, Pool, values_on


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
    return np.flatnonzero(_classes_named(reference, pool, target) != answers(target, target))


def _classes_named(reference: FunctionLike, pool: Pool, target: Array) -> Indices:
    """Return the class that the reference names at each point, by its column or its place among the labels."""
    values = values_on(pool, reference, "the reference")
    if values.shape == target.shape:
        return answers(values, target)
    columns = np.shape(target)[1] if target.ndim == 2 else 0
    # a classifier answers by class numbers where the target has a column for each
    known = np.asarray(getattr(reference, "classes_", np.arange(columns)))
    if values.ndim != 1 or len(known) != columns or not np.isin(values, known).all():
        raise InvalidInput(
            f"the reference has shape {values.shape} and the target {target.shape}: give the reference as classes "
            f"in the form of the target, or as numbers of its columns"
        )
    return np.asarray(np.searchsorted(known, values), dtype=np.intp)

"""Classes as columns: labels to one-hot rows, and rows of outputs back to classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, Indices, freeze
from nimt.errors import InvalidInput

SUM_OF_A_ROW = 1e-9  # how far the probabilities of a label may be from 1 in sum


def one_hot(labels: ArrayLike, classes: ArrayLike | None = None) -> Array:
    """Return one row per label, 1 in the column of its class and 0 elsewhere.

    Parameters
    ----------
    labels : array (n,) of numbers or text
    classes : array (q,), optional
        The classes in the order of the columns; those of the labels, sorted, by default.

    Returns
    -------
    array (n, q)

    Examples
    --------
    >>> one_hot(["cat", "dog", "cat"])
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    given = np.asarray(labels)
    if given.ndim != 1 or given.size == 0:
        raise InvalidInput(f"must be a list with one class per point, got shape {given.shape}", parameter="labels")
    _check_complete(given, "labels")
    known = np.unique(given) if classes is None else np.asarray(classes)
    if known.ndim != 1 or len(np.unique(known)) != len(known):
        raise InvalidInput(f"must be a list of different classes, got {classes!r}", parameter="classes")
    if len(known) < 2:
        raise InvalidInput(f"there is one class only, {known.tolist()!r}: a classification needs at least two")
    rows = given[:, np.newaxis] == known
    missing = np.flatnonzero(~rows.any(axis=1))
    if missing.size:
        raise InvalidInput(f"the label {given[missing[0]]!s} at index {missing[0]} is none of the classes given")
    return freeze(rows.astype(np.float64))


def _check_complete(labels: NDArray[np.generic], name: str) -> None:
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidInput(f"{name} has NaN at index {int(np.flatnonzero(np.isnan(labels))[0])}: name a class there")


def class_of(values: Array) -> Indices:
    """Return the column with the largest value of each row; of equals, the first.

    Examples
    --------
    >>> class_of(np.array([[0.1, 0.9], [0.5, 0.5]]))
    array([1, 0])
    """
    return np.asarray(np.argmax(values, axis=1), dtype=np.intp)


def answers(values: Array, target: Array) -> Indices:
    """Return the class that each value stands for, by its place among the classes of the target.

    With several outputs it is the largest one. With one output the classes are the numbers in the target, and a value
    stands for the nearest: for the labels -1 and +1 that is its sign. Of two classes that are equally near, the first.

    Examples
    --------
    >>> answers(np.array([-0.3, 2.0]), np.array([-1.0, 1.0]))
    array([0, 1])
    """
    if target.ndim > 1:
        return class_of(values)
    classes = np.unique(target)
    return np.asarray(np.searchsorted((classes[:-1] + classes[1:]) / 2, values, side="left"), dtype=np.intp)


def check_classes(target: Array) -> None:
    """Refuse a target that does not name classes: one-hot rows, or whole numbers, at least two of them."""
    if target.ndim > 1:
        check_probabilities(target, "an accuracy")
        return
    other = np.flatnonzero(target != np.round(target))
    if other.size:
        raise InvalidInput(
            "an accuracy needs classes, whole numbers such as -1 and +1 or one-hot rows (nimt.classes.one_hot(labels)),"
            f" and the target is {target[other[0]]:g} at index {other[0]}"
        )
    if target.min() == target.max():
        raise InvalidInput(
            f"every label is {target[0]:g}, and an accuracy needs at least two classes: show points of another, too"
        )


def are_classes(target: Array) -> bool:
    """Say whether a target has several outputs, of which one is 1 and the others 0 in every row."""
    if target.ndim == 1:
        return False
    return bool(np.isin(target, (0.0, 1.0)).all() and (target.sum(axis=1) == 1.0).all())


def check_probabilities(y: Array, of: str) -> None:
    """Refuse labels that are not probabilities of q >= 2 classes: one-hot rows are the usual ones."""
    if y.ndim != 2 or y.shape[1] < 2:
        raise InvalidInput(
            f"{of} takes labels of shape (n, q), one column for each of q >= 2 classes, got shape {y.shape}: "
            f"nimt.classes.one_hot(labels) makes them"
        )
    wrong = np.flatnonzero((y < 0).any(axis=1) | ~(np.abs(y.sum(axis=1) - 1.0) <= SUM_OF_A_ROW))
    if wrong.size:
        raise InvalidInput(
            f"{of} takes labels that are probabilities, not negative and 1 in sum, got {y[wrong[0]].tolist()} at index "
            f"{wrong[0]}: nimt.classes.one_hot(labels) makes such rows"
        )

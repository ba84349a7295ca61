"""Cross-validation that keeps what succeeded: every row answered by a model that did not see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from nimt.arrays import Array, Flags, Indices, check_count
from nimt.counting import say_count
from nimt.errors import InvalidInput
from nimt.teaching_sets.models import fit_quietly, predict, score, score_classes
from nimt.teaching_sets.row_checks import Rows, find_copies, take_rows
from nimt.wording import Watcher, Wording, be_silent

FOLDS = 5  # unless the user says how many


@dataclass(frozen=True, eq=False)
class Folded:
    """The answers of models that did not see the rows they answer.

    Attributes
    ----------
    labels : array (n,)
    scores : array (n, q) or None
        Of classes: how much the model holds with each.
    known : array (n,) of bool
        False for the rows of a fold that failed.
    score : float
        The mean of R^2, or of the accuracy, over the folds that succeeded.
    failures : tuple of str
    """

    labels: NDArray[Any]
    scores: Array | None
    known: Flags
    score: float
    failures: tuple[str, ...] = ()


def check_enough(rows: Rows) -> None:
    """Refuse rows that are too few for the folds of f*."""
    if len(rows) < FOLDS:
        raise InvalidInput(f"there are {say_count(len(rows), 'row')}, and at least {FOLDS} are needed: give more rows")


def check_folds(folds: int, rows: Rows) -> None:
    """Refuse a number of folds that the rows are too few for."""
    check_count("folds", folds, at_least=2)
    if len(rows) < folds:
        count = say_count(len(rows), "row")
        raise InvalidInput(
            Wording(
                f"{count} cannot make folds={folds} parts: give fewer folds",
                f"there are {count}, and at least {folds} are needed: give more rows",
            )
        )


def draw(rows: Rows, count: int, of_each: int, seed: int) -> Indices:
    """Return the places of rows drawn at random, all of them if there are not more; `of_each` of each class first."""
    if len(rows) <= count:
        return np.arange(len(rows))
    order = np.random.default_rng(seed).permutation(len(rows))
    if rows.classes is not None:
        labels = rows.y[order]
        first = np.concatenate([np.flatnonzero(labels == name)[:of_each] for name in rows.classes])
        order = np.concatenate([order[first], np.delete(order, first)])
    return np.sort(order[:count])


def split(rows: Rows, folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """Return the rows to fit and to answer in each fold; classes are kept in proportion where each has enough rows.

    Copies of a row are in one fold: a model that has seen one of them would know the others.
    """
    copy_of = find_copies(rows.X, rows.y)
    first = np.flatnonzero(copy_of == np.arange(len(rows)))
    if len(first) == len(rows) or len(first) < folds:
        return _deal(rows.y, rows.classes is not None, folds, seed)
    dealt = _deal(rows.y[first], rows.classes is not None, folds, seed)
    return [
        (np.flatnonzero(np.isin(copy_of, first[fitted])), np.flatnonzero(np.isin(copy_of, first[asked])))
        for fitted, asked in dealt
    ]


def _deal(labels: NDArray[Any], are_classes: bool, folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    if are_classes:
        smallest = int(np.unique(labels, return_counts=True)[1].min())
        if smallest >= folds:
            return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))
    return list(KFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(labels))))


def fold(model: Any, rows: Rows, folds: int, seed: int, most: int | None = None, watch: Watcher = be_silent) -> Folded:
    """Fit a model to all folds but one, and let it answer that one; a fold that fails is told, and the others stay.

    `most` is the number of rows that a fit sees at most; of more, so many are drawn. `watch` is told of each fold.
    """
    labels = rows.y.copy()
    scores = None if rows.classes is None else np.zeros((len(rows), len(rows.classes)))
    known = np.zeros(len(rows), dtype=bool)
    found, failures = [], []
    for place, (fitted, asked) in enumerate(split(rows, folds, seed)):
        watch(f"fold {place + 1} of {folds}")
        X = take_rows(rows.X, asked)
        if most is not None and len(fitted) > most:
            fitted = fitted[draw(rows.take(fitted), most, folds, seed)]
        try:
            made = fit_quietly(clone(model), take_rows(rows.X, fitted), rows.y[fitted])
            answers = check_answers(predict(made, X), len(asked), rows, "the reference")
            if rows.classes is not None and scores is not None:
                scores[asked] = score_classes(made, X, rows.classes)
        except Exception as error:  # code of anybody
            failures.append(f"fold {place + 1} failed with {type(error).__name__} ({str(error).split(chr(10))[0]})")
            continue
        labels[asked], known[asked] = answers, True
        found.append(score(answers, rows.y[asked], rows.classes is not None))
    if not found:
        raise InvalidInput(f"the reference failed in every fold: {failures[0]}")
    finite = [value for value in found if np.isfinite(value)]
    if not finite:  # R^2 is not defined on the single row of a small fold
        finite = [score(labels[known], rows.y[known], rows.classes is not None)]
    return Folded(labels, scores, known, float(np.mean(finite)), tuple(failures))


def ask_student(student: Any, X: Any, rows: Rows) -> NDArray[Any]:
    """Return one answer of a fitted student per row of X, of those that it may give to these rows."""
    return check_answers(student.predict(X), len(X), rows, f"the student {type(student).__name__}")


def check_answers(answers: Any, count: int, rows: Rows, what: str) -> NDArray[Any]:
    """Return the answers of a model, or refuse those that are not one finite number, or known class, per row."""
    array = np.asarray(answers)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (count,):
        raise InvalidInput(
            f"{what} answered with shape {array.shape} for {say_count(count, 'row')}: one answer per row"
        )
    if rows.classes is not None:
        strange = array[~np.isin(array, rows.classes)]
        if strange.size:
            raise InvalidInput(
                f"{what} answered {strange[0]!s}, which is no class of y: {', '.join(map(str, rows.classes[:20]))}"
            )
        return array.astype(rows.classes.dtype)
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"{what} answered with {array.dtype} where numbers are needed")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InvalidInput(f"{what} answered {array[bad[0]]!s} for row {bad[0]}: every answer must be a finite number")
    return array.astype(np.float64)

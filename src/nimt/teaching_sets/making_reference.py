"""How f* is made from rows: the best of some models by cross-validation, or what the user gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from nimt.arrays import Indices, check_flag, is_whole
from nimt.errors import InvalidInput
from nimt.teaching_sets.fold_answers import Folded, check_answers, check_folds, draw, fold
from nimt.teaching_sets.model_answers import ask, ask_shares, can_be_fitted, find_boundary, is_module, name_of
from nimt.teaching_sets.models import (
    adapt,
    fit_quietly,
    list_candidates,
    predict,
    says_classes,
    score,
    score_classes,
    with_few_threads,
)
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import Rows, read_rows
from nimt.wording import Watcher, be_silent, begin_with

POOR = "f* is no better than "  # how the note on a poor model begins
MOST_COMPARED = 5000  # rows on which the models of "auto" are compared; of more, so many are drawn
MOST_FITTED = 20_000  # rows to which the best of them is fitted


def reference(
    X: Any,
    y: ArrayLike,
    *,
    model: Any = "auto",
    folds: int = 5,
    out_of_fold: bool = False,
    classes: bool | None = None,
    seed: int = 0,
    watch: Watcher = be_silent,
) -> Reference:
    """Return what a teacher takes for f* on real rows: a model of all of them.

    Rows are noisy, and a teacher who shows them shows the noise. f* is a model of the rows instead, and the labels of
    examples are its answers f*(x).

    Parameters
    ----------
    X : array (n, d), or DataFrame
        Numbers, and in a DataFrame also words, truth values and dates. Missing numbers are filled in by the median.
    y : array (n,)
        Numbers or classes.
    model : "auto", estimator, torch module or callable
        "auto" takes the best by cross-validation of ridge or logistic regression, kernel ridge or support vectors, and
        gradient-boosted trees, compared on 5,000 rows drawn at random and fitted to 20,000, if there are more; the
        notes and the sentence say so. An estimator of scikit-learn that is fitted answers as it is; one that is not is
        fitted to all rows. A callable of X (a function, a torch module) answers as it is.
    folds : int
        Of the cross-validation.
    out_of_fold : bool
        Let each row be answered by a model that did not see it, in `labels`.
    classes : bool, optional
        Whether the labels are classes; by default the models and the labels tell: words are, and so are at most 20
        different whole numbers, with a note.
    seed : int
        Of the folds and of the models.
    watch : callable of str
        Called with a sentence before each part of the work, such as `print`.

    Returns
    -------
    Reference

    Examples
    --------
    >>> x = np.linspace(0, 1, 60)
    >>> noisy = 3 * x + np.random.default_rng(0).normal(0, 0.5, 60)
    >>> found = reference(x, noisy)
    >>> found.score > 0.5, found.labels.shape
    (True, (60,))
    >>> bool(np.abs(found.predict(x) - 3 * x).max() < 0.4)  # the noise has deviation 0.5
    True
    """
    rows = read_rows(X, y, says_classes(model) if classes is None else classes)
    check_seed(seed)
    check_watch(watch)
    check_folds(folds, rows)
    check_flag("out_of_fold", out_of_fold)
    with with_few_threads(model, len(rows)):
        return make_reference(rows, model, folds, bool(out_of_fold), int(seed), watch)


def check_seed(seed: object) -> None:
    """Refuse a seed that scikit-learn does not take."""
    if not is_whole(seed) or not 0 <= int(seed) < 2**32:
        raise InvalidInput(f"must be a whole number from 0 to 2**32 - 1, got {seed!r}", parameter="seed")


def check_watch(watch: object) -> None:
    """Refuse what cannot be told what is being done."""
    if not callable(watch):
        raise InvalidInput(f"must be a function of a sentence, such as print, got {watch!r}", parameter="watch")


def make_reference(
    rows: Rows,
    model: Any,
    folds: int,
    out_of_fold: bool,
    seed: int,
    watch: Watcher = be_silent,
    parameter: str = "model",
) -> Reference:
    """Return a reference of rows that are checked; `parameter` is what the user calls the model."""
    columns = () if isinstance(rows.X, np.ndarray) else tuple(rows.X.columns)
    common: dict[str, Any] = {"classes": rows.classes, "columns": columns}
    if isinstance(model, str):
        if model != "auto":
            raise InvalidInput(f"must be 'auto', an estimator or a callable, got {model!r}", parameter=parameter)
        name, made, folded, notes = _find_best(rows, folds, seed, watch)
        if out_of_fold and len(folded.labels) != len(rows):
            folded = fold(made, rows, folds, seed, MOST_FITTED, begin_with(f"fitting f*, {name}: ", watch))
        watch(f"fitting f*, {name}")
        fitted = rows.take(draw(rows, MOST_FITTED, folds, seed))
        return _settle(rows, name, made, folded, out_of_fold, rows.notes + notes, common, fitted)
    if isinstance(model, type):
        raise InvalidInput(f"must be an object, got the class {model.__name__}", parameter=parameter)
    if can_be_fitted(model) and callable(getattr(model, "predict", None)):
        made = adapt(model, rows.X)
        name, is_ready = type(model).__name__, _is_fitted(model)
        tell = begin_with(f"asking copies of {name} for rows they did not see, ", watch)
        if is_ready and not out_of_fold:
            answers = check_answers(ask(model, rows.X, rows.classes), len(rows), rows, "the reference")
            scores = None if rows.classes is None else score_classes(model, rows.X, rows.classes)
            found = Reference(name, model, answers, scores, fold(made, rows, folds, seed, watch=tell).score, **common)
            return replace(found, notes=rows.notes + _describe_poor(rows, found.score), as_given=True)
        folded = fold(made, rows, folds, seed, watch=tell)
        watch(f"fitting f*, {name}")
        return _settle(rows, name, made, folded, out_of_fold, rows.notes, common)
    if callable(getattr(model, "predict", None)) or callable(model):
        return _take_function(rows, model, out_of_fold, common)
    raise InvalidInput(f"must be 'auto', an estimator or a callable, got {model!r}", parameter=parameter)


def draw_compared(rows: Rows, folds: int, seed: int) -> Indices:
    """Return the places of the rows on which the models of "auto" are compared."""
    return draw(rows, MOST_COMPARED, folds, seed)


def _find_best(rows: Rows, folds: int, seed: int, watch: Watcher) -> tuple[str, Any, Folded, tuple[str, ...]]:
    """Return the candidate with the best cross-validated score, and what became of the others."""
    compared = rows.take(draw_compared(rows, folds, seed))
    fitted = min(MOST_FITTED, len(rows) * (folds - 1) // folds)
    candidates = list_candidates(compared.X, rows.classes is not None, fitted, seed)
    found: dict[str, Folded] = {}
    failures = []
    for number, (name, model) in enumerate(candidates.items()):
        begin = f"comparing models of the rows for f*: {name}, {number + 1} of {len(candidates)}, "
        try:
            found[name] = fold(model, compared, folds, seed, watch=begin_with(begin, watch))
        except InvalidInput as error:
            failures.append(f"{name}: {error}")
    if not found:
        raise InvalidInput(f"no model could be fitted to these rows: {failures[0]}")
    best = max(found, key=lambda name: found[name].score)
    others = ", ".join(f"{name} {folded.score:.3f}" for name, folded in found.items() if name != best)
    notes = [f"the others by cross-validation: {others}"] if others else []
    if len(compared) < len(rows):
        notes.append(f"the models were compared on {len(compared):,} rows drawn at random")
    return best, candidates[best], found[best], (*notes, *failures)


def _settle(
    rows: Rows, name: str, made: Any, folded: Folded, out_of_fold: bool, notes: tuple[str, ...], common: dict[str, Any],
    fitted: Rows | None = None,
) -> Reference:  # fmt: skip
    """Fit the model to all rows, or to those drawn, and take its answers, or those of the folds."""
    fitted = rows if fitted is None else fitted
    try:
        whole = fit_quietly(clone(made), fitted.X, fitted.y)
        answers = check_answers(predict(whole, rows.X), len(rows), rows, "the reference")
    except InvalidInput:
        raise
    except Exception as error:  # code of anybody
        told = f"{type(error).__name__} ({str(error).split(chr(10))[0]})"
        if len(folded.known) != len(rows) or not folded.known.all():
            raise InvalidInput(f"the reference {name} failed with {told}") from error
        notes += (
            f"fitting {name} to all rows failed with {told}: each answer is that of a fold, and there is no model",
        )
        return Reference(
            name, None, folded.labels, folded.scores, folded.score, out_of_fold=True, notes=notes, **common
        )
    scores = None if rows.classes is None else score_classes(whole, rows.X, rows.classes)
    if out_of_fold:
        answers = np.where(folded.known, folded.labels, answers)
        if scores is not None and folded.scores is not None:
            scores = np.where(folded.known[:, np.newaxis], folded.scores, scores)
    notes += _describe_poor(rows, folded.score)
    said = notes + tuple(f"{failure}; its rows are answered by the model of all rows" for failure in folded.failures)
    count = len(fitted) if len(fitted) < len(rows) else 0
    return Reference(
        name, whole, answers, scores, folded.score, out_of_fold=out_of_fold, fitted_to=count, notes=said, **common
    )


def _describe_poor(rows: Rows, found: float) -> tuple[str, ...]:
    """Return a note where a model answers no better than the mean, or the most frequent class."""
    if rows.classes is None:
        plain, name = 0.0, "the mean of the labels"
    else:
        plain, name = float(np.unique(rows.y, return_counts=True)[1].max()) / len(rows), "the most frequent class"
    return () if found > plain else (f"{POOR}{name}, so that its answers say little about these rows",)


def _take_function(rows: Rows, model: Any, out_of_fold: bool, common: dict[str, Any]) -> Reference:
    name = name_of(model)
    if out_of_fold:
        raise InvalidInput(
            f"out_of_fold=True fits the model again without some rows, and {name} has no fit: leave it out"
        )
    boundary = 0.0 if rows.classes is None else find_boundary(model, rows.X)
    answers = check_answers(ask(model, rows.X, rows.classes, boundary), len(rows), rows, "the reference")
    scores = None
    if rows.classes is not None and is_module(model):
        scores = ask_shares(model, rows.X, rows.classes, boundary)
    elif rows.classes is not None:
        scores = np.asarray(answers[:, np.newaxis] == rows.classes, dtype=np.float64)
    found = score(answers, rows.y, rows.classes is not None)
    return Reference(
        name, model, answers, scores, found, cross_validated=False, notes=rows.notes + _describe_poor(rows, found),
        as_given=True, boundary=boundary, **common,
    )  # fmt: skip


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        return False
    except AttributeError:  # it has no tags: it does not inherit from scikit-learn's classes
        return any(name.endswith("_") and not name.startswith("_") for name in vars(model))
    return True


def fit_again(found: Reference, rows: Rows) -> Reference:
    """Return the same kind of reference fitted to other rows."""
    try:
        model = fit_quietly(clone(found.model), rows.X, rows.y)
    except Exception as error:  # code of anybody
        raise InvalidInput(f"the reference {found.name} failed with {type(error).__name__} ({error})") from error
    answers = check_answers(ask(model, rows.X, rows.classes), len(rows), rows, "the reference")
    scores = None if rows.classes is None else score_classes(model, rows.X, rows.classes)
    return replace(found, model=model, labels=answers, scores=scores, out_of_fold=False, notes=(), as_given=False)

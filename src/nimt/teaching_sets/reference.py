"""What a teacher takes for f*: a model of all rows, as a value that is stored, shown and used again."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from nimt.arrays import Array, Indices, is_whole
from nimt.counting import say_count
from nimt.display import cell, pairs, sentences
from nimt.errors import CannotStore, CorruptLesson, InvalidInput
from nimt.learners.foreign_learner import SKOPS, from_skops, state_of
from nimt.lesson import storage
from nimt.teaching_sets.fold_answers import Folded, check_answers, check_folds, fold
from nimt.teaching_sets.models import (
    adapt,
    fit_quietly,
    list_candidates,
    says_classes,
    score,
    score_classes,
    with_one_thread,
)
from nimt.teaching_sets.row_checks import Rows, read_features, read_rows

KIND = "reference"


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """A model of rows that stands for f*; made by `nimt.reference`.

    Attributes
    ----------
    name : str
        Of the model, such as "ridge".
    model : estimator, callable or None
        None where only the answers were stored.
    labels : array (n,)
        What it answers for its rows, in their order; with `out_of_fold`, by models that did not see the row.
    scores : array (n, q) or None
        Of classes: how much it holds with each of them, in the order of `classes`.
    score : float
        R^2, or the accuracy of classes: by cross-validation, or on its rows where it cannot be fitted again.
    classes : array (q,) or None
    columns : tuple of str
        The names of the features, if they have some.
    out_of_fold, cross_validated : bool
    notes : tuple of str
    """

    name: str
    model: Any
    labels: NDArray[Any]
    scores: Array | None
    score: float
    classes: NDArray[Any] | None = None
    columns: tuple[str, ...] = ()
    out_of_fold: bool = False
    cross_validated: bool = True
    notes: tuple[str, ...] = ()

    def predict(self, X: Any) -> NDArray[Any]:
        """Return f* at rows of features: numbers, or classes."""
        if self.model is None:
            raise InvalidInput("only the answers of this reference were stored, not its model: make it again")
        features = self._order(read_features(X))
        as_rows = Rows(features, self.labels, self.classes)
        return check_answers(_ask(self.model, features, self.classes), len(features), as_rows, "the reference")

    def _order(self, features: Any) -> Any:
        """Return a DataFrame with the columns that the model was fitted to, in their order."""
        if not self.columns or isinstance(features, np.ndarray):
            return features
        absent = next((name for name in self.columns if name not in features.columns), None)
        if absent is not None:
            raise InvalidInput(f"X has no column {absent!r}, which the reference needs")
        return features[list(self.columns)]

    def take(self, places: Indices) -> Reference:
        """Return it with some of its answers."""
        scores = None if self.scores is None else self.scores[places]
        return replace(self, labels=self.labels[places], scores=scores)

    @property
    def can_be_fitted(self) -> bool:
        """Whether the model is an estimator, of which copies can be fitted to other rows."""
        return callable(getattr(self.model, "fit", None))

    @property
    def measure(self) -> str:
        """What `score` is: R^2, or accuracy."""
        return "R^2" if self.classes is None else "accuracy"

    @property
    def sentence(self) -> str:
        """One line: what it is, and how good."""
        how = "by cross-validation" if self.cross_validated else "on its own rows"
        answers = ", each row answered by a model that did not see it" if self.out_of_fold else ""
        count = say_count(len(self.labels), "row")
        return f"f* is {self.name} fitted to {count}, {self.measure} {self.score:.3f} {how}{answers}"

    def __repr__(self) -> str:
        return f"Reference({self.sentence})"

    def _repr_html_(self) -> str:
        about = {"classes": None if self.classes is None else ", ".join(map(str, self.classes[:20])),
                 "features": ", ".join(self.columns[:20]) or None}  # fmt: skip
        return cell("Reference", sentences([self.sentence, *self.notes]), pairs(about))

    def save(self, path: str | os.PathLike[str], *, answers_only: bool = False) -> None:
        """Write it to one file, without pickle.

        Parameters
        ----------
        path : path-like
        answers_only : bool
            Leave the model out, and keep its answers: for a function, or a class that is not scikit-learn's.
        """
        stored: Any = None
        if not answers_only and self.model is not None:
            stored = _store(self.model)
        words = self.classes is not None and self.classes.dtype.kind not in "biuf"
        content = {
            "name": self.name,
            "model": stored,
            "labels": [str(label) for label in self.labels] if words else self.labels,
            "classes": [str(name) for name in cast(Any, self.classes)] if words else self.classes,
            "scores": self.scores,
            "score": self.score,
            "columns": list(self.columns),
            "out_of_fold": self.out_of_fold,
            "cross_validated": self.cross_validated,
            "notes": list(self.notes),
        }
        storage.write(path, KIND, content)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Reference:
        """Read what `save` wrote; only classes of scikit-learn are created."""
        content = storage.read(path, KIND)
        try:
            stored, classes = content["model"], content["classes"]
            scores = content["scores"]
            made = Reference(
                name=str(content["name"]),
                model=None if stored is None else from_skops(stored[SKOPS], str(content["name"])),
                labels=np.asarray(content["labels"]),
                classes=None if classes is None else np.asarray(classes),
                scores=None if scores is None else np.asarray(scores, dtype=np.float64),
                score=float(content["score"]),
                columns=tuple(map(str, content["columns"])),
                out_of_fold=bool(content["out_of_fold"]),
                cross_validated=bool(content["cross_validated"]),
                notes=tuple(map(str, content["notes"])),
            )
            whole = made.labels.ndim == 1 and (made.classes is None) == (made.scores is None)
            if made.classes is not None and made.scores is not None:
                whole = whole and made.scores.shape == (len(made.labels), len(made.classes))
                whole = whole and bool(np.isin(made.labels, made.classes).all())
            else:
                whole = whole and made.labels.dtype.kind == "f" and bool(np.isfinite(made.labels).all())
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, CannotStore):
                raise
            raise CorruptLesson(f"{path} was altered: {error}") from None
        if not whole:
            raise CorruptLesson(f"{path} was altered: its labels do not fit its classes")
        return made


def reference(
    X: Any,
    y: ArrayLike,
    *,
    model: Any = "auto",
    folds: int = 5,
    out_of_fold: bool = False,
    classes: bool | None = None,
    seed: int = 0,
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
        gradient-boosted trees. An estimator of scikit-learn that is fitted answers as it is; one that is not is fitted
        to all rows. A callable of X (a function, a torch module) answers as it is.
    folds : int
        Of the cross-validation.
    out_of_fold : bool
        Let each row be answered by a model that did not see it, in `labels`.
    classes : bool, optional
        Whether the labels are classes; by default the models and the labels tell: words are, and so are at most 20
        different whole numbers, with a note.
    seed : int
        Of the folds and of the models.

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
    check_folds(folds, rows)
    if not isinstance(out_of_fold, bool | np.bool_):
        raise InvalidInput(f"must be True or False, got {out_of_fold!r}", parameter="out_of_fold")
    with with_one_thread(len(rows)):
        return make_reference(rows, model, folds, bool(out_of_fold), int(seed))


def check_seed(seed: object) -> None:
    """Refuse a seed that scikit-learn does not take."""
    if not is_whole(seed) or not 0 <= int(seed) < 2**32:
        raise InvalidInput(f"must be a whole number from 0 to 2**32 - 1, got {seed!r}", parameter="seed")


def make_reference(rows: Rows, model: Any, folds: int, out_of_fold: bool, seed: int) -> Reference:
    """Return a reference of rows that are checked."""
    columns = () if isinstance(rows.X, np.ndarray) else tuple(rows.X.columns)
    common: dict[str, Any] = {"classes": rows.classes, "columns": columns}
    if isinstance(model, str):
        if model != "auto":
            raise InvalidInput(f"must be 'auto', an estimator or a callable, got {model!r}", parameter="model")
        name, made, folded, notes = _find_best(rows, folds, seed)
        return _settle(rows, name, made, folded, out_of_fold, rows.notes + notes, common)
    if callable(getattr(model, "fit", None)) and callable(getattr(model, "predict", None)):
        if isinstance(model, type):
            raise InvalidInput(f"must be an object, got the class {model.__name__}", parameter="model")
        name, is_ready = type(model).__name__, _is_fitted(model)
        made = adapt(model, rows.X)
        if is_ready and not out_of_fold:
            answers = check_answers(_ask(model, rows.X, rows.classes), len(rows), rows, "the reference")
            scores = None if rows.classes is None else score_classes(model, rows.X, rows.classes)
            found = Reference(name, model, answers, scores, fold(made, rows, folds, seed).score, **common)
            return replace(found, notes=rows.notes)
        folded = fold(made, rows, folds, seed)
        return _settle(rows, name, made, folded, out_of_fold, rows.notes, common)
    if callable(getattr(model, "predict", None)) or callable(model):
        return _take_function(rows, model, out_of_fold, common)
    raise InvalidInput(f"must be 'auto', an estimator or a callable, got {model!r}", parameter="model")


def _find_best(rows: Rows, folds: int, seed: int) -> tuple[str, Any, Folded, tuple[str, ...]]:
    """Return the candidate with the best cross-validated score, and what became of the others."""
    candidates = list_candidates(rows.X, rows.classes is not None, len(rows) * (folds - 1) // folds, seed)
    found: dict[str, Folded] = {}
    failures = []
    for name, model in candidates.items():
        try:
            found[name] = fold(model, rows, folds, seed)
        except InvalidInput as error:
            failures.append(f"{name}: {error}")
    if not found:
        raise InvalidInput(f"no model could be fitted to these rows: {failures[0]}")
    best = max(found, key=lambda name: found[name].score)
    others = ", ".join(f"{name} {folded.score:.3f}" for name, folded in found.items() if name != best)
    notes = (f"the others by cross-validation: {others}",) if others else ()
    return best, candidates[best], found[best], (*notes, *failures)


def _settle(
    rows: Rows, name: str, made: Any, folded: Folded, out_of_fold: bool, notes: tuple[str, ...], common: dict[str, Any]
) -> Reference:
    """Fit the model to all rows, and take its answers, or those of the folds."""
    try:
        whole = fit_quietly(clone(made), rows.X, rows.y)
        answers = check_answers(whole.predict(rows.X), len(rows), rows, "the reference")
    except InvalidInput:
        raise
    except Exception as error:  # code of anybody
        raise InvalidInput(f"the reference {name} failed with {type(error).__name__} ({error})") from error
    scores = None if rows.classes is None else score_classes(whole, rows.X, rows.classes)
    if out_of_fold:
        answers = np.where(folded.known, folded.labels, answers)
        if scores is not None and folded.scores is not None:
            scores = np.where(folded.known[:, np.newaxis], folded.scores, scores)
    said = notes + tuple(f"{failure}; its rows are answered by the model of all rows" for failure in folded.failures)
    return Reference(name, whole, answers, scores, folded.score, out_of_fold=out_of_fold, notes=said, **common)


def _take_function(rows: Rows, model: Any, out_of_fold: bool, common: dict[str, Any]) -> Reference:
    name = _name(model)
    if out_of_fold:
        raise InvalidInput(
            f"out_of_fold=True fits the model again without some rows, and {name} has no fit: leave it out"
        )
    answers = check_answers(_ask(model, rows.X, rows.classes), len(rows), rows, "the reference")
    scores = None
    if rows.classes is not None:
        scores = np.asarray(answers[:, np.newaxis] == rows.classes, dtype=np.float64)
    found = score(answers, rows.y, rows.classes is not None)
    return Reference(name, model, answers, scores, found, cross_validated=False, notes=rows.notes, **common)


def _ask(model: Any, X: Any, classes: NDArray[Any] | None) -> Any:
    """Return the answers of a fitted estimator, a torch module or a callable, or say how it failed."""
    try:
        theirs = sys.modules.get("torch")
        if theirs is not None and isinstance(model, theirs.nn.Module):
            return _ask_module(theirs, model, X, classes)
        predict = getattr(model, "predict", None)
        return predict(X) if callable(predict) else model(X)
    except NotFittedError:
        name = _name(model)
        raise InvalidInput(f"the reference {name} is not fitted: fit it first") from None
    except InvalidInput:
        raise
    except Exception as error:  # code of the user
        name = _name(model)
        raise InvalidInput(f"the reference {name} failed with {type(error).__name__} ({error})") from error


def _ask_module(torch: Any, module: Any, X: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
    """Return the outputs of a torch module; of classes, the one with the largest output, or the sign of one output."""
    from nimt.torch.modules import outputs_of

    numbers = torch.as_tensor(np.asarray(X, dtype=np.float64))
    outputs = np.asarray(outputs_of(module, numbers).detach().cpu().numpy(), dtype=np.float64)
    if classes is None:
        return outputs
    if outputs.ndim == 2 and outputs.shape[1] == len(classes):
        places = outputs.argmax(axis=1)
    else:
        places = (outputs.reshape(len(outputs), -1)[:, 0] > 0).astype(np.intp)
    return np.asarray(classes[places])


def _store(model: Any) -> Any:
    """Return an estimator as skops writes it, or refuse what could not be read again."""
    keep = "save(path, answers_only=True) keeps its answers"
    if not isinstance(model, BaseEstimator):
        raise CannotStore(f"{_name(model)} cannot be written to a file without pickle: {keep}")
    try:
        stored = state_of(model)
        from_skops(stored[SKOPS], _name(model))
    except (CannotStore, ValueError, KeyError) as error:
        raise CannotStore(f"{_name(model)} cannot be stored ({error}): {keep}") from None
    return stored


def _name(model: Any) -> str:
    return str(getattr(model, "__name__", type(model).__name__))


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        return False
    return True


def fit_again(found: Reference, rows: Rows) -> Reference:
    """Return the same kind of reference fitted to other rows."""
    try:
        model = fit_quietly(clone(found.model), rows.X, rows.y)
    except Exception as error:  # code of anybody
        raise InvalidInput(f"the reference {found.name} failed with {type(error).__name__} ({error})") from error
    answers = check_answers(_ask(model, rows.X, rows.classes), len(rows), rows, "the reference")
    scores = None if rows.classes is None else score_classes(model, rows.X, rows.classes)
    return replace(found, model=model, labels=answers, scores=scores, out_of_fold=False, notes=())

"""What a teacher takes for f*: a model of all rows, as a value that is stored, shown and used again."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from nimt.arrays import Array, Indices
from nimt.counting import say_count
from nimt.display import cell, pairs, sentences
from nimt.errors import CannotStore, CorruptLesson, InvalidInput
from nimt.learners.foreign_learner import SKOPS, from_skops, state_of
from nimt.store import records
from nimt.teaching_sets.fold_answers import check_answers
from nimt.teaching_sets.model_answers import ask, can_be_fitted, name_of
from nimt.teaching_sets.row_checks import Rows, read_features

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
    fitted_to : int
        How many rows the model was fitted to; 0 for all of them.
    notes : tuple of str
    as_given : bool
        Whether the model answers as the user gave it: a function, a torch module, or an estimator that was fitted
        before.
    boundary : float
        Of a torch module with one output for two classes: the output at which they meet, 0.5 where its outputs are
        shares.
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
    fitted_to: int = 0
    notes: tuple[str, ...] = ()
    as_given: bool = False
    boundary: float = 0.0

    def predict(self, X: Any) -> NDArray[Any]:
        """Return f* at rows of features: numbers, or classes."""
        if self.model is None:
            raise InvalidInput(
                "this reference has answers and no model, which was not stored or could not be fitted: make it again"
            )
        features = self._order(read_features(X))
        as_rows = Rows(features, self.labels, self.classes)
        answers = ask(self.model, features, self.classes, self.boundary)
        return check_answers(answers, len(features), as_rows, "the reference")

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
        return can_be_fitted(self.model)

    @property
    def measure(self) -> str:
        """What `score` is: R^2, or accuracy."""
        return "R^2" if self.classes is None else "accuracy"

    @property
    def sentence(self) -> str:
        """One line: what it is, and how good."""
        answers = ", each row answered by a model that did not see it" if self.out_of_fold else ""
        count = say_count(len(self.labels), "row")
        count = count if self.fitted_to == 0 else f"{self.fitted_to:,} of {count}"
        made = "as it was given" if self.as_given else f"fitted to {count}"
        how = "by cross-validation" if self.cross_validated else f"on {count}"
        return f"f* is {self.name} {made}, {self.measure} {self.score:.3f} {how}{answers}"

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
            "fitted_to": self.fitted_to,
            "notes": list(self.notes),
            "as_given": self.as_given,
        }
        records.write(path, KIND, content)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Reference:
        """Read what `save` wrote; only classes of scikit-learn are created."""
        content = records.read(path, KIND)
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
                fitted_to=int(content.get("fitted_to", 0)),
                notes=tuple(map(str, content["notes"])),
                as_given=bool(content.get("as_given", False)),
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


def _store(model: Any) -> Any:
    """Return an estimator as skops writes it, or refuse what could not be read again."""
    keep = "save(path, answers_only=True) keeps its answers"
    if not isinstance(model, BaseEstimator):
        raise CannotStore(f"{name_of(model)} cannot be written to a file without pickle: {keep}")
    try:
        stored = state_of(model)
        from_skops(stored[SKOPS], name_of(model))
    except (CannotStore, ValueError, KeyError) as error:
        raise CannotStore(f"{name_of(model)} cannot be stored ({error}): {keep}") from None
    return stored

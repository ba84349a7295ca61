"""The choice of rows as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from nimt.arrays import Indices
from nimt.errors import InvalidInput
from nimt.sklearn_types import Estimator
from nimt.teaching_sets.chosen_rows import teaching_set
from nimt.teaching_sets.kept_rows import TeachingSet
from nimt.teaching_sets.reference import Reference
from nimt.teaching_sets.row_checks import take_rows

USUAL = 50


class TeachingSetSelector(Estimator):
    """Choose rows for a student, and the labels to give them, before a model is fitted.

    Parameters
    ----------
    size : int, optional
        How many rows; by default 50, or half of them where there are fewer than 100.
    student, reference, labels, rule :
        As in `nimt.teaching_set`.
    random_state : int, RandomState or None
        Of the reference, the rules and the draws.

    Attributes
    ----------
    indices_ : array (m,)
        The chosen rows, in order.
    labels_ : array (m,)
        The labels to give.
    teaching_set_ : TeachingSet
        Without a curve: `nimt.teaching_set` measures one.
    reference_ : Reference

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (80, 2))
    >>> selector = TeachingSetSelector(size=8, student="linear")
    >>> few, labels = selector.fit_resample(X, X[:, 0] + rng.normal(0, 0.3, 80))
    >>> few.shape, labels.shape
    ((8, 2), (8,))
    """

    def __init__(
        self,
        *,
        size: int | None = None,
        student: Any = "svm",
        reference: Any = "auto",
        labels: str = "reference",
        rule: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.size = size
        self.student = student
        self.reference = reference
        self.labels = labels
        self.rule = rule
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose the rows.

        Parameters
        ----------
        X : array (n, d), or DataFrame
        y : array (n,)
        """
        if y is None:
            raise InvalidInput("requires y to be passed, but the target y is None: a row is chosen by its label too")
        import pandas as pd

        if isinstance(X, pd.DataFrame):
            validate_data(self, X, y, skip_check_array=True)
            rows, targets = X, y
        else:
            rows, targets = validate_data(
                self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2
            )
        count = len(np.asarray(targets))
        seed = check_random_state(self.random_state).randint(2**31)
        self.teaching_set_: TeachingSet = teaching_set(
            rows,
            targets,
            size=max(2, min(USUAL, count // 2)) if self.size is None else self.size,
            student=self.student,
            reference=self.reference,
            labels=self.labels,
            rule=self.rule,
            seed=int(seed),
            measure_curve=False,
        )
        self.indices_: Indices = self.teaching_set_.indices
        self.labels_: NDArray[Any] = self.teaching_set_.labels
        self.reference_: Reference = self.teaching_set_.reference
        return self

    def fit_resample(self, X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Choose the rows, and return them with the labels to give."""
        self.fit(X, y)
        rows = X if hasattr(X, "iloc") else np.asarray(X)
        return take_rows(rows, self.indices_), self.labels_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags

"""Sparse kernel classification by greedy choice of centres."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.estimators.base import GreedyKernelModel
from nimt.sklearn_types import Classifier


class GreedyKernelClassifier(Classifier, GreedyKernelModel):
    r"""Classification by the sign, or the largest, of greedily chosen kernel expansions.

    `GreedyKernelRegressor` on labels -1 and +1: one output for two classes, one per class for more, which share their
    centres. All parameters are those of the regressor; early stopping looks at the RMS error of these outputs and
    keeps the classes in proportion.

    There is no `predict_proba`. The outputs are least-squares scores on rows that also chose the centres: squeezed into
    [0, 1] they would look like probabilities and be overconfident. For probabilities, let held-out rows calibrate the
    scores: `sklearn.calibration.CalibratedClassifierCV(GreedyKernelClassifier())`.

    Attributes
    ----------
    classes_ : array (k,)
    centers_, support_, lesson_, kernel_ :
        As in the regressor.
    coef_, intercept_, regularisation_ :
        As in the regressor: of one output for two classes, of k for more.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 200).reshape(-1, 1)
    >>> model = GreedyKernelClassifier(max_centers=12).fit(x, np.where(np.abs(x) < 1, "inside", "outside").ravel())
    >>> model.predict([[0.2], [2.0]]).tolist()
    ['inside', 'outside']
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the centres and fit their coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,)
            Classes: numbers or text.
        sample_weight : array (n,) or None
            As in the regressor.
        """
        rows, classes = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(classes)
        binarizer = LabelBinarizer(neg_label=-1, pos_label=1)
        labels = binarizer.fit_transform(classes).astype(np.float64)
        self.classes_: NDArray[Any] = binarizer.classes_
        if len(self.classes_) < 2:
            raise InvalidInput(f"y has one class, {self.classes_[0]!r}: a classifier needs at least two classes")
        return self._fit_outputs(rows, labels.ravel() if len(self.classes_) == 2 else labels, sample_weight, classes)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores at the rows of X: (n,), positive for `classes_[1]`, or (n, k) for k > 2 classes."""
        return self._values_at(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest score at each row of X."""
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return np.asarray(self.classes_[chosen])

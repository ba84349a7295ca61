"""Sparse kernel classification by greedy choice of centres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.estimators.greedy_model import MOST_ROWS, GreedyKernelModel
from nimt.estimators.samples import check_weight, read_arrays
from nimt.estimators.selecting import largest_output
from nimt.kernels import KernelLike
from nimt.sklearn_types import Classifier

SLOPES = (-5.0, 5.0)  # logarithms: even where all rows held out are right, some doubt is left


def _has_rows_held_out(model: Any) -> bool:
    if model.cv is None:
        raise InvalidInput(
            "probabilities are fitted to rows held out, and cv=None holds none: give cv=5, or wrap the model in "
            "sklearn.calibration.CalibratedClassifierCV"
        )
    return True


class GreedyKernelClassifier(Classifier, GreedyKernelModel):
    r"""Classification by the sign, or the largest, of greedily chosen kernel expansions.

    `GreedyKernelRegressor` on labels -1 and +1: one output for two classes, one per class for more, which share their
    centres and their regularisation. All parameters but `class_weight` are those of the regressor. Folds keep the
    classes in proportion, and nothing is selected with which more of the rows held out are in the wrong class than with
    the most frequent class for all. Where the outputs do not err less than their means, the most frequent class is
    predicted, with a `nimt.errors.ConstantModelWarning`.

    `predict_proba` is the softmax of the scores times `slope_` (for two classes the logistic function), which is fitted
    to scores of rows that were held out; with cv=None there are none, and no probabilities.

    Parameters
    ----------
    class_weight : "balanced", dict of class to float, or None
        A factor on the weights of the rows; "balanced" lets each class count alike.
    kernel, width, rule, max_centers, max_rows, tol, regularisation, refit, cv, random_state, verbose :
        As in the regressor.

    Attributes
    ----------
    classes_ : array (k,)
    class_prior_ : array (k,)
        How frequent each class is, by weight.
    slope_ : float
        Of the probabilities; not with cv=None.
    centers_, support_, lesson_, kernel_, rule_, is_constant_ :
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

    def __init__(
        self,
        *,
        class_weight: str | Mapping[Any, float] | None = None,
        kernel: str | KernelLike = "rbf",
        width: float | str = "median",
        rule: str | float = "auto",
        max_centers: int = 300,
        max_rows: int | None = MOST_ROWS,
        tol: float = 1e-6,
        regularisation: float | str = "auto",
        refit: bool = True,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            kernel=kernel,
            width=width,
            rule=rule,
            max_centers=max_centers,
            max_rows=max_rows,
            tol=tol,
            regularisation=regularisation,
            refit=refit,
            cv=cv,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

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
        rows, classes = read_arrays(self, X, y)
        check_classification_targets(classes)
        binarizer = LabelBinarizer(neg_label=-1, pos_label=1)
        labels = binarizer.fit_transform(classes).astype(np.float64)
        self.classes_: NDArray[Any] = binarizer.classes_
        if len(self.classes_) < 2:
            raise InvalidInput(f"y has one class, {self.classes_[0]!s}: a classifier needs at least two classes")
        weight = None if sample_weight is None else check_weight(sample_weight, len(rows))
        if self.class_weight is not None:
            factor = compute_sample_weight(self.class_weight, classes)
            weight = factor if weight is None else weight * factor
        places = np.searchsorted(self.classes_, classes)
        held_out = self._fit_outputs(rows, labels.ravel() if len(self.classes_) == 2 else labels, weight, places)
        self.class_prior_: Array = np.average(np.eye(len(self.classes_))[places], axis=0, weights=weight)
        self.is_constant_: bool = bool(np.all(self.is_constant_))
        vars(self).pop("slope_", None)
        if held_out is not None:
            self.slope_: float = fit_slope(pairwise(held_out.values), places[held_out.rows], held_out.weight)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores at the rows of X: (n,), positive for `classes_[1]`, or (n, k) for k > 2 classes."""
        return self._values_at(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the largest score at each row of X."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[largest_output(scores.reshape(len(scores), -1)).astype(int)])

    @available_if(_has_rows_held_out)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class at the rows of X, shape (n, k); the largest is that of `predict`."""
        scores = self.decision_function(X)
        if self.is_constant_:
            return np.tile(self.class_prior_, (len(scores), 1))
        return np.asarray(softmax(self.slope_ * pairwise(scores.reshape(len(scores), -1)), axis=1))


def pairwise(scores: Array) -> Array:
    """Return one score per class, (n, k): of two classes, the negative score is that of the first.

    Examples
    --------
    >>> pairwise(np.array([[0.5]]))
    array([[-0.5,  0.5]])
    """
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def fit_slope(scores: Array, places: NDArray[np.intp], weight: Array) -> float:
    """Return the factor with which softmax(slope * scores) gives the classes the largest likelihood.

    Parameters
    ----------
    scores : array (n, k)
    places : array (n,) of int
        Which class each row is of.
    weight : array (n,)

    Examples
    --------
    >>> scores = np.array([[-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> round(fit_slope(scores, np.array([1, 1, 0, 0]), np.ones(4)), 3)  # three of four: exp(2 slope) = 3
    0.549
    """

    def loss(logarithm: float) -> float:
        shares = log_softmax(np.exp(logarithm) * scores, axis=1)
        return -float(weight @ shares[np.arange(len(scores)), places])

    return float(np.exp(minimize_scalar(loss, bounds=SLOPES, method="bounded", options={"xatol": 1e-6}).x))

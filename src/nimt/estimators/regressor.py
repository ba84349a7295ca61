"""Sparse kernel regression by greedy choice of centres."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from nimt.arrays import Array
from nimt.estimators.base import GreedyKernelModel
from nimt.sklearn_types import MultiOutput, Regressor


class GreedyKernelRegressor(MultiOutput, Regressor, GreedyKernelModel):
    r"""Regression by f = intercept + sum_j c_j K(., x_j) with few centres x_j, chosen greedily among the rows.

    The centres are chosen as by `nimt.InterpolationTeacher` for an `nimt.OrthogonalLearner`, also known as VKOGA
    [Wirtz13]: each step takes the row with the largest score and interpolates its label, O(n m) for the m-th. Then the
    coefficients are fitted to *all* labels, by ridge regression over the span of the centres (`refit`): where labels
    are noisy, an interpolant of a few of them is a poor model, and a fit to all is not.

    Scale the features to comparable sizes first, for instance by `sklearn.preprocessing.StandardScaler`. Of several
    outputs that differ in size, the largest decides which centres are chosen: scale these too.

    Parameters
    ----------
    kernel : "rbf" or scikit-learn kernel
        "rbf" is exp(-|x - x'|^2 / width^2).
    width : "median" or float
        Of kernel "rbf": the median distance of two training rows, or a number.
    rule : {"f", "P", "f*P", "f/P"} or float
        By the residual, by the power function (geometry alone: the labels are not looked at), or both; see
        `nimt.InterpolationTeacher`. "f/P" is unstable where labels are noisy.
    max_centers : int
    tol : float
        Stop once the RMS error of the interpolant on the training rows is at most this share of the labels' deviation.
    regularisation : "auto" or float
        The weight of |f|_H^2 beside the sum of squares. "auto" is by generalised cross-validation for each output, and
        0 with refit=False.
    refit : bool
        Whether to fit the coefficients to all labels. False keeps the interpolant of the labels at the centres; with a
        regularisation, that is kernel ridge regression on the centres alone.
    early_stopping : bool
        Whether to hold rows out, evaluate their error after each growth by a quarter, and keep the smallest
        number of centres that no later evaluation improved on by 1 %.
    validation_fraction : float
        The share of rows to hold out.
    n_iter_no_change : int
        Evaluations without an improvement after which to stop.
    random_state : int, RandomState or None
        Which rows are held out; nothing else is random.

    Attributes
    ----------
    centers_ : array (m, d)
    coef_ : array (m,) or (m, q)
    intercept_ : float or array (q,)
        The mean of y.
    support_ : array (m,) of int
        The rows of X that are centres, in the order in which they were chosen.
    lesson_ : nimt.estimators.GreedyLesson
        What was chosen, and the training error after each choice.
    kernel_ : scikit-learn kernel
    regularisation_ : float or array (q,)
        The regularisation used.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> x = np.linspace(-3, 3, 200).reshape(-1, 1)
    >>> model = GreedyKernelRegressor(max_centers=12).fit(x, np.sin(2 * x).ravel())
    >>> model.centers_.shape, round(model.score(x, np.sin(2 * x).ravel()), 6)
    ((12, 1), 1.0)
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the centres and fit their coefficients.

        Parameters
        ----------
        X : array (n, d)
        y : array (n,) or (n, q)
        sample_weight : array (n,) or None
            A row of weight 2 counts like two rows, one of weight 0 like none. The rules take the largest error wherever
            it is, so other weights change the coefficients, not the choice. Needs refit=True.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        return self._fit_outputs(rows, np.asarray(labels, dtype=np.float64), sample_weight)

    def predict(self, X: ArrayLike) -> Array:
        """Return f at the rows of X, shape (n,) or (n, q)."""
        return self._values_at(X)

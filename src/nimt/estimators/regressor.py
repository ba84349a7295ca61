"""Sparse kernel regression by greedy choice of centres."""

from __future__ import annotations

from typing import Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.estimators.greedy_model import GreedyKernelModel
from nimt.estimators.samples import check_labels, read_arrays
from nimt.sklearn_types import MultiOutput, Regressor


class GreedyKernelRegressor(MultiOutput, Regressor, GreedyKernelModel):
    r"""Regression by f = intercept + sum_j c_j K(., x_j) with few centres x_j, chosen greedily among the rows.

    The centres are chosen as by `nimt.teachers.InterpolationTeacher` for an `nimt.learners.OrthogonalLearner`, also
    known as VKOGA [Wirtz13]: each step takes the row with the largest score and interpolates its label, O(n m) for
    the m-th. Then the coefficients are fitted to *all* labels, by ridge regression over the span of the centres
    (`refit`): where labels are noisy, an interpolant of a few of them is a poor model, and a fit to all is not.

    The rule, the number of centres and the regularisation are those with the least squared error on rows that were held
    out (`cv`), and that chose no centre of the model that is judged on them. Where no model errs less than the mean,
    by more than twice the standard error, the mean is predicted, with a `nimt.errors.ConstantModelWarning`.

    Scale the features to comparable sizes first, for instance by `sklearn.preprocessing.StandardScaler`. Of several
    outputs that differ in size, the largest decides which centres are chosen: scale these too. There is no
    `partial_fit`, since a new row may change every choice: for rows that come one by one, there is
    `nimt.KernelLearner`. Sparse matrices are refused: give `X.toarray()`.

    Parameters
    ----------
    kernel : "rbf" or scikit-learn kernel
        "rbf" is exp(-|x - x'|^2 / width^2).
    width : "median" or float
        Of kernel "rbf": the median distance of two training rows, or a number.
    rule : {"auto", "f", "P", "f*P", "f/P"} or float
        By the residual, by the power function (geometry alone: the labels are not looked at), or both; see
        `nimt.teachers.InterpolationTeacher`. "f/P" is unstable where labels are noisy. "auto" is the best of "f",
        "f*P" and "P".
    max_centers : int
        The largest number of centres; with cv=None, the number.
    max_rows : int or None
        The most rows that are fitted. Of more, so many are drawn by `random_state`, with a
        `nimt.errors.DrawnRowsWarning`: more centres gain more than more rows do. None fits all rows.
    tol : float
        Stop once the RMS error of the interpolant on the training rows is at most this share of the labels' deviation.
    regularisation : "auto" or float
        The weight of |f|_H^2 beside the sum of squares. "auto" is chosen for each output; with cv=None by generalised
        cross-validation. With refit=False it is 0.
    refit : bool
        Whether to fit the coefficients to all labels. False keeps the interpolant of the labels at the centres; with a
        regularisation, that is kernel ridge regression on the centres alone.
    cv : int, splitter of scikit-learn, list of (train, test) or None
        A number of folds, in which equal rows are held out together; above 10,000 rows only the first of them is. None
        holds nothing out: `max_centers` centres are chosen by a `rule` that must be given.
    random_state : int, RandomState or None
        How rows are drawn and dealt to folds; nothing else is random.
    verbose : bool
        Whether to print the memory that a fit takes, before it begins, and what is being done.

    Attributes
    ----------
    centers_ : array (m, d)
    coef_ : array (m,) or (m, q)
    intercept_ : float or array (q,)
        The mean of y.
    is_constant_ : bool or array (q,) of bool
        Whether the mean is predicted, since no model errs less.
    n_rows_ : int
        How many rows were fitted.
    rule_ : str or float
        The rule used.
    support_ : array (m,) of int
        The rows of X that are centres, in the order in which they were chosen.
    lesson_ : nimt.estimators.GreedyLesson
        What was chosen, the training error after each choice, and the error on rows held out by number of centres.
    kernel_ : scikit-learn kernel
    regularisation_ : float or array (q,)
        The regularisation used.
    noise_ : array (q,)
        The deviation of the noise that explains the errors on rows held out; not with cv=None.
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
            it is, so other weights change the coefficients, not the choice of a rule. Needs refit=True.
        """
        labels = None if y is None else check_labels(y)
        rows, labels = read_arrays(self, X, labels, multi_output=True, y_numeric=True)
        held_out = self._fit_outputs(rows, np.asarray(labels, dtype=np.float64), sample_weight)
        vars(self).pop("noise_", None)
        if held_out is not None:
            self.noise_: Array = held_out.noise()
        return self

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Array: ...

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: ArrayLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return f at the rows of X, shape (n,) or (n, q); with `return_std` also the deviation of a new label there.

        The deviation is that of a Gaussian process with covariance noise_^2 / regularisation_ K, projected on the span
        of the centres: the noise, what it does to the coefficients, and what the centres cannot say of x. The noise is
        such that the errors on rows held out are as large, on average, as the deviations there.
        """
        values = self._values_at(X)
        if not return_std:
            return values
        if not hasattr(self, "noise_") or not self.refit or not np.all(np.asarray(self.regularisation_) > 0):
            raise InvalidInput("return_std=True needs rows held out (cv), refit=True and a regularisation > 0")
        return values, (self.noise_ * self._spread_at(X)).reshape(values.shape)

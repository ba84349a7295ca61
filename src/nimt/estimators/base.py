"""What the greedy regressor and the greedy classifier share: their parameters, and the fit of their outputs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import Kernel
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from nimt.arrays import Array, check_count, check_finite, check_positive, is_number, real_array
from nimt.engines.choosing import available_memory, readable
from nimt.errors import InvalidInput, NotEnoughMemory
from nimt.estimators.choosing import GreedyChoice, rms
from nimt.estimators.record import GreedyLesson
from nimt.estimators.refitting import refit
from nimt.estimators.width import median_width
from nimt.kernels import check_kernel, check_kernel_on, rbf
from nimt.lesson.lesson import Outcome
from nimt.pools.base import as_pool
from nimt.teachers.interpolation import InterpolationTeacher

LEAST_GAIN = 0.01  # a larger model must earn its size: early stopping asks for a held-out error lower by this share
BLOCK = 2**22  # numbers of K that `predict` holds at a time


class GreedyKernelModel(BaseEstimator):  # type: ignore[misc]
    """f = intercept + sum_j c_j K(., x_j) over greedily chosen centres x_j; see the regressor and the classifier."""

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        width: float | str = "median",
        rule: str | float = "f",
        max_centers: int = 300,
        tol: float = 1e-6,
        regularisation: float | str = "auto",
        refit: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.width = width
        self.rule = rule
        self.max_centers = max_centers
        self.tol = tol
        self.regularisation = regularisation
        self.refit = refit
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def expand(self, X: Any) -> Array:
        """Return f at the rows of X, shape (n,) or (n, q)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        values = np.empty((len(X), *self.coef_.shape[1:]))
        values[:] = self.intercept_
        if len(self.centers_):
            for rows in gen_batches(len(X), max(1, BLOCK // len(self.centers_))):
                values[rows] += self.kernel_(X[rows], self.centers_) @ self.coef_
        return values

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        named = isinstance(self.kernel, str)
        if named and self.kernel != "rbf":
            raise InvalidInput(f"kernel must be 'rbf' or a scikit-learn kernel such as Matern(), got {self.kernel!r}")
        if isinstance(self.width, str):
            if self.width != "median":
                raise InvalidInput(f"width must be 'median' or a positive number, got {self.width!r}")
        else:
            check_positive("width", self.width)
            if not named:
                raise InvalidInput(f"width={self.width!r} is for kernel='rbf'; {self.kernel!r} has a scale of its own")
        if not named:
            check_kernel(self.kernel)
        check_count("max_centers", self.max_centers, at_least=1)
        _check_not_negative("tol", self.tol)
        if isinstance(self.regularisation, str):
            if self.regularisation != "auto":
                raise InvalidInput(f"regularisation must be 'auto' or a number >= 0, got {self.regularisation!r}")
        else:
            _check_not_negative("regularisation", self.regularisation)
        for name in ("refit", "early_stopping"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InvalidInput(f"{name} must be True or False, got {getattr(self, name)!r}")
        if not is_number(self.validation_fraction) or not 0 < self.validation_fraction < 1:
            raise InvalidInput(f"validation_fraction must be a share in (0, 1), got {self.validation_fraction!r}")
        check_count("n_iter_no_change", self.n_iter_no_change, at_least=1)

    def _fit_outputs(self, X: Array, labels: Array, sample_weight: Any, classes: NDArray[Any] | None = None) -> Self:
        """Fit to labels of shape (n,) or (n, q); `classes` are kept in proportion where rows are held out."""
        self._check_parameters()
        # The products are bound by memory: more threads gain little, and wait for each other where cores are busy.
        # With one, the same rows are chosen on every machine with the same BLAS, however many cores it has.
        with _thread_pools().limit(limits=1, user_api="blas"):
            return self._choose_and_settle(X, labels, sample_weight, classes)

    def _choose_and_settle(self, X: Array, labels: Array, sample_weight: Any, classes: NDArray[Any] | None) -> Self:
        began = time.perf_counter()
        rows, weight = self._weighed_rows(X, sample_weight)
        held_out = None
        if self.early_stopping:
            rows, held_out = self._split(rows, classes)
        train, train_labels = np.ascontiguousarray(X[rows]), labels[rows]
        train_weight = None if weight is None else weight[rows]
        self.kernel_ = self._kernel_on(train, train_weight)
        self.intercept_: Any = np.average(train_labels, axis=0, weights=train_weight)
        choice = self._begin(train, train_labels - self.intercept_, train_weight)

        if held_out is None:
            outcome = choice.grow(self._most(train)) or Outcome.BUDGET
            self._settle(choice, len(choice.indices), train, train_labels, train_weight)
            errors: dict[int, float] = {}
        else:
            weight_out = None if weight is None else weight[held_out]

            def error_of(size: int) -> float:
                self._settle(choice, size, train, train_labels, train_weight)
                return rms(self.expand(X[held_out]) - labels[held_out], weight_out)

            outcome, best, errors = self._grow_until_stalled(choice, self._most(train), error_of)
            error_of(best)  # settles on the best size
        size = len(self.centers_)
        self.support_ = rows[choice.indices[:size]]
        self.lesson_ = GreedyLesson(
            indices=self.support_,
            scores=np.array(choice.scores[:size]),
            discrepancy=np.array(choice.errors[: size + 1]),
            outcome=outcome,
            elapsed=time.perf_counter() - began,
            held_out=errors,
        )
        return self

    def _weighed_rows(self, X: Array, sample_weight: Any) -> tuple[NDArray[np.intp], Array | None]:
        """Return the rows that count, and the weights of all rows or None."""
        rows = np.arange(len(X))
        if sample_weight is None:
            return rows, None
        if not self.refit:
            raise InvalidInput("sample_weight needs refit=True: an interpolant passes through a label or does not")
        weight = real_array("sample_weight", sample_weight)
        if weight.shape != (len(X),):
            raise InvalidInput(f"sample_weight must have one number per row, shape ({len(X)},), got {weight.shape}")
        check_finite("sample_weight", weight)
        if (weight < 0).any():
            raise InvalidInput(f"sample_weight must not be negative, got {weight.min()} at row {weight.argmin()}")
        if not weight.any():
            raise InvalidInput("sample_weight is zero for every row: at least one row must count")
        return rows[weight > 0], weight

    def _split(self, rows: NDArray[np.intp], classes: NDArray[Any] | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        try:
            train, held_out = train_test_split(
                rows,
                test_size=self.validation_fraction,
                random_state=self.random_state,
                stratify=None if classes is None else classes[rows],
            )
        except ValueError as error:
            raise InvalidInput(
                f"{len(rows)} rows cannot be split with validation_fraction={self.validation_fraction!r} ({error}): "
                f"give more rows, another share, or early_stopping=False"
            ) from None
        return np.sort(train), np.sort(held_out)

    def _kernel_on(self, X: Array, weight: Array | None) -> Kernel:
        if isinstance(self.kernel, str):
            return rbf(median_width(X, weight) if isinstance(self.width, str) else float(self.width))
        kernel = clone(self.kernel)
        check_kernel_on(kernel, as_pool(X[:1]))
        return kernel

    def _most(self, X: Array) -> int:
        return min(int(self.max_centers), len(X))

    def _begin(self, X: Array, labels: Array, weight: Array | None) -> GreedyChoice:
        most = self._most(X)
        needed, free = 8 * most * len(X), available_memory()
        if free is not None and needed > free:
            raise NotEnoughMemory(
                f"{most} centres on {len(X)} rows need {readable(needed)}, and {readable(free)} are free: lower "
                f"max_centers, or fit a sample of the rows"
            )
        interpolates = self.refit or isinstance(self.regularisation, str)
        return GreedyChoice(
            self.kernel_,
            X,
            labels,
            weight=weight,
            beta=InterpolationTeacher(self.rule, kernel=self.kernel_).beta,
            ridge=0.0 if interpolates else float(self.regularisation),
            tolerance=float(self.tol) * rms(labels, weight),
            most=most,
        )

    def _settle(self, choice: GreedyChoice, size: int, X: Array, labels: Array, weight: Array | None) -> None:
        """Make the model of the first `size` centres."""
        newton = choice.newton(size)
        self.regularisation_: Any = choice.basis.ridge
        if self.refit:
            self.regularisation_ = None if isinstance(self.regularisation, str) else float(self.regularisation)
            newton, self.regularisation_ = refit(
                choice.basis.columns[:, :size].T, labels - self.intercept_, weight, self.regularisation_
            )
        self.centers_ = X[choice.indices[:size]]
        self.coef_ = choice.in_kernel_basis(newton)

    def _grow_until_stalled(
        self, choice: GreedyChoice, most: int, error_of: Any
    ) -> tuple[Outcome, int, dict[int, float]]:
        """Grow by rounds and look at the held-out error after each; return how it ended and the best size."""
        errors: dict[int, float] = {}
        best, since = 0, 0
        for size in rounds(most):
            outcome = choice.grow(size)
            size = len(choice.indices)
            errors[size] = error_of(size)
            if best not in errors or errors[size] < (1.0 - LEAST_GAIN) * errors[best]:
                best, since = size, 0
            else:
                since += 1
            if outcome is not None:
                return outcome, best, errors
            if since >= self.n_iter_no_change:
                return Outcome.STALLED, best, errors
        return Outcome.BUDGET, best, errors


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def rounds(most: int) -> Iterator[int]:
    """Yield the sizes at which early stopping looks: each a quarter larger than the one before, up to `most`.

    The first steps are of 5: one centre alone may gain nothing where the next ones do.

    Examples
    --------
    >>> list(rounds(100))
    [5, 10, 15, 20, 25, 31, 38, 47, 58, 72, 90, 100]
    """
    size = 5
    while size < most:
        yield size
        size += max(5, size // 4)
    yield most


def _check_not_negative(name: str, value: Any) -> None:
    if not is_number(value) or not 0 <= float(value) < np.inf:
        raise InvalidInput(f"{name} must be a finite number >= 0, got {value!r}")

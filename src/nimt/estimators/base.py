"""What the greedy regressor and the greedy classifier share: their parameters, and the fit of their outputs."""

from __future__ import annotations

import time
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from nimt.arrays import Array, check_count, check_positive, is_number
from nimt.counting import say_count
from nimt.errors import InvalidInput, NotEnoughMemory
from nimt.estimators.choosing import GreedyChoice, rms
from nimt.estimators.record import GreedyLesson
from nimt.estimators.refitting import refit
from nimt.estimators.samples import Samples, check_weight
from nimt.estimators.stopping import grow_until_stalled
from nimt.estimators.width import median_width
from nimt.kernels import Kernel, KernelLike, as_kernel, check_kernel_on, rbf
from nimt.lesson.outcome import Outcome
from nimt.pools.base import as_pool
from nimt.sklearn_types import Estimator
from nimt.task.plan import available_memory, readable
from nimt.teachers.interpolation import InterpolationTeacher

BLOCK = 2**22  # numbers of K that `predict` holds at a time


class GreedyKernelModel(Estimator):
    """f = intercept + sum_j c_j K(., x_j) over greedily chosen centres x_j; see the regressor and the classifier."""

    def __init__(
        self,
        *,
        kernel: str | KernelLike = "rbf",
        width: float | str = "median",
        rule: str | float = "f",
        max_centers: int = 300,
        tol: float = 1e-6,
        regularisation: float | str = "auto",
        refit: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        random_state: int | np.random.RandomState | None = None,
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

    def _values_at(self, X: ArrayLike) -> Array:
        """Return f at the rows of X, shape (n,) or (n, q)."""
        check_is_fitted(self)
        return self._expand(validate_data(self, X, dtype=np.float64, reset=False))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a kernel by names as kernel__width, which replace the kernel by another."""
        inner = {name: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)
        if isinstance(self.kernel, Kernel):
            changed = {name.removeprefix("kernel__"): value for name, value in inner.items()}
            self.kernel = self.kernel.with_params(**changed)
        elif inner:
            super().set_params(**inner)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        named = isinstance(self.kernel, str)
        if named and self.kernel != "rbf":
            raise InvalidInput(
                f"must be 'rbf' or a kernel such as nimt.rbf(0.5), got {self.kernel!r}", parameter="kernel"
            )
        if isinstance(self.width, str):
            if self.width != "median":
                raise InvalidInput(f"must be 'median' or a positive number, got {self.width!r}", parameter="width")
        else:
            check_positive("width", self.width)
            if not named:
                raise InvalidInput(f"width={self.width!r} is for kernel='rbf'; {self.kernel!r} has a scale of its own")
        if not named:
            as_kernel(self.kernel)
        check_count("max_centers", self.max_centers, at_least=1)
        _check_not_negative("tol", self.tol)
        if isinstance(self.regularisation, str):
            if self.regularisation != "auto":
                raise InvalidInput(
                    f"must be 'auto' or a number >= 0, got {self.regularisation!r}", parameter="regularisation"
                )
        else:
            _check_not_negative("regularisation", self.regularisation)
        for name in ("refit", "early_stopping"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InvalidInput(f"must be True or False, got {getattr(self, name)!r}", parameter=name)
        if not is_number(self.validation_fraction) or not 0 < self.validation_fraction < 1:
            raise InvalidInput(
                f"must be a share in (0, 1), got {self.validation_fraction!r}", parameter="validation_fraction"
            )
        check_count("n_iter_no_change", self.n_iter_no_change, at_least=1)

    def _fit_outputs(
        self, X: Array, labels: Array, sample_weight: ArrayLike | None, classes: NDArray[Any] | None = None
    ) -> Self:
        """Fit to labels of shape (n,) or (n, q); `classes` are kept in proportion where rows are held out."""
        began = time.perf_counter()
        self._check_parameters()
        if sample_weight is not None and not self.refit:
            raise InvalidInput("sample_weight needs refit=True: an interpolant cannot weight its labels")
        samples = Samples(X, labels, None if sample_weight is None else check_weight(sample_weight, len(X)))
        rows, held_out = samples.rows_that_count(), None
        if self.early_stopping:
            rows, held_out = self._split(rows, classes)
        # The products are limited by memory: more threads gain little, and wait for each other where cores are busy.
        # With one, the same rows are chosen on every machine with the same BLAS, however many cores it has.
        with _thread_pools().limit(limits=1, user_api="blas"):
            choice, outcome, errors = self._choose(
                samples.take(rows), None if held_out is None else samples.take(held_out)
            )
        size = len(self.centers_)
        self.support_: NDArray[np.intp] = rows[choice.indices[:size]]
        self.lesson_: GreedyLesson = GreedyLesson(
            indices=self.support_,
            scores=np.array(choice.scores[:size]),
            discrepancy=np.array(choice.errors[: size + 1]),
            outcome=outcome,
            elapsed=time.perf_counter() - began,
            held_out=errors,
        )
        return self

    def _choose(self, train: Samples, held_out: Samples | None) -> tuple[GreedyChoice, Outcome, dict[int, float]]:
        """Choose the centres and make the model; return the choice, how it ended, and the held-out errors by size."""
        self.kernel_: Kernel = self._kernel_for(train)
        self.intercept_: float | Array = train.mean()
        centred = Samples(train.points, train.labels - self.intercept_, train.weight)
        most = min(int(self.max_centers), len(train))
        choice = self._begin(centred, most)
        if held_out is None:
            outcome = choice.grow(most) or Outcome.BUDGET
            self._settle(choice, len(choice.indices), centred)
            return choice, outcome, {}

        def error_of(size: int) -> float:
            self._settle(choice, size, centred)
            return rms(self._expand(held_out.points) - held_out.labels, held_out.weight)

        outcome, best, errors = grow_until_stalled(choice, most, error_of, self.n_iter_no_change)
        self._settle(choice, best, centred)
        return choice, outcome, errors

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
                f"{say_count(len(rows), 'row')} cannot be split with validation_fraction={self.validation_fraction!r} "
                f"({error}): give more rows, another share, or early_stopping=False"
            ) from None
        return np.sort(train), np.sort(held_out)

    def _kernel_for(self, samples: Samples) -> Kernel:
        if isinstance(self.kernel, str):
            given = not isinstance(self.width, str)
            return rbf(float(self.width) if given else median_width(samples.points, samples.weight))
        kernel = as_kernel(self.kernel)
        check_kernel_on(kernel, as_pool(samples.points[:1]))
        return kernel

    def _begin(self, samples: Samples, most: int) -> GreedyChoice:
        needed, free = 8 * most * len(samples), available_memory()
        if free is not None and needed > free:
            raise NotEnoughMemory(
                f"{most} centres on {len(samples)} rows need {readable(needed)}, and {readable(free)} are free: lower "
                f"max_centers, or fit a sample of the rows"
            )
        interpolates = self.refit or isinstance(self.regularisation, str)
        return GreedyChoice(
            self.kernel_,
            samples,
            beta=InterpolationTeacher(self.rule, kernel=self.kernel_).beta,
            ridge=0.0 if interpolates else float(self.regularisation),
            tolerance=float(self.tol) * rms(samples.labels, samples.weight),
            most=most,
        )

    def _settle(self, choice: GreedyChoice, size: int, samples: Samples) -> None:
        """Make the model of the first `size` centres."""
        newton, used = choice.newton(size), np.array(choice.basis.ridge)
        if self.refit:
            given = None if isinstance(self.regularisation, str) else float(self.regularisation)
            newton, used = refit(choice.functions(size), samples, given)
        self.regularisation_: float | Array = used if used.ndim else float(used)
        self.centers_: Array = samples.points[choice.indices[:size]]
        self.coef_: Array = choice.in_kernel_basis(newton)

    def _expand(self, points: Array) -> Array:
        values = np.empty((len(points), *self.coef_.shape[1:]))
        values[:] = self.intercept_
        if len(self.centers_):
            for rows in gen_batches(len(points), max(1, BLOCK // len(self.centers_))):
                values[rows] += self.kernel_(points[rows], self.centers_) @ self.coef_
        return values


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def _check_not_negative(name: str, value: object) -> None:
    if not is_number(value) or not 0 <= float(value) < np.inf:
        raise InvalidInput(f"must be a finite number >= 0, got {value!r}", parameter=name)

"""What the greedy regressor and the greedy classifier share: their parameters, and the fit of their outputs."""

from __future__ import annotations

import os
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from nimt.arrays import Array, check_count, check_flag, check_positive, check_squares, is_number
from nimt.counting import readable, say_count
from nimt.errors import ConstantModelWarning, DrawnRowsWarning, InvalidInput, NotEnoughMemory, warn
from nimt.estimators.folds import check_cv, make_folds
from nimt.estimators.greedy_centres import GreedyChoice
from nimt.estimators.path import NestedModels, PathModels, PathSettings, spread_of
from nimt.estimators.record import GreedyLesson
from nimt.estimators.samples import Samples, check_weight, read_arrays
from nimt.estimators.selecting import HeldOut, Selected, select, select_mean
from nimt.estimators.width import median_width
from nimt.kernels import Kernel, KernelLike, as_kernel, rbf
from nimt.kernels.expressions import kernel_expression
from nimt.lesson.outcome import Outcome
from nimt.pools.pool import as_pool
from nimt.sklearn_types import Estimator, PrefixedNames, Transformer
from nimt.store.whole_files import whole_file
from nimt.task.task import available_memory
from nimt.teachers.interpolation import InterpolationTeacher
from nimt.wording import Watcher, be_silent

BLOCK = 2**22  # numbers of K that `predict` holds at a time
MOST_ROWS = 50_000  # that are fitted; of more, so many are drawn
OF_EACH = 5  # rows of each class that are drawn first
AUTO = ("f", "f*P", "P")  # the rules that "auto" compares


class GreedyKernelModel(PrefixedNames, Transformer, Estimator):
    """f = intercept + sum_j c_j K(., x_j) over greedily chosen centres x_j; see the regressor and the classifier."""

    def __init__(
        self,
        *,
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
        self.kernel = kernel
        self.width = width
        self.rule = rule
        self.max_centers = max_centers
        self.max_rows = max_rows
        self.tol = tol
        self.regularisation = regularisation
        self.refit = refit
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def transform(self, X: ArrayLike) -> Array:
        """Return K(x, c) for the rows x of X and the centres c in the order of their choice, shape (n, m)."""
        return np.asarray(self.kernel_(self._check_rows(X), self.centers_))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the model to an npz file that NumPy alone can read; the page on estimators has a reader in ten lines.

        It holds `kernel` as a text, `width` if that is "rbf", `centers`, `coefficients`, `intercept`, and of a
        classifier `classes`. A path that ends in .onnx gets an ONNX graph instead, of kernel "rbf"; it needs the
        package onnx.
        """
        check_is_fitted(self)
        if Path(path).suffix.lower() == ".onnx":
            from nimt.estimators.onnx_file import make_onnx

            content = make_onnx(self)
            with whole_file(Path(path)) as temporary:
                temporary.write_bytes(content)
            return
        text = kernel_expression(self.kernel_, dimension=self.centers_.shape[1])
        arrays: dict[str, Any] = {
            "kernel": np.array(repr(self.kernel_) if text is None else text),
            "centers": self.centers_,
            "coefficients": self.coef_,
            "intercept": np.array(self.intercept_),
        }
        if isinstance(self.kernel, str):
            arrays["width"] = np.array(self.kernel_.get_params()["width"])
        if hasattr(self, "classes_"):
            classes = np.asarray(self.classes_)
            arrays["classes"] = classes.astype(str) if classes.dtype == object else classes
        with whole_file(Path(path)) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

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

    @property
    def partial_fit(self) -> NoReturn:
        """There is none, and `hasattr` says so; whoever asks for it is told why."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit, because a new row may change every choice: fit again with all "
            f"rows, or take nimt.KernelLearner, which is shown rows one by one"
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.centers_)

    def _check_rows(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return np.asarray(read_arrays(self, X, reset=False))

    def _values_at(self, X: ArrayLike) -> Array:
        """Return f at the rows of X, shape (n,) or (n, q)."""
        points = self._check_rows(X)
        values = np.empty((len(points), *self.coef_.shape[1:]))
        values[:] = self.intercept_
        if len(self.centers_):
            for rows in gen_batches(len(points), max(1, BLOCK // len(self.centers_))):
                values[rows] += self.kernel_(points[rows], self.centers_) @ self.coef_
        return values

    def _spread_at(self, X: ArrayLike) -> Array:
        """Return the deviation of a new label at the rows of X in units of the noise, shape (n, q)."""
        points = self._check_rows(X)
        functions = np.empty((len(points), 0))
        if len(self.centers_):
            functions = solve_triangular(self._factor, self.kernel_(self.centers_, points), lower=True).T
        assert self._directions is not None
        penalties = np.atleast_1d(self.regularisation_)
        return spread_of(*self._directions, penalties, functions, self.kernel_.diag(points))

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
        if self.max_rows is not None:
            check_count("max_rows", self.max_rows, at_least=2)
        check_flag("verbose", self.verbose)
        _check_not_negative("tol", self.tol)
        if isinstance(self.regularisation, str):
            if self.regularisation != "auto":
                raise InvalidInput(
                    f"must be 'auto' or a number >= 0, got {self.regularisation!r}", parameter="regularisation"
                )
        else:
            _check_not_negative("regularisation", self.regularisation)
        check_flag("refit", self.refit)
        check_cv(self.cv)
        if self.rule != "auto":
            InterpolationTeacher(self.rule, kernel=rbf(1.0))
        elif self.cv is None:
            raise InvalidInput("rule='auto' needs rows held out: with cv=None give rule='f', 'P' or 'f*P'")

    def _fit_outputs(
        self, X: Array, labels: Array, sample_weight: ArrayLike | None, classes: NDArray[Any] | None = None
    ) -> HeldOut | None:
        """Fit to labels of shape (n,) or (n, q), and return the answers on rows held out, None without any.

        `classes` are what the labels stand for.
        """
        began = time.perf_counter()
        self._check_parameters()
        if sample_weight is not None and not self.refit:
            raise InvalidInput("weights need refit=True: an interpolant cannot weight its labels")
        check_squares("X", X)
        check_squares("y", labels)
        samples = Samples(X, labels, None if sample_weight is None else check_weight(sample_weight, len(X)))
        rows = self._draw_rows(samples, classes)
        if self.cv is not None:  # in an order of their own, so that the order of the rows changes nothing
            rows = rows[np.lexsort(X[rows].T[::-1])]
        train = samples.take(rows)
        most = min(int(self.max_centers), train.count_distinct())
        watch = print if self.verbose else be_silent
        watch(f"{most:,} centres on {len(train):,} rows, about {readable(self._check_memory(len(train), most))}")
        # The products are limited by memory: more threads gain little, and wait for each other where cores are busy.
        # With one, the same rows are chosen on every machine with the same BLAS, however many cores it has.
        with _thread_pools().limit(limits=1, user_api="blas"):
            self.kernel_: Kernel = self._kernel_for(train)
            given = None if isinstance(self.regularisation, str) else float(self.regularisation)
            settings = PathSettings(self.kernel_, float(self.tol), bool(self.refit), given)
            selected = None if self.cv is None else self._select(settings, samples, rows, most, classes, watch)
            size = most if selected is None else selected.size
            self.rule_: str | float = self.rule if selected is None else selected.rule
            watch(f"choosing {say_count(size, 'centre')} by rule {self.rule_}, and fitting their coefficients")
            choice = settings.follow(self.rule_, train, size)
            models = NestedModels(settings, choice, train).solve(size)
        self._keep(choice, models, models.select_by_rows() if selected is None else selected.places, train)
        self.n_rows_: int = len(rows)
        self.support_: NDArray[np.intp] = rows[choice.indices]
        self.lesson_: GreedyLesson = GreedyLesson(
            indices=self.support_,
            scores=np.array(choice.scores),
            discrepancy=np.array(choice.errors),
            outcome=choice.outcome or (Outcome.BUDGET if size == most else Outcome.STALLED),
            elapsed=time.perf_counter() - began,
            held_out={} if selected is None else selected.curve,
        )
        return None if selected is None else selected.held_out

    def _select(
        self,
        settings: PathSettings,
        samples: Samples,
        rows: NDArray[np.intp],
        most: int,
        classes: NDArray[Any] | None,
        watch: Watcher,
    ) -> Selected:
        """Select by the error on held-out rows, and say so where no model errs less than the mean."""
        folds = make_folds(self.cv, samples, rows, classes, self.random_state)
        rules = AUTO if self.rule == "auto" else (self.rule,)
        if not folds:
            return select_mean(rules[0], samples, rows)
        selected = select(settings, rules, samples, folds, most, classes=classes is not None, watch=watch)
        deviation = np.ptp(samples.labels[rows].reshape(len(rows), -1), axis=0)
        useless = selected.is_constant & (deviation > 0)
        if useless.any():
            which = "" if useless.all() else f" of output {', '.join(map(str, np.flatnonzero(useless)))}"
            what = "the mean" if classes is None else "the most frequent class"
            warnings.warn(
                f"no model{which} errs less than {what} on rows that were held out, so {what} is predicted: other "
                f"features, another kernel or more rows may help (cv=None with a rule fits a model anyway)",
                ConstantModelWarning,
                stacklevel=4,
            )
        return selected

    def _keep(self, choice: GreedyChoice, models: PathModels, places: NDArray[np.intp], train: Samples) -> None:
        """Keep the model: its expansion, and what tells how sure it is."""
        outputs = train.labels.shape[1:]
        used = models.penalties[places]
        self.is_constant_: bool | NDArray[np.bool_] = np.isinf(used) if outputs else bool(np.isinf(used[0]))
        self.intercept_: float | Array = train.mean()
        self.regularisation_: float | Array = used if outputs else float(used[0])
        self.centers_: Array = train.points[choice.indices]
        self.coef_: Array = choice.in_kernel_basis(models.take(places)).reshape(len(self.centers_), *outputs)
        self._factor: Array = choice.factor(len(self.centers_))
        self._directions: tuple[Array, Array] | None = models.directions

    def _kernel_for(self, samples: Samples) -> Kernel:
        if isinstance(self.kernel, str):
            given = not isinstance(self.width, str)
            return rbf(float(self.width) if given else median_width(samples.points, samples.weight))
        kernel = as_kernel(self.kernel)
        kernel.check_on(as_pool(samples.points[:1]))
        return kernel

    def _draw_rows(self, samples: Samples, classes: NDArray[Any] | None) -> NDArray[np.intp]:
        """Return the rows that are fitted: those that count, and of too many some, drawn with a warning."""
        rows = samples.rows_that_count()
        if self.max_rows is None or len(rows) <= self.max_rows:
            return rows
        drawn = check_random_state(self.random_state).permutation(rows)
        if classes is not None:  # some of each class first, so that none is lost
            first = np.concatenate([np.flatnonzero(classes[drawn] == one)[:OF_EACH] for one in np.unique(classes)])
            drawn = np.concatenate([drawn[first], np.delete(drawn, first)])
        warn(
            f"{self.max_rows:,} of {len(rows):,} rows are drawn at random and fitted: max_rows sets another number, "
            f"and max_rows=None fits all",
            DrawnRowsWarning,
        )
        return np.sort(drawn[: self.max_rows])

    def _check_memory(self, rows: int, most: int) -> int:
        """Return how many bytes a fit takes, and refuse one that does not fit."""
        bases = 1 if self.cv is None else 1 + (len(AUTO) if self.rule == "auto" else 1)
        needed, free = 8 * most * rows * bases, available_memory()
        if free is not None and needed > free:
            raise NotEnoughMemory(
                f"{most} centres on {rows} rows need {readable(needed)}, and {readable(free)} are free: lower "
                f"max_centers or max_rows"
            )
        return needed


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


def _check_not_negative(name: str, value: object) -> None:
    if not is_number(value) or not 0 <= float(value) < np.inf:
        raise InvalidInput(f"must be a finite number >= 0, got {value!r}", parameter=name)

"""Learners of our own: anything with `predict(X)` and `partial_fit(X, y)` can be taught, these can be opened too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from nimt.checks import is_number
from nimt.errors import InvalidInput
from nimt.kernels import check_kernel, check_kernel_on, diagonal
from nimt.losses import Loss, as_loss, check_labels
from nimt.pools import Pool, as_pool, check_finite, real_array, same_points, values_on

Array = NDArray[np.float64]
LearningRate = float | str | Callable[[int], float]

PREDICT_BLOCK = 2**26  # bytes of kernel values held at once


@runtime_checkable
class Learner(Protocol):
    """What a teacher can teach: scikit-learn's two words, because that *is* the gray box."""

    def predict(self, X: Any) -> Any: ...

    def partial_fit(self, X: Any, y: Any) -> Any: ...


class StartsFromInitial:
    """What learners share that start from a function given as a number, a callable, or values on a pool."""

    initial: Any
    pool_: Pool

    def check_initial(self) -> None:
        """Refuse an initial function that has a value which is no number."""
        if not callable(self.initial):
            check_finite("initial", real_array("initial", self.initial))

    def bind_initial(self, pool: Pool) -> None:
        """Fix the pool that an `initial` given as values belongs to."""
        if self.initial_is_table():
            values_on(pool, self.initial, "initial")
            bound = getattr(self, "pool_", pool)
            if not same_points(bound, pool):
                raise InvalidInput(
                    f"initial was given as values on another pool ({bound!r}), so this learner cannot be taught on "
                    f"{pool!r}: give initial as a callable"
                )
        self.pool_ = pool

    def initial_is_table(self) -> bool:
        """Say whether the initial function is known on one pool only."""
        return not callable(self.initial) and np.ndim(self.initial) > 0

    def initial_on(self, pool: Pool) -> Array:
        """Return the untaught part, the initial function, on a pool."""
        if not self.initial_is_table():
            return values_on(pool, self.initial, "initial")
        bound: Pool | None = getattr(self, "pool_", None)
        if bound is None:
            raise InvalidInput(
                "initial was given as values, and values need a pool: teach() binds them to its own; "
                "give a number or a callable to predict without one"
            )
        table = values_on(bound, self.initial, "initial")
        if pool is bound or same_points(pool, bound):
            return table
        return table[_rows_in(bound, pool)]


class KernelLearner(StartsFromInitial, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Learn by functional gradient descent in the kernel's space [Zhang23, Eq. 3].

    A pack of k examples moves f to f - eta * (1/k) sum_j slope(f(x_j), y_j) K(x_j, .). The function is kept as
    initial + sum_j c_j K(x_j, .), one row of `centers_` and one of `coefficients_` per distinct point shown, so that a
    taught learner can be evaluated anywhere.

    Parameters
    ----------
    kernel : scikit-learn kernel
    loss : str or Loss
        "square", "hinge", "logistic", "huber", "absolute", or an object of your own.
    learning_rate : float, callable of the step, or "auto"
        "auto" is 1 / (L max K(x, x)), L being the loss's smoothness: 0.5 for the square loss and a diagonal of 1.
    initial : number, callable on (n, d), or values on the pool
        Values are bound to the pool by `teach`; such a learner is known on that pool only.

    Attributes
    ----------
    centers_ : array (m, d)
    coefficients_ : array (m,)
    steps_ : int
        How many packs it has learned from.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> learner = KernelLearner(rbf(width=0.5), learning_rate=0.1)
    >>> learner.partial_fit([[0.0]], [1.0]).predict([[0.0]])
    array([0.2])
    """

    def __init__(
        self,
        kernel: Any,
        *,
        loss: str | Loss = "square",
        learning_rate: LearningRate = 0.01,
        initial: Any = 0.0,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.learning_rate = learning_rate
        self.initial = initial
        self.check()

    def check(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        check_kernel(self.kernel)
        check_rate(self.learning_rate, as_loss(self.loss))
        self.check_initial()

    def bind(self, pool: Pool) -> Self:
        """Fix the pool that an `initial` given as values belongs to, and the diagonal that "auto" is computed from."""
        self.check()
        check_kernel_on(self.kernel, pool)
        self.bind_initial(pool)
        if self.learning_rate == "auto":
            self.learning_rate_ = auto_rate(as_loss(self.loss), diagonal(self.kernel, pool))
        return self

    def rate(self, step: int, diagonal: ArrayLike) -> float:
        """Return the learning rate of a step; `diagonal` is K(x, x) wherever "auto" must hold."""
        if isinstance(self.learning_rate, str):
            return float(getattr(self, "learning_rate_", None) or auto_rate(as_loss(self.loss), diagonal))
        return rate_at(self.learning_rate, step)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from one pack: one functional gradient step."""
        self.check()
        points, labels = checked_pack(X, y)
        loss = as_loss(self.loss)
        check_labels(loss, labels)
        rate = self.rate(self.steps_so_far(), self.kernel.diag(points))
        self.absorb(points, -rate / len(points) * loss.slope(self.predict(points), labels), steps=1)
        return self

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,)."""
        pool = as_pool(X, "X")
        if self.steps_so_far() == 0:
            return np.array(self.initial_on(pool))
        return np.asarray(self.initial_on(pool) + self.expansion(pool.points), dtype=np.float64)

    def expansion(self, points: Array) -> Array:
        """Return the taught part, sum_j c_j K(x_j, .), at the given points."""
        total = np.zeros(len(points))
        if self.steps_so_far() == 0 or len(self.centers_) == 0:
            return total
        self._check_dimension(points)
        rows = max(1, PREDICT_BLOCK // (8 * len(self.centers_)))
        for start in range(0, len(points), rows):
            part = slice(start, start + rows)
            total[part] = self.kernel(points[part], self.centers_) @ self.coefficients_
        return total

    def absorb(self, points: Array, coefficients: Array, *, steps: int, distinct: bool = False) -> None:
        """Add coefficients at points; a point already among the centers keeps its one row.

        `distinct` promises that no point comes twice, which saves looking; the arrays are then kept, not copied.
        """
        if self.steps_so_far() == 0:
            self.centers_ = np.empty((0, points.shape[1]))
            self.coefficients_ = np.empty(0)
            self.steps_ = 0
        self.steps_ += steps
        if distinct and len(self.centers_) == 0:
            self.centers_, self.coefficients_ = points, coefficients
            return
        self._check_dimension(points)
        both = np.concatenate([self.centers_, points]) + 0.0  # -0.0 and 0.0 are one point
        _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")  # centers stay in the order in which they were first shown
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        merged = np.zeros(len(order))
        np.add.at(merged, rank[np.ravel(place)], np.concatenate([self.coefficients_, coefficients]))
        self.centers_ = both[first[order]]
        self.coefficients_ = merged

    def _check_dimension(self, points: Array) -> None:
        if points.shape[1] != self.centers_.shape[1]:
            raise InvalidInput(
                f"this learner was taught in {self.centers_.shape[1]} dimensions and is now shown points "
                f"of {points.shape[1]}"
            )

    def inner(self, other: KernelLearner) -> float:
        """Return the exact inner product in H of the taught parts of two learners over the same kernel."""
        if self.kernel != other.kernel:
            raise InvalidInput(f"the learners live in different spaces: {self.kernel!r} and {other.kernel!r}")
        if self.steps_so_far() == 0 or other.steps_so_far() == 0:
            return 0.0
        return float(self.coefficients_ @ other.expansion(self.centers_))

    def rkhs_norm(self) -> float:
        """Return the norm in H of the taught part, sqrt(c' K c)."""
        return float(np.sqrt(max(0.0, self.inner(self))))

    def steps_so_far(self) -> int:
        return int(getattr(self, "steps_", 0))

    def __sklearn_is_fitted__(self) -> bool:
        return True  # an untaught learner predicts its initial function


class LinearLearner(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Learn f(x) = <w, x> (+ b) by gradient descent on its parameters: the paper's parametric learner.

    Parameters
    ----------
    weights : array (d,), or (d + 1,) with the intercept last
    loss : str or Loss
    learning_rate : float, callable of the step, or "auto"
        "auto" is 1 / (L max |(x, 1)|^2).
    intercept : bool
        Whether the last weight multiplies a constant feature 1.

    Attributes
    ----------
    weights_ : array
        The weights now; `weights` stays what it was made with.
    steps_ : int

    Examples
    --------
    >>> LinearLearner([-0.5, 0.5]).predict([[1.0]])
    array([0.])
    """

    def __init__(
        self,
        weights: ArrayLike,
        *,
        loss: str | Loss = "square",
        learning_rate: LearningRate = 0.01,
        intercept: bool = True,
    ) -> None:
        self.weights = weights
        self.loss = loss
        self.learning_rate = learning_rate
        self.intercept = intercept
        self.check()

    def check(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        weights = real_array("weights", self.weights)
        if weights.ndim != 1 or weights.size == 0:
            raise InvalidInput(f"weights must be a list of numbers, one per feature, got shape {weights.shape}")
        check_finite("weights", weights)
        check_rate(self.learning_rate, as_loss(self.loss))

    def bind(self, pool: Pool) -> Self:
        """Check the number of features, and fix what "auto" is computed from."""
        self.check()
        features = self.features(pool.points)
        if self.learning_rate == "auto":
            self.learning_rate_ = auto_rate(as_loss(self.loss), np.sum(features**2, axis=1))
        return self

    def rate(self, step: int, diagonal: ArrayLike) -> float:
        """Return the learning rate of a step; `diagonal` is |(x, 1)|^2 wherever "auto" must hold."""
        if isinstance(self.learning_rate, str):
            return float(getattr(self, "learning_rate_", None) or auto_rate(as_loss(self.loss), diagonal))
        return rate_at(self.learning_rate, step)

    def features(self, points: Array) -> Array:
        """Return what the weights multiply: the points, with a column of ones where there is an intercept."""
        columns = np.column_stack([points, np.ones(len(points))]) if self.intercept else points
        expected = len(self.current_weights())
        if columns.shape[1] != expected:
            raise InvalidInput(
                f"{expected} weights ({'with' if self.intercept else 'without'} intercept) do not fit points of "
                f"dimension {points.shape[1]}: give {columns.shape[1]} weights"
            )
        return columns

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from one pack: one gradient step, averaged over the pack."""
        points, labels = checked_pack(X, y)
        loss = as_loss(self.loss)
        check_labels(loss, labels)
        features = self.features(points)
        rate = self.rate(self.steps_so_far(), np.sum(features**2, axis=1))
        slopes = loss.slope(features @ self.current_weights(), labels)
        self.weights_ = self.current_weights() - rate * (slopes @ features) / len(points)
        self.steps_ = self.steps_so_far() + 1
        return self

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,)."""
        return np.asarray(self.features(as_pool(X, "X").points) @ self.current_weights())

    def current_weights(self) -> Array:
        return np.asarray(getattr(self, "weights_", self.weights), dtype=np.float64)

    def steps_so_far(self) -> int:
        return int(getattr(self, "steps_", 0))

    def __sklearn_is_fitted__(self) -> bool:
        return True


def check_rate(rate: LearningRate, loss: Loss) -> None:
    """Refuse a learning rate that is no positive number, no callable and not "auto"."""
    if callable(rate):
        return
    if isinstance(rate, str):
        if rate != "auto":
            raise InvalidInput(f"learning_rate must be a number, a callable of the step or 'auto', got {rate!r}")
        if not np.isfinite(loss.smoothness):
            raise InvalidInput(
                f"learning_rate='auto' needs a loss whose slope has a Lipschitz constant, and {loss!r} has none: "
                f"give a number"
            )
        return
    if not is_number(rate) or not 0 < rate < np.inf:
        raise InvalidInput(f"learning_rate must be a positive number, a callable of the step or 'auto', got {rate!r}")


def rate_at(rate: float | Callable[[int], float], step: int) -> float:
    """Return the learning rate at a step, and refuse what a schedule must not return."""
    value = rate(step) if callable(rate) else rate
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(f"learning_rate returned {value!r} at step {step}: it must be a positive number")
    return float(value)


def auto_rate(loss: Loss, diagonal: ArrayLike) -> float:
    """Return 1 / (L max K(x, x)), the largest rate at which no step overshoots."""
    largest = float(np.max(np.asarray(diagonal)))
    if largest <= 0:
        raise InvalidInput("learning_rate='auto' needs K(x, x) > 0 somewhere on the pool; give a number")
    return 1.0 / (float(loss.smoothness) * largest)


def checked_pack(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return points (k, d) and labels (k,), or say what is wrong with them."""
    points = as_pool(X, "X").points
    labels = real_array("y", y).reshape(-1)
    if len(labels) != len(points):
        raise InvalidInput(f"{len(points)} examples came with {len(labels)} labels")
    check_finite("y", labels)
    return points, labels


def _rows_in(bound: Pool, asked: Pool) -> NDArray[np.intp]:
    """Return where each asked point stands in the bound pool, or say that the function is not known there."""
    if asked.dimension == bound.dimension:
        both = np.concatenate([bound.points, asked.points]) + 0.0
        _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
        rows = first[np.ravel(place)[len(bound) :]]
        unknown = np.flatnonzero(rows >= len(bound))
    else:
        rows, unknown = np.empty(0, np.intp), np.zeros(1, np.intp)
    if unknown.size:
        raise InvalidInput(
            f"initial was given as values on a pool of {len(bound)} points, so this learner is unknown at "
            f"{asked.points[unknown[0]].tolist()}: give initial as a callable to predict anywhere"
        )
    return np.asarray(rows, dtype=np.intp)

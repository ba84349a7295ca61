"""The paper's parametric learner: gradient descent on weights."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import Array, Indices, check_finite, check_stored_array, check_stored_count, real_array
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.kernels.dot_product import Linear
from nimt.learners.expansion import Expansion
from nimt.learners.learner import (
    Described,
    LearningRate,
    State,
    auto_rate,
    check_pack,
    check_rate,
    rate_at,
    weigh_slopes,
)
from nimt.losses import Loss, as_loss, check_labels
from nimt.pools.pool import Pool, as_pool


class LinearLearner(Described):
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
        The current weights; `weights` keeps the initial ones.
    steps_ : int

    Examples
    --------
    >>> LinearLearner([-0.5, 0.5]).predict([[1.0]])
    array([0.])
    """

    steps_: int = 0
    learned: ClassVar[tuple[str, ...]] = ("weights_", "steps_", "learning_rate_")

    def __init__(
        self,
        weights: ArrayLike,
        *,
        loss: str | Loss = defaults.LOSS,
        learning_rate: LearningRate = defaults.LEARNING_RATE,
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
            raise InvalidInput(
                f"must be a list of numbers, one per feature, got shape {weights.shape}", parameter="weights"
            )
        check_finite("weights", weights)
        as_loss(self.loss)
        check_rate(self.learning_rate)

    def bind(self, pool: Pool) -> Self:
        """Check the number of features, and fix what "auto" is computed from."""
        self.check()
        features = self.features(pool.points)
        if self.learning_rate == "auto":
            self.learning_rate_: float = auto_rate(as_loss(self.loss), np.sum(features**2, axis=1))
        return self

    def make_pupil(self, pool: Pool, outputs: tuple[int, ...] = ()) -> LinearPupil:
        """Return this learner at work on a pool; the learner itself is not changed."""
        if outputs:
            raise InvalidInput(f"a LinearLearner has one output, and the target {outputs[0]}: use a KernelLearner")
        return LinearPupil(self, pool)

    def rate(self, step: int, diagonal: ArrayLike) -> float:
        """Return the learning rate of a step; `diagonal` is |(x, 1)|^2 wherever "auto" must hold."""
        if isinstance(self.learning_rate, str):
            return float(getattr(self, "learning_rate_", None) or auto_rate(as_loss(self.loss), diagonal))
        return rate_at(self.learning_rate, step)

    @property
    def feature_kernel(self) -> Kernel:
        """K(x, x') = <x, x'> (+ 1): in its space this learner is a `KernelLearner`."""
        return Linear(1.0 if self.intercept else 0.0)

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

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one pack: one gradient step, averaged over the pack, each example times its weight."""
        points, labels = check_pack(X, y)
        loss = as_loss(self.loss)
        check_labels(loss, labels)
        features = self.features(points)
        rate = self.rate(self.steps_, np.sum(features**2, axis=1))
        slopes = weigh_slopes(loss.slope(features @ self.current_weights(), labels), sample_weight)
        self.weights_: Array = self.current_weights() - rate * (slopes @ features) / len(points)
        self.steps_ += 1
        return self

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,)."""
        return np.asarray(self.features(as_pool(X, "X").points) @ self.current_weights())

    def expand(self, kernel: Kernel) -> tuple[float, Expansion] | None:
        """Return 0 and itself as an expansion of a linear kernel <x, y> + c; None where its space does not hold it.

        <w, x> + b = sum_i w_i K(e_i, x) + (b / c - sum_i w_i) K(0, x); for c = 0 there is no intercept.
        """
        if not isinstance(kernel, Linear):
            return None
        weights = self.current_weights()
        slope, constant = (weights[:-1], float(weights[-1])) if self.intercept else (weights, 0.0)
        if not len(slope) or (kernel.c == 0 and constant != 0):
            return None
        at_zero = constant / kernel.c - float(slope.sum()) if kernel.c > 0 else 0.0
        centers = np.vstack([np.eye(len(slope)), np.zeros((1, len(slope)))])
        return 0.0, Expansion(kernel, centers, np.append(slope, at_zero))

    def current_weights(self) -> Array:
        return np.asarray(getattr(self, "weights_", self.weights), dtype=np.float64)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class LinearPupil:
    """A `LinearLearner`: its values are one product with its weights."""

    def __init__(self, learner: LinearLearner, pool: Pool) -> None:
        self.learner: LinearLearner = copy.deepcopy(learner).bind(pool)
        self.pool = pool
        self.loss: Loss = as_loss(learner.loss)
        self.diagonal: Array = np.sum(self.learner.features(pool.points) ** 2, axis=1)
        self.values: Array = self.learner.predict(pool)

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        return self.learner.rate(self.learner.steps_, self.diagonal)

    def distance_of_weights(self, target_function: object) -> Callable[[], float] | None:
        """Return a function that measures |w - w*|, None where the target is not a `LinearLearner`."""
        if not isinstance(target_function, LinearLearner):
            return None
        goal = target_function.current_weights()
        if goal.shape != self.learner.current_weights().shape:
            raise InvalidInput(f"the target has {goal.size} weights, the learner {self.learner.current_weights().size}")
        return lambda: float(np.linalg.norm(self.learner.current_weights() - goal))

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learner.partial_fit(self.pool.points[indices], labels)
        self.values = self.learner.predict(self.pool)

    @property
    def takes_weights(self) -> bool:
        return True

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        """Show one pack, the step at each example multiplied by its weight."""
        self.learner.partial_fit(self.pool.points[indices], labels, weights)
        self.values = self.learner.predict(self.pool)

    @property
    def steps(self) -> int:
        """How many packs it has learned from, also before."""
        return self.learner.steps_

    @steps.setter
    def steps(self, steps: int) -> None:
        self.learner.steps_ = steps

    def take_weights(self, weights: Array, values: Array) -> None:
        """Take weights from an engine, and the values that follow from them."""
        self.learner.weights_ = weights.copy()
        self.values = values.copy()

    def to_learner(self) -> LinearLearner:
        return copy.deepcopy(self.learner)

    def state(self) -> State:
        return {"weights": self.learner.current_weights(), "steps": self.learner.steps_}

    def restore(self, state: State) -> None:
        self.learner.weights_ = check_stored_array(state, "weights", self.learner.current_weights().shape)
        self.learner.steps_ = check_stored_count(state, "steps")
        self.values = self.learner.predict(self.pool)

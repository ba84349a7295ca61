"""A learner at work on one pool: its values there, kept up to date by the cheapest exact way there is."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from nimt.errors import CannotStore, InvalidInput
from nimt.learners import KernelLearner, LinearLearner
from nimt.losses import Loss, as_loss
from nimt.operators import DenseOperator, Operator
from nimt.pools import Grid, Pool

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Pupil(Protocol):
    """What the loop needs of a learner. `loss` and `diagonal` are None for a learner that cannot be opened."""

    values: Array

    @property
    def loss(self) -> Loss | None: ...

    @property
    def diagonal(self) -> Array | None: ...

    def learn(self, indices: Indices, labels: Array) -> None:
        """Show one pack; `values` are those of the learner after it."""
        ...

    def taught(self) -> Any:
        """Return the learner as it is now, a copy of its own."""
        ...

    def state(self) -> dict[str, Array]:
        """Return the arrays from which `restore` goes on bit by bit."""
        ...

    def restore(self, state: dict[str, Array]) -> None: ...


class KernelPupil:
    """A `KernelLearner`: one step adds a few kernel columns to the values, nothing is evaluated again."""

    def __init__(self, learner: KernelLearner, pool: Pool, operator: Operator | None = None) -> None:
        self.learner = copy.deepcopy(learner).bind(pool)
        self.pool = pool
        self.operator = operator or DenseOperator(learner.kernel, pool)
        self.loss: Loss = as_loss(learner.loss)
        self.diagonal: Array = self.operator.diagonal()
        self.values: Array = np.array(self.learner.predict(pool))
        self.coefficients: Array = np.zeros(len(pool))
        self.shown: NDArray[np.bool_] = np.zeros(len(pool), dtype=bool)
        self.steps = 0

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        return self.learner.rate(self.learner.steps_so_far() + self.steps, self.diagonal)

    def learn(self, indices: Indices, labels: Array) -> None:
        step = -self.rate() / len(indices) * self.loss.slope(self.values[indices], labels)
        np.add.at(self.coefficients, indices, step)  # a pack may show the same point twice
        self.operator.add(self.values, indices, step)
        self.shown[indices] = True
        self.steps += 1

    def taught(self) -> KernelLearner:
        learner = copy.deepcopy(self.learner)
        rows = np.flatnonzero(self.shown)
        if self.steps:
            points = self.pool.take(rows)
            distinct = isinstance(self.pool, Grid)
            learner.absorb(points, self.coefficients[rows], steps=self.steps, distinct=distinct)
        return learner

    def state(self) -> dict[str, Array]:
        return {
            "values": self.values,
            "coefficients": self.coefficients,
            "shown": self.shown.astype(np.float64),
            "steps": np.array(float(self.steps)),
        }

    def restore(self, state: dict[str, Array]) -> None:
        self.values = np.array(state["values"])
        self.coefficients = np.array(state["coefficients"])
        self.shown = state["shown"] > 0
        self.steps = int(state["steps"])


class LinearPupil:
    """A `LinearLearner`: its values are one product with its weights."""

    def __init__(self, learner: LinearLearner, pool: Pool) -> None:
        self.learner = copy.deepcopy(learner).bind(pool)
        self.pool = pool
        self.loss: Loss = as_loss(learner.loss)
        self.diagonal: Array = np.sum(self.learner.features(pool.points) ** 2, axis=1)
        self.values: Array = self.learner.predict(pool)

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        return self.learner.rate(self.learner.steps_so_far(), self.diagonal)

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learner.partial_fit(self.pool.points[indices], labels)
        self.values = self.learner.predict(self.pool)

    def taught(self) -> LinearLearner:
        return copy.deepcopy(self.learner)

    def state(self) -> dict[str, Array]:
        return {"weights": self.learner.current_weights(), "steps": np.array(float(self.learner.steps_so_far()))}

    def restore(self, state: dict[str, Array]) -> None:
        self.learner.weights_ = np.array(state["weights"])
        self.learner.steps_ = int(state["steps"])
        self.values = self.learner.predict(self.pool)


class AnyPupil:
    """Any object with `predict` and `partial_fit`; one that is not fitted yet counts as predicting 0."""

    loss: Loss | None = None
    diagonal: Array | None = None

    def __init__(self, learner: Any, pool: Pool, labels: Array) -> None:
        self.learner = copy.deepcopy(learner)
        self.pool = pool
        self.first: dict[str, Any] = {"classes": np.unique(labels)} if is_classifier_like(learner) else {}
        self.values: Array = self._predict()

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learner.partial_fit(self.pool.points[indices], labels, **self.first)
        self.first = {}
        self.values = self._predict()

    def taught(self) -> Any:
        return copy.deepcopy(self.learner)

    def state(self) -> dict[str, Array]:
        raise CannotStore(
            f"{type(self.learner).__name__} is not a learner of nimt, so it cannot be written to a checkpoint "
            f"without pickle: leave checkpoint= out"
        )

    def restore(self, state: dict[str, Array]) -> None:
        self.state()

    def _predict(self) -> Array:
        n = len(self.pool)
        try:
            values = np.asarray(self.learner.predict(self.pool.points), dtype=np.float64)
        except NotFittedError:
            return np.zeros(n)
        if values.shape not in ((n,), (n, 1)):
            raise InvalidInput(
                f"{type(self.learner).__name__}.predict returned shape {values.shape} for {n} points: "
                f"it must return ({n},) or ({n}, 1)"
            )
        return values.reshape(n)


def is_classifier_like(learner: Any) -> bool:
    """Say whether scikit-learn calls it a classifier, whose first `partial_fit` must be told the classes."""
    return bool(hasattr(learner, "__sklearn_tags__") and is_classifier(learner))


def learns_like(learner: Any, kind: type) -> bool:
    """Say whether it is one of ours that predicts and learns as ours do; a subclass may do either in its own way."""
    return isinstance(learner, kind) and all(
        getattr(type(learner), name) is getattr(kind, name) for name in ("predict", "partial_fit")
    )


def pupil_of(learner: Any, pool: Pool, labels: Array, operator: Operator | None = None) -> Pupil:
    """Seat a learner at a pool; the caller's own is left as it was.

    `labels` are all it may be shown, `operator` is how its kernel acts, densely by default.
    """
    if learns_like(learner, KernelLearner):
        return KernelPupil(learner, pool, operator)
    if learns_like(learner, LinearLearner):
        return LinearPupil(learner, pool)
    missing = [name for name in ("predict", "partial_fit") if not callable(getattr(learner, name, None))]
    if missing or isinstance(learner, type):
        raise InvalidInput(
            f"a learner needs predict(X) and partial_fit(X, y), as methods of an object; got {learner!r}"
        )
    return AnyPupil(learner, pool, labels)

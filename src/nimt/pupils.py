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
from nimt.newton import NewtonBasis
from nimt.operators import DenseOperator, Operator
from nimt.orthogonal import OrthogonalLearner
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


class OrthogonalPupil:
    """An `OrthogonalLearner`: one example adds one column to the Newton basis on the pool, O(n m)."""

    loss: Loss | None = None
    diagonal: Array | None = None

    def __init__(self, learner: OrthogonalLearner, pool: Pool) -> None:
        self.learner = copy.deepcopy(learner).bind(pool)
        self.pool = pool
        self.learner.begin(pool.dimension)
        self.basis = NewtonBasis(learner.kernel, pool.points, learner.regularisation, learner.power_tolerance)
        self.basis.restart(self.learner.basis_at(pool.points))
        self.values: Array = np.array(self.learner.predict(pool))
        self.centers: list[int] = []
        self.rows: list[Array] = []
        self.coefficients: list[float] = []
        self.refused = 0
        self.steps = 0

    @property
    def is_full(self) -> bool:
        """Whether no point of the pool can teach it anything more."""
        return self.basis.is_full

    def learn(self, indices: Indices, labels: Array) -> None:
        for index, label in zip(indices.tolist(), labels.tolist(), strict=True):
            row = self.basis.add(index)
            if row is None:
                self.refused += 1
                continue
            coefficient = (label - self.values[index]) / row[-1]
            self.values += coefficient * self.basis.columns[:, -1]
            self.centers.append(index)
            self.rows.append(row)
            self.coefficients.append(coefficient)
        self.steps += 1

    def taught(self) -> OrthogonalLearner:
        learner = copy.deepcopy(self.learner)
        learner.steps_ += self.steps
        learner.refused_ += self.refused
        if self.centers:
            width = self.basis.size
            rows = np.stack([np.pad(row, (0, width - len(row))) for row in self.rows])
            learner.absorb(self.pool.points[self.centers], rows, self.coefficients)
        return learner

    def state(self) -> dict[str, Array]:
        return {
            "values": self.values,
            "columns": self.basis.columns,
            "power_squared": self.basis.power_squared,
            "centers": np.array(self.centers, dtype=np.float64),
            "pivots": np.array([row[-1] for row in self.rows]),
            "coefficients": np.array(self.coefficients),
            "counts": np.array([self.refused, self.steps], dtype=np.float64),
        }

    def restore(self, state: dict[str, Array]) -> None:
        self.values = np.array(state["values"])
        self.basis.restart(state["columns"])
        self.basis.power_squared = np.array(state["power_squared"])
        self.centers = state["centers"].astype(int).tolist()
        before = self.basis.size - len(self.centers)
        self.rows = [
            np.append(self.basis.columns[center, : before + place], pivot)
            for place, (center, pivot) in enumerate(zip(self.centers, state["pivots"], strict=True))
        ]
        self.coefficients = state["coefficients"].tolist()
        self.refused, self.steps = (int(count) for count in state["counts"])


class AnyPupil:
    """Any object with `predict` and `partial_fit`; one that is not fitted yet counts as predicting 0."""

    loss: Loss | None = None
    diagonal: Array | None = None

    def __init__(self, learner: Any, pool: Pool, labels: Array) -> None:
        self.learner = copy.deepcopy(learner)
        self.pool = pool
        self.first: dict[str, Any] = {"classes": np.unique(labels)} if is_classifier_like(learner) else {}
        self.values: Array = self.predict_on(pool)

    def learn(self, indices: Indices, labels: Array) -> None:
        self.show(self.pool.points[indices], labels)

    def show(self, points: Array, labels: Array) -> None:
        """Show a pack of points anywhere."""
        self.learner.partial_fit(points, labels, **self.first)
        self.first = {}
        self.values = self.predict_on(self.pool)

    def taught(self) -> Any:
        return copy.deepcopy(self.learner)

    def state(self) -> dict[str, Array]:
        raise CannotStore(
            f"{type(self.learner).__name__} is not a learner of nimt, so it cannot be written to a checkpoint "
            f"without pickle: leave checkpoint= out"
        )

    def restore(self, state: dict[str, Array]) -> None:
        self.state()

    def predict_on(self, pool: Pool) -> Array:
        """Return its values on any pool."""
        n = len(pool)
        try:
            values = np.asarray(self.learner.predict(pool.points), dtype=np.float64)
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
    if learns_like(learner, OrthogonalLearner):
        return OrthogonalPupil(learner, pool)
    check_learner_protocol(learner)
    return AnyPupil(learner, pool, labels)


def check_learner_protocol(learner: Any) -> None:
    """Refuse what cannot be taught."""
    missing = [name for name in ("predict", "partial_fit") if not callable(getattr(learner, name, None))]
    if missing or isinstance(learner, type):
        raise InvalidInput(
            f"a learner needs predict(X) and partial_fit(X, y), as methods of an object; got {learner!r}"
        )

"""Any other learner: known by `predict` and `partial_fit` alone."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError

from nimt.arrays import Array, Indices
from nimt.errors import CannotStore, InvalidInput
from nimt.learners.base import BoxPupil, Pupil, StartsFromInitial, check_learner_protocol, learns_like
from nimt.learners.kernel import KernelBoxPupil, KernelLearner, KernelPupil
from nimt.learners.linear import LinearLearner, LinearPupil
from nimt.learners.orthogonal import OrthogonalLearner, OrthogonalPupil
from nimt.losses import Loss
from nimt.operators import Operator
from nimt.pools.base import Points, Pool
from nimt.pools.box import Box


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


class AnyBoxPupil(AnyPupil):
    """Any other learner, asked and shown through `predict` and `partial_fit` alone."""

    def at(self, points: Array) -> Array:
        return self.predict_on(Points(points))

    def learn_at(self, points: Array, labels: Array) -> None:
        self.show(points, labels)


def box_pupil_of(learner: Any, box: Box, labels: Array) -> BoxPupil:
    """Seat a learner in a box; the caller's own is left as it was."""
    if isinstance(learner, StartsFromInitial) and learner.initial_is_table():
        raise InvalidInput("initial was given as values, and in a Box it must be known anywhere: give a callable")
    if learns_like(learner, KernelLearner):
        return KernelBoxPupil(learner, box)
    check_learner_protocol(learner)
    return AnyBoxPupil(learner, box.grid, labels)

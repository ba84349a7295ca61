"""A learner at work in a box: its values on the grid, and its word and its lessons anywhere between."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nimt.box import Box
from nimt.errors import CannotStore, InvalidInput
from nimt.learners import KernelLearner, StartsFromInitial
from nimt.losses import Loss, as_loss
from nimt.pools import Points
from nimt.pupils import AnyPupil, Pupil, check_learner_protocol, learns_like

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class BoxPupil(Pupil, Protocol):
    """A pupil that can be asked and shown anything in the box; `values` are those on its grid."""

    def at(self, points: Array) -> Array:
        """Return the learner's values at any points."""
        ...

    def learn_at(self, points: Array, labels: Array) -> None:
        """Show one pack."""
        ...


class KernelBoxPupil:
    """A `KernelLearner`: a step adds its kernel columns to the values on the grid, and centres to the expansion."""

    diagonal: Array | None = None

    def __init__(self, learner: KernelLearner, box: Box) -> None:
        self.learner = copy.deepcopy(learner).bind(box.grid)
        self.points = box.grid.points
        self.on_grid = self.learner.kernel.diag(self.points)
        self.loss: Loss = as_loss(learner.loss)
        self.values: Array = np.array(self.learner.predict(box.grid))
        self.centers: Array = np.empty((8, box.dimension))
        self.coefficients: Array = np.empty(8)
        self.size = 0
        self.steps = 0

    def at(self, points: Array) -> Array:
        taught = self.learner.kernel(points, self.centers[: self.size]) @ self.coefficients[: self.size]
        return np.asarray(self.learner.predict(Points(points)) + taught)

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learn_at(self.points[indices], labels)

    def learn_at(self, points: Array, labels: Array) -> None:
        rate = self.learner.rate(self.learner.steps_so_far() + self.steps, self.on_grid)
        step = -rate / len(points) * self.loss.slope(self.at(points), labels)
        self.values += self.learner.kernel(self.points, points) @ step
        if self.size + len(points) > len(self.coefficients):
            self.centers = np.concatenate([self.centers, np.empty_like(self.centers), points])
            self.coefficients = np.concatenate([self.coefficients, np.empty_like(self.coefficients), step])
        self.centers[self.size : self.size + len(points)] = points
        self.coefficients[self.size : self.size + len(points)] = step
        self.size += len(points)
        self.steps += 1

    def taught(self) -> KernelLearner:
        learner = copy.deepcopy(self.learner)
        if self.steps:
            learner.absorb(self.centers[: self.size], self.coefficients[: self.size], steps=self.steps)
        return learner

    def state(self) -> dict[str, Array]:
        raise CannotStore("a lesson in a Box needs its functions, which no checkpoint can hold: leave checkpoint= out")

    def restore(self, state: dict[str, Array]) -> None:
        self.state()


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

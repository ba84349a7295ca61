"""A `KernelLearner` with momentum, decay, forgetting, a budget or averaging, at work on a pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array, Flags, Indices, check_stored_array
from nimt.errors import InvalidInput
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.learner import State, weigh_slopes
from nimt.learners.norms import gram_solver, inner, root
from nimt.learners.update_parts import FUNCTION, VELOCITY, Update
from nimt.pools.pool import Pool

if TYPE_CHECKING:
    from nimt.learners.kernel_learner import KernelLearner


class UpdatingPupil(KernelPupil):
    """Keep f, the velocity and the mean on the pool: values, coefficients, and which multiples of the start they hold.

    Attributes
    ----------
    on_pool, of_points : arrays (rows, n), or (rows, n, q)
        Values and coefficients of the functions that a step moves (`update_parts`).
    of_start : array (rows, rows)
        Row i holds the multiples of what f, the velocity and the mean were at the start, that function i is made of
        beside the coefficients.
    """

    def __init__(self, learner: KernelLearner, pool: Pool, outputs: tuple[int, ...] = ()) -> None:
        self.update: Update = learner.update
        shape = (self.update.rows, len(pool), *outputs)
        self.on_pool: Array = np.zeros(shape)
        self.of_points: Array = np.zeros(shape)
        self.of_start: Array = np.eye(self.update.rows)
        super().__init__(learner, pool, outputs)
        if self.update.budget is not None and learner.has_centers():
            raise InvalidInput(
                f"this learner has {len(learner.centers_)} centres already, and on a pool a budget counts new ones: "
                f"give a new learner, or go on with partial_fit"
            )
        self.on_pool[:] = self.learner.moving_on(pool, outputs)

    @property
    def values(self) -> Array:
        return np.asarray(self.on_pool[self.update.answer])

    @values.setter
    def values(self, values: Array) -> None:
        self.on_pool[self.update.answer] = values

    @property
    def coefficients(self) -> Array:
        return np.asarray(self.of_points[self.update.answer])

    @coefficients.setter
    def coefficients(self, coefficients: Array) -> None:
        self.of_points[self.update.answer] = coefficients

    @property
    def takes_slopes(self) -> bool:
        """Never: slopes are those at f, not at what it answers, and what a step adds is not all that it changes."""
        return False

    @property
    def takes_weights(self) -> bool:
        return type(self).learn is UpdatingPupil.learn

    def learn(self, indices: Indices, labels: Array) -> None:
        self._learn(indices, labels, None)

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        self._learn(indices, labels, weights)

    def _learn(self, indices: Indices, labels: Array, weights: Array | None) -> None:
        slopes = self.loss.slope(self.update.look_ahead(self.on_pool[:, indices]), labels)
        slopes = weigh_slopes(slopes, weights)

        def add(step: Array) -> None:
            np.add.at(self.of_points[VELOCITY], indices, step)  # a pack may show the same point twice
            self.operator.add(self.on_pool[VELOCITY], indices, step)

        self._take_step(indices, slopes, len(indices), add)

    def learn_each(self, indices: Indices, labels: Array, weights: Array | None = None) -> None:
        outputs = np.arange(len(indices))[:, np.newaxis]
        slopes = self.loss.slope(self.update.look_ahead(self.on_pool[:, indices, outputs]), labels)
        slopes = slopes if weights is None else slopes * weights

        def add(step: Array) -> None:
            np.add.at(self.of_points[VELOCITY], (indices, outputs), step)
            for output in range(len(indices)):
                self.operator.add(self.on_pool[VELOCITY][:, output], indices[output], step[output])

        self._take_step(indices.ravel(), slopes, indices.shape[1], add)

    def _take_step(self, shown: Indices, slopes: Array, count: int, add: Callable[[Array], None]) -> None:
        rate = self.rate()
        self.shown[shown] = True
        self.steps += 1

        def remove() -> None:
            centres = np.flatnonzero(self.shown)
            for index in self.update.surplus(self.of_points[FUNCTION], self.diagonal, centres, shown):
                self.shown[index] = False
                for values, coefficients in zip(self.on_pool, self.of_points, strict=True):
                    self.operator.add(values, np.array([index]), -coefficients[index : index + 1])
                    coefficients[index] = 0.0

        tables = (self.on_pool, self.of_points, self.of_start)
        steps = self.learner.steps_ + self.steps
        self.update.take_step(rate, steps, tables, lambda: add(-rate / count * slopes), remove)

    def mix(self, matrix: Array) -> None:
        self.on_pool = self.on_pool @ matrix.T
        self.of_points = self.of_points @ matrix.T
        self.mixed = matrix if self.mixed is None else matrix @ self.mixed

    def distance_in_h(self, target: Array, target_function: object) -> Callable[[], float]:
        """Return a function that measures |f - f*|_H from values on the pool: f is no multiple of its start alone."""
        solve = gram_solver(self.learner.kernel, self.pool)

        def norm() -> float:
            errors = self.values - target
            return root(inner(solve(errors), errors))

        return norm

    def lend(self) -> tuple[Array, Array, Flags]:
        """Give all rows of its values and coefficients to an engine."""
        lent = self.on_pool, self.of_points, self.shown
        self.on_pool = self.of_points = np.empty((self.update.rows, 0))
        self.shown = np.empty(0, dtype=bool)
        return lent

    def take_back(self, values: Array, coefficients: Array, shown: Flags) -> None:
        """Take back what `lend` gave."""
        self.on_pool, self.of_points, self.shown = values, coefficients, shown

    def to_learner(self) -> KernelLearner:
        learner = self._copy_mixed()
        rows = np.flatnonzero(self.shown)
        learner.absorb_moving(self.pool.take(rows), self.of_points[:, rows], self.of_start, steps=self.steps)
        return learner

    def state(self) -> State:
        return super().state() | {"values": self.on_pool, "coefficients": self.of_points, "of_start": self.of_start}

    def restore(self, state: State) -> None:
        self._restore_rate(state)
        shape = (self.update.rows, len(self.pool), *self.outputs)
        self.on_pool = check_stored_array(state, "values", shape)
        self.of_points = check_stored_array(state, "coefficients", shape)
        self.of_start = check_stored_array(state, "of_start", (self.update.rows, self.update.rows))
        self.shown = check_stored_array(state, "shown", shape[1:2], "bf") > 0

"""A `KernelLearner` at work: on a pool, or in a box."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array, Flags, Indices, check_stored_array, check_stored_count, is_number
from nimt.errors import CorruptLesson
from nimt.kernels import diagonal, reach
from nimt.kernels.radial import on_one_axis
from nimt.learners.learner import State, weigh_slopes
from nimt.learners.norms import expand_difference, measure_expansion, of_interpolant
from nimt.losses import Loss, as_loss
from nimt.operators import DenseOperator, Operator
from nimt.pools.box import Box
from nimt.pools.pool import Points, Pool

if TYPE_CHECKING:
    from nimt.learners.kernel_learner import KernelLearner


class _KernelPupil:
    """What both pupils share: a copy of the learner, its values, its rate, and the mixtures of its outputs."""

    heights: Array  # K(x, x) on the pool

    def __init__(self, learner: KernelLearner, pool: Pool, outputs: tuple[int, ...]) -> None:
        self.learner: KernelLearner = learner.copy().bind(pool)
        self.loss: Loss = as_loss(learner.loss)
        self.outputs = outputs
        self.values: Array = self.learner.values_on(pool, outputs)
        self.mixed: Array | None = None  # what all mixtures so far make of the start and of what was learned before
        self.steps: int = 0
        self.constant_rate: float | None = None  # known from the first step on: "auto" depends on the packs

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        if self.constant_rate is not None:
            return self.constant_rate
        rate = self.learner.rate(self.learner.steps_ + self.steps, self.heights)
        if not callable(self.learner.learning_rate):
            self.constant_rate = rate
        return rate

    def mix(self, matrix: Array) -> None:
        """Do f <- A f."""
        self.values = self.values @ matrix.T
        self.mixed = matrix if self.mixed is None else matrix @ self.mixed

    def _copy_mixed(self) -> KernelLearner:
        """Return a copy of the learner with its mixtures, without what it learned here."""
        learner = self.learner.copy()
        return learner if self.mixed is None else learner.mix(self.mixed)

    def state(self) -> State:
        rate = getattr(self.learner, "learning_rate_", None)
        return {"values": self.values, "mixed": self.mixed, "rate": rate, "steps": self.steps}

    def restore(self, state: State) -> None:
        """Take over what `state` returned, but the values: an engine may have taken the array."""
        self._restore_rate(state)

    def _restore_rate(self, state: State) -> None:
        """Take over the rate, the mixtures and the number of steps."""
        self.mixed = None
        if state["mixed"] is not None:
            self.mixed = check_stored_array(state, "mixed", (*self.outputs, *self.outputs))
        rate = state["rate"]  # that "auto" stood for
        if rate is not None:
            if not is_number(rate) or not 0 < float(rate) < np.inf:
                raise CorruptLesson(f"the file was altered: the learning rate is {rate!r:.80}")
            self.learner.learning_rate_ = float(rate)
        self.constant_rate = None
        self.steps = check_stored_count(state, "steps")


class KernelPupil(_KernelPupil):
    """A `KernelLearner` on a pool: one step adds a few kernel columns to the values, nothing is evaluated again."""

    heights: Array
    values: Array
    steps: int

    def __init__(self, learner: KernelLearner, pool: Pool, outputs: tuple[int, ...] = ()) -> None:
        super().__init__(learner, pool, outputs)
        self.pool = pool
        self.diagonal: Array = diagonal(learner.kernel, pool)
        self.heights = self.diagonal
        self.coefficients: Array = np.zeros((len(pool), *outputs))
        self.shown: Flags = np.zeros(len(pool), dtype=bool)
        self._added: Array | float = np.empty(0)

    @cached_property  # compiled engines have operators of their own
    def operator(self) -> Operator:
        """How K acts on the pool."""
        return DenseOperator(self.learner.kernel, self.pool)

    @property
    def takes_slopes(self) -> bool:
        """Whether `move` may be called instead of `learn`: not where a subclass has a `learn` of its own."""
        return type(self).learn is KernelPupil.learn

    def learn(self, indices: Indices, labels: Array) -> None:
        self.move(indices, self.loss.slope(self.values[indices], labels))

    def move(self, indices: Indices, slopes: Array) -> None:
        if len(indices) == 1 and not self.outputs:
            self.move_one(indices.item(), slopes.item())
        else:
            self.add(indices, slopes * (-self.rate() / len(indices)))

    def move_one(self, index: int, slope: float) -> None:
        """Do the same as `move` for one example and one output: numbers take a third of the time of arrays of one."""
        step = slope * -self.rate()
        self.coefficients[index] += step
        self.shown[index] = True
        if isinstance(self.operator, DenseOperator):
            self.operator.add_one(self.values, index, step)
        else:
            self.operator.add(self.values, np.array([index]), np.array([step]))
        self._added = step
        self.steps += 1

    @property
    def added(self) -> Array:
        """The coefficients of the latest step, as its labels were."""
        return np.atleast_1d(self._added)

    def add(self, indices: Indices, step: Array) -> None:
        """Do f <- f + sum_j c_j K(x_j, .), which is one step; `step` has the c_j."""
        np.add.at(self.coefficients, indices, step)  # a pack may show the same point twice
        self.shown[indices] = True
        self.operator.add(self.values, indices, step)
        self._added = step
        self.steps += 1

    @property
    def takes_weights(self) -> bool:
        """Whether `learn_weighted` may be called: not where a subclass has a `learn` of its own."""
        return self.takes_slopes

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        """Show one pack, the step at each example multiplied by its weight."""
        self.move(indices, weigh_slopes(self.loss.slope(self.values[indices], labels), weights))

    def learn_each(self, indices: Indices, labels: Array, weights: Array | None = None) -> None:
        """Show each output a pack of its own: indices, labels and weights are (q, k), one row per output."""
        outputs = np.arange(len(indices))[:, np.newaxis]
        slopes = self.loss.slope(self.values[indices, outputs], labels)
        self.add_each(indices, -self.rate() / indices.shape[1] * (slopes if weights is None else slopes * weights))

    def add_each(self, indices: Indices, step: Array) -> None:
        """Do the same as `add` for each output, both arrays being (q, k)."""
        outputs = np.arange(len(indices))[:, np.newaxis]
        np.add.at(self.coefficients, (indices, outputs), step)
        for output in range(len(indices)):
            self.operator.add(self.values[:, output], indices[output], step[output])
        self.shown[indices.ravel()] = True
        self._added = step.ravel()
        self.steps += 1

    def mix(self, matrix: Array) -> None:
        super().mix(matrix)
        self.coefficients = self.coefficients @ matrix.T

    def distance_in_h(self, target: Array, target_function: object) -> Callable[[], float]:
        """Return a function that measures |f - f*|_H; exact where f* is an expansion from the same start."""
        difference = expand_difference(self, target_function)
        return of_interpolant(self, target) if difference is None else measure_expansion(self, target, difference)

    def lend(self) -> tuple[Array, Array, Flags]:
        """Give its values, coefficients and shown flags to an engine, which works on them until `take_back`."""
        lent = self.values, self.coefficients, self.shown
        self.values = self.coefficients = np.empty(0)
        self.shown = np.empty(0, dtype=bool)
        return lent

    def take_back(self, values: Array, coefficients: Array, shown: Flags) -> None:
        """Take back the arrays from an engine."""
        self.values, self.coefficients, self.shown = values, coefficients, shown

    def to_learner(self) -> KernelLearner:
        learner = self._copy_mixed()
        rows = np.flatnonzero(self.shown)
        distinct = self.pool.has_distinct_points
        learner.absorb(self.pool.take(rows), self.coefficients[rows], steps=self.steps, distinct=distinct)
        return learner

    def state(self) -> State:
        return super().state() | {"coefficients": self.coefficients, "shown": self.shown}

    def restore(self, state: State) -> None:
        super().restore(state)
        shape = (len(self.pool), *self.outputs)
        self.values = check_stored_array(state, "values", shape)
        self.coefficients = check_stored_array(state, "coefficients", shape)
        self.shown = check_stored_array(state, "shown", shape[:1], "bf") > 0


class KernelBoxPupil(_KernelPupil):
    """A `KernelLearner` in a box: a step adds columns to the values on the grid, and centres to the expansion."""

    diagonal: Array | None = None
    heights: Array
    values: Array
    steps: int

    def __init__(self, learner: KernelLearner, box: Box, outputs: tuple[int, ...] = ()) -> None:
        super().__init__(learner, box.grid, outputs)
        self.points: Array = box.grid.points
        self.kernel: Callable[[Array, Array], Array] = self.learner.kernel
        if box.dimension == 1:
            self.kernel = on_one_axis(self.learner.kernel, self.points)
        self.heights = self.learner.kernel.diag(self.points)
        self.followed: Array = np.empty((0, *outputs))
        self.points_followed: Array = self.points[:0]
        self.reach: float = np.inf  # where it is finite, single columns are added within it
        self.axes: list[list[float]] = []  # the coordinates of the grid and of the points followed, both ascending
        self.centers: Array = np.empty((8, box.dimension))
        self.coefficients: Array = np.empty((8, *outputs))
        self.size: int = 0

    def at(self, points: Array) -> Array:
        taught = self.kernel(points, self.centers[: self.size]) @ self.coefficients[: self.size]
        start = self.learner.values_on(Points.from_checked(points), self.outputs)
        return np.asarray((start if self.mixed is None else start @ self.mixed.T) + taught)

    def follow(self, points: Array) -> None:
        """Keep the values at these points in `followed` from now on."""
        self.followed = self.at(points)
        self.points_followed = points
        both = [self.points[:, 0], points[:, 0]]
        ascending = points.shape[1] == 1 and all((np.diff(axis) > 0).all() for axis in both)
        if ascending and self.learner.kernel.is_stationary():
            self.reach = reach(self.learner.kernel)
            self.axes = [axis.tolist() for axis in both]

    def mix(self, matrix: Array) -> None:
        super().mix(matrix)
        self.followed = self.followed @ matrix.T
        self.coefficients[: self.size] = self.coefficients[: self.size] @ matrix.T  # the rest is room for more

    def learn(self, indices: Indices, labels: Array) -> None:
        self.learn_at(self.points[indices], labels)

    @property
    def takes_slopes(self) -> bool:
        """Whether `move_at` may be called instead of `learn_at`: not where a subclass has a `learn_at` of its own."""
        return type(self).learn_at is KernelBoxPupil.learn_at

    def learn_at(self, points: Array, labels: Array) -> None:
        self.move_at(points, self.loss.slope(self.at(points), labels))

    def move_at(self, points: Array, slopes: Array) -> None:
        step = -self.rate() / len(points) * slopes
        if len(points) == 1 and self.reach < np.inf:
            self._add_near(points, step)
        else:
            change = self.kernel(np.concatenate([self.points, self.points_followed]), points) @ step
            self.values += change[: len(self.points)]
            self.followed += change[len(self.points) :]
        size = self.size + len(points)
        if size > len(self.coefficients):
            self.centers = np.concatenate([self.centers, np.empty_like(self.centers), points])
            self.coefficients = np.concatenate([self.coefficients, np.empty_like(self.coefficients), step])
        self.centers[self.size : size], self.coefficients[self.size : size] = points, step
        self.size = size
        self.steps += 1

    def _add_near(self, point: Array, step: Array) -> None:
        """Add a column within the kernel's reach, on one axis; beyond it the column is below rounding."""
        x = point.item()
        on_grid, behind = (
            slice(bisect_left(axis, x - self.reach), bisect_right(axis, x + self.reach)) for axis in self.axes
        )
        near = np.concatenate([self.points[on_grid], self.points_followed[behind]])
        change = (self.kernel(near, point) * step).reshape(len(near), *self.outputs)
        count = on_grid.stop - on_grid.start
        self.values[on_grid] += change[:count]
        self.followed[behind] += change[count:]

    def to_learner(self) -> KernelLearner:
        learner = self._copy_mixed()
        learner.absorb(self.centers[: self.size], self.coefficients[: self.size], steps=self.steps)
        return learner

    def state(self) -> State:
        return super().state() | {
            "followed": self.followed,
            "centers": self.centers[: self.size],
            "coefficients": self.coefficients[: self.size],
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self.values = check_stored_array(state, "values", self.values.shape)
        self.centers = check_stored_array(state, "centers", (None, self.points.shape[1]))
        self.size = len(self.centers)
        self.coefficients = check_stored_array(state, "coefficients", (self.size, *self.outputs))
        self.followed = check_stored_array(state, "followed", self.followed.shape)

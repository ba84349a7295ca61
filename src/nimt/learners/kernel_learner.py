"""The paper's learner: functional gradient descent in a kernel's space."""

from __future__ import annotations

import copy
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import (
    Array,
    Flags,
    Indices,
    check_finite,
    check_stored_array,
    check_stored_count,
    is_number,
    real_array,
)
from nimt.errors import CorruptLesson, InvalidInput
from nimt.kernels import Kernel, KernelLike, as_kernel, check_kernel_on, diagonal, reach
from nimt.kernels.families import SINGLE
from nimt.kernels.radial import on_one_axis
from nimt.learners.learner import (
    Described,
    InitialFunction,
    LearningRate,
    StartsFromInitial,
    State,
    auto_rate,
    check_pack,
    check_rate,
    rate_at,
)
from nimt.learners.norms import between_expansions, is_expansion_from, of_interpolant
from nimt.losses import Loss, as_loss, check_labels
from nimt.operators import DenseOperator, Operator
from nimt.pools.box import Box
from nimt.pools.pool import Grid, Points, Pool, as_pool

UNCHANGING = frozenset({bool, int, float, str, Grid, Points, *SINGLE})
PREDICT_BLOCK = 2**26  # bytes of kernel values held at once


class KernelLearner(StartsFromInitial, Described):
    r"""Learn by functional gradient descent in the kernel's space [Zhang23, Eq. 3].

    A pack of k examples moves f to f - eta * (1/k) sum_j slope(f(x_j), y_j) K(x_j, .). The function is kept as
    initial + sum_j c_j K(x_j, .), one row of `centers_` and one of `coefficients_` per distinct point shown, so that a
    taught learner can be evaluated anywhere.

    Parameters
    ----------
    kernel : Kernel, or a kernel of scikit-learn
    loss : str or Loss
        "square", "hinge", "logistic", "huber", "absolute", or an object of your own.
    learning_rate : float, callable of the step, or "auto"
        "auto" is 1 / (L max K(x, x)), L being the loss's smoothness: 0.5 for the square loss and a diagonal of 1. For a
        loss without one (hinge, absolute) it is 0.01, the rate of the paper.
    initial : number, callable on (n, d), or values on the pool
        Values are bound to the pool by `teach`. Between the points of a `Grid` they are interpolated, linearly along
        each axis; on `Points` such a learner is known at these only.

    Attributes
    ----------
    centers_ : array (m, d)
    coefficients_ : array (m,), or (m, q) for q outputs
    steps_ : int
        How many packs it has learned from.
    mix_ : array (q, q)
        Only if its outputs were mixed: what the initial function is multiplied by.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> learner = KernelLearner(rbf(width=0.5), learning_rate=0.1)
    >>> learner.partial_fit([[0.0]], [1.0]).predict([[0.0]])
    array([0.2])
    """

    learned: ClassVar[tuple[str, ...]] = ("centers_", "coefficients_", "steps_", "learning_rate_", "mix_")

    def __init__(
        self,
        kernel: KernelLike,
        *,
        loss: str | Loss = defaults.LOSS,
        learning_rate: LearningRate = defaults.LEARNING_RATE,
        initial: InitialFunction = 0.0,
    ) -> None:
        self.kernel: Kernel = as_kernel(kernel)
        self.loss = loss
        self.learning_rate = learning_rate
        self.initial = initial
        self.check()

    def check(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        self.kernel = as_kernel(self.kernel)  # it may have been set
        as_loss(self.loss)
        check_rate(self.learning_rate)
        self.check_initial()

    def bind(self, pool: Pool) -> Self:
        """Fix the pool that an `initial` given as values belongs to, and the diagonal that "auto" is computed from."""
        self.check()
        check_kernel_on(self.kernel, pool)
        self.bind_initial(pool)
        if self.learning_rate == "auto":
            self.learning_rate_: float = auto_rate(as_loss(self.loss), diagonal(self.kernel, pool))
        return self

    def make_pupil(self, pool: Pool, outputs: tuple[int, ...] = ()) -> KernelPupil:
        """Return this learner at work on a pool; the learner itself is not changed."""
        return KernelPupil(self, pool, outputs)

    def make_pupil_in(self, box: Box, outputs: tuple[int, ...] = ()) -> KernelBoxPupil:
        """Return this learner at work in a box; the learner itself is not changed."""
        return KernelBoxPupil(self, box, outputs)

    def rate(self, step: int, diagonal: ArrayLike) -> float:
        """Return the learning rate of a step; `diagonal` is K(x, x) wherever "auto" must hold."""
        if isinstance(self.learning_rate, str):
            return float(getattr(self, "learning_rate_", None) or auto_rate(as_loss(self.loss), diagonal))
        return rate_at(self.learning_rate, step)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from one pack: one functional gradient step."""
        self.check()
        points, labels = check_pack(X, y)
        loss = as_loss(self.loss)
        check_labels(loss, labels)
        rate = self.rate(self.steps_so_far(), self.kernel.diag(points))
        values = self.values_on(as_pool(points), labels.shape[1:])
        self.absorb(points, -rate / len(points) * loss.slope(values, labels), steps=1)
        return self

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,), or (n, q) where it was taught q outputs."""
        return self.values_on(as_pool(X, "X"), self.outputs())

    def outputs(self) -> tuple[int, ...] | None:
        """Return (q,) where it has q > 1 outputs, () for one, None if it has those of its initial function."""
        if self.is_mixed():
            return (len(self.mix_),)
        return self.coefficients_.shape[1:] if hasattr(self, "coefficients_") else None

    def is_mixed(self) -> bool:
        """Say whether its outputs were mixed."""
        return hasattr(self, "mix_")

    def has_centers(self) -> bool:
        """Say whether it is more than its initial function."""
        return len(getattr(self, "centers_", ())) > 0

    def values_on(self, pool: Pool, outputs: tuple[int, ...] | None) -> Array:
        """Return f on a pool, with the outputs asked for; None for those of its initial function."""
        start = self.initial_on(pool, outputs)
        if self.is_mixed() and outputs == self.mix_.shape[1:]:
            start = start @ self.mix_.T
        if not self.has_centers():
            return np.array(start)
        if self.coefficients_.shape[1:] != start.shape[1:]:
            taught, asked = _name_outputs(self.coefficients_.shape[1:]), _name_outputs(start.shape[1:])
            raise InvalidInput(f"this learner was taught {taught} and is now to learn {asked}")
        return np.asarray(start + self.expansion(pool.points), dtype=np.float64)

    def expansion(self, points: Array) -> Array:
        """Return the taught part, sum_j c_j K(x_j, .), at the given points."""
        total = np.zeros((len(points), *(self.outputs() or ())))
        if not self.has_centers():
            return total
        self._check_dimension(points)
        rows = max(1, PREDICT_BLOCK // (8 * len(self.centers_)))
        for start in range(0, len(points), rows):
            part = slice(start, start + rows)
            total[part] = np.asarray(self.kernel(points[part], self.centers_)) @ self.coefficients_
        return total

    def absorb(self, points: Array, coefficients: Array, *, steps: int, distinct: bool = False) -> None:
        """Add coefficients at points, from any number of steps; a point already among the centres keeps its row.

        `distinct` promises that no point occurs twice, which saves a search; the arrays are then kept, not copied.
        """
        if not self.has_centers():
            self.centers_: Array = np.empty((0, points.shape[1]))
            self.coefficients_: Array = np.empty((0, *coefficients.shape[1:]))
        self.steps_: int = self.steps_so_far() + steps
        if len(points) == 0:
            return
        if distinct and not self.has_centers():
            self.centers_, self.coefficients_ = points, coefficients
            return
        self._check_dimension(points)
        both = np.concatenate([self.centers_, points]) + 0.0  # -0.0 and 0.0 are one point
        _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")  # centres stay in the order in which they were first shown
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        merged = np.zeros((len(order), *coefficients.shape[1:]))
        np.add.at(merged, rank[np.ravel(place)], np.concatenate([self.coefficients_, coefficients]))
        self.centers_ = both[first[order]]
        self.coefficients_ = merged

    def mix(self, matrix: ArrayLike) -> Self:
        """Mix its outputs: f <- A f, so C <- C A' for the coefficients C (m, q), and the same for the start.

        Examples
        --------
        >>> from nimt.kernels import rbf
        >>> learner = KernelLearner(rbf(1.0), learning_rate=0.5).partial_fit([[0.0]], [[1.0, 2.0]])
        >>> learner.mix([[0.0, 1.0], [1.0, 0.0]]).predict([[0.0]])
        array([[2., 1.]])
        """
        mixing = real_array("matrix", matrix)
        q = self.outputs()
        fits = q == mixing.shape[1:] or not (self.has_centers() or self.is_mixed())
        if mixing.ndim != 2 or len(mixing) != mixing.shape[1] or len(mixing) < 2 or not fits:
            raise InvalidInput(
                f"must be (q, q) for {_name_outputs(q or ())}, got shape {mixing.shape}", parameter="matrix"
            )
        check_finite("matrix", mixing)
        if self.has_centers():
            self.coefficients_ = self.coefficients_ @ mixing.T
        self.mix_: Array = mixing @ self.mix_ if self.is_mixed() else np.array(mixing)
        return self

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
        if not self.has_centers() or not other.has_centers():
            return 0.0
        return float(np.sum(self.coefficients_ * other.expansion(self.centers_)))

    def rkhs_norm(self) -> float:
        """Return the norm in H of the taught part, sqrt(c' K c)."""
        return float(np.sqrt(max(0.0, self.inner(self))))

    def steps_so_far(self) -> int:
        return int(getattr(self, "steps_", 0))

    def __sklearn_is_fitted__(self) -> bool:
        return True  # an untaught learner predicts its initial function


def copy_learner(learner: KernelLearner) -> KernelLearner:
    """Return a copy that shares nothing with the learner that may change; kernels and pools of nimt cannot."""
    if type(learner) is not KernelLearner:
        return copy.deepcopy(learner)
    made = object.__new__(KernelLearner)
    for name, part in vars(learner).items():
        vars(made)[name] = part if type(part) in UNCHANGING else copy.deepcopy(part)
    return made


class KernelPupil:
    """A `KernelLearner` on a pool: one step adds a few kernel columns to the values, nothing is evaluated again."""

    def __init__(self, learner: KernelLearner, pool: Pool, outputs: tuple[int, ...] = ()) -> None:
        self.learner: KernelLearner = copy_learner(learner).bind(pool)
        self.pool = pool
        self.loss: Loss = as_loss(learner.loss)
        self.diagonal: Array = diagonal(learner.kernel, pool)
        self.values: Array = self.learner.values_on(pool, outputs)
        self.outputs = outputs
        self.coefficients: Array = np.zeros((len(pool), *outputs))
        self.shown: Flags = np.zeros(len(pool), dtype=bool)
        self.mixed: Array | None = None  # what all mixtures so far make of the start and of what was learned before
        self.steps: int = 0
        self.added: Array = np.empty(0)  # the coefficients of the latest step, as its labels were
        self.constant_rate: float | None = None  # known from the first step on: "auto" depends on the packs

    @cached_property  # compiled engines have operators of their own
    def operator(self) -> Operator:
        """How K acts on the pool."""
        return DenseOperator(self.learner.kernel, self.pool)

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        if self.constant_rate is not None:
            return self.constant_rate
        rate = self.learner.rate(self.learner.steps_so_far() + self.steps, self.diagonal)
        if not callable(self.learner.learning_rate):
            self.constant_rate = rate
        return rate

    @property
    def takes_slopes(self) -> bool:
        """Whether `move` may be called instead of `learn`: not where a subclass has a `learn` of its own."""
        return type(self).learn is KernelPupil.learn

    def learn(self, indices: Indices, labels: Array) -> None:
        self.move(indices, self.loss.slope(self.values[indices], labels))

    def move(self, indices: Indices, slopes: Array) -> None:
        self.add(indices, -self.rate() / len(indices) * slopes)

    def add(self, indices: Indices, step: Array) -> None:
        """Do f <- f + sum_j c_j K(x_j, .), which is one step; `step` has the c_j."""
        if len(indices) == 1:
            index = indices.item()
            self.coefficients[index] += step[0]
            self.shown[index] = True
        else:
            np.add.at(self.coefficients, indices, step)  # a pack may show the same point twice
            self.shown[indices] = True
        self.operator.add(self.values, indices, step)
        self.added = step
        self.steps += 1

    def learn_each(self, indices: Indices, labels: Array) -> None:
        """Show each output a pack of its own: indices and labels are (q, k), one row per output."""
        outputs = np.arange(len(indices))[:, np.newaxis]
        self.add_each(indices, -self.rate() / indices.shape[1] * self.loss.slope(self.values[indices, outputs], labels))

    def add_each(self, indices: Indices, step: Array) -> None:
        """Do the same as `add` for each output, both arrays being (q, k)."""
        outputs = np.arange(len(indices))[:, np.newaxis]
        np.add.at(self.coefficients, (indices, outputs), step)
        for output in range(len(indices)):
            self.operator.add(self.values[:, output], indices[output], step[output])
        self.shown[indices.ravel()] = True
        self.added = step.ravel()
        self.steps += 1

    def mix(self, matrix: Array) -> None:
        """Do f <- A f."""
        self.values, self.coefficients = self.values @ matrix.T, self.coefficients @ matrix.T
        self.mixed = matrix if self.mixed is None else matrix @ self.mixed

    def distance_in_h(self, target: Array, target_function: object) -> Callable[[], float]:
        """Return a function that measures |f - f*|_H; exact where f* is an expansion from the same start."""
        if isinstance(target_function, KernelLearner) and is_expansion_from(target_function, self):
            return between_expansions(self, target, target_function)
        return of_interpolant(self, target)

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
        learner = copy_learner(self.learner)
        if self.mixed is not None:
            learner.mix(self.mixed)
        rows = np.flatnonzero(self.shown)
        distinct = self.pool.has_distinct_points
        learner.absorb(self.pool.take(rows), self.coefficients[rows], steps=self.steps, distinct=distinct)
        return learner

    def state(self) -> State:
        return {
            "values": self.values,
            "coefficients": self.coefficients,
            "shown": self.shown,
            "mixed": self.mixed,
            "rate": getattr(self.learner, "learning_rate_", None),
            "steps": self.steps,
        }

    def restore(self, state: State) -> None:
        shape = (len(self.pool), *self.outputs)
        self.values = check_stored_array(state, "values", shape)
        self.coefficients = check_stored_array(state, "coefficients", shape)
        self.shown = check_stored_array(state, "shown", shape[:1], "bf") > 0
        self.mixed = _check_stored_mixture(state, self.outputs)
        restore_rate(self.learner, state["rate"])
        self.constant_rate = None
        self.steps = check_stored_count(state, "steps")


class KernelBoxPupil:
    """A `KernelLearner` in a box: a step adds columns to the values on the grid, and centres to the expansion."""

    diagonal: Array | None = None

    def __init__(self, learner: KernelLearner, box: Box, outputs: tuple[int, ...] = ()) -> None:
        self.learner: KernelLearner = copy_learner(learner).bind(box.grid)
        self.points: Array = box.grid.points
        self.kernel: Callable[[Array, Array], Array] = self.learner.kernel
        if box.dimension == 1:
            self.kernel = on_one_axis(self.learner.kernel, self.points)
        self.on_grid: Array = self.learner.kernel.diag(self.points)
        self.loss: Loss = as_loss(learner.loss)
        self.outputs = outputs
        self.values: Array = self.learner.values_on(box.grid, outputs)
        self.followed: Array = np.empty((0, *outputs))
        self.points_followed: Array = self.points[:0]
        self.reach: float = np.inf  # where it is finite, single columns are added within it
        self.axes: list[list[float]] = []  # the coordinates of the grid and of the points followed, both ascending
        self.centers: Array = np.empty((8, box.dimension))
        self.coefficients: Array = np.empty((8, *outputs))
        self.size: int = 0
        self.mixed: Array | None = None  # what all mixtures so far make of the start and of what was learned before
        self.steps: int = 0
        self.constant_rate: float | None = None  # known from the first step on: "auto" depends on the packs

    def rate(self) -> float:
        """Return the learning rate of the step to come."""
        if self.constant_rate is not None:
            return self.constant_rate
        rate = self.learner.rate(self.learner.steps_so_far() + self.steps, self.on_grid)
        if not callable(self.learner.learning_rate):
            self.constant_rate = rate
        return rate

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
        """Do f <- A f."""
        self.values = self.values @ matrix.T
        self.followed = self.followed @ matrix.T
        self.coefficients[: self.size] = self.coefficients[: self.size] @ matrix.T  # the rest is room for more
        self.mixed = matrix if self.mixed is None else matrix @ self.mixed

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
        learner = copy_learner(self.learner)
        if self.mixed is not None:
            learner.mix(self.mixed)
        learner.absorb(self.centers[: self.size], self.coefficients[: self.size], steps=self.steps)
        return learner

    def state(self) -> State:
        return {
            "values": self.values,
            "followed": self.followed,
            "centers": self.centers[: self.size],
            "coefficients": self.coefficients[: self.size],
            "mixed": self.mixed,
            "rate": getattr(self.learner, "learning_rate_", None),
            "steps": self.steps,
        }

    def restore(self, state: State) -> None:
        self.values = check_stored_array(state, "values", self.values.shape)
        self.centers = check_stored_array(state, "centers", (None, self.points.shape[1]))
        self.size = len(self.centers)
        self.coefficients = check_stored_array(state, "coefficients", (self.size, *self.outputs))
        self.mixed = _check_stored_mixture(state, self.outputs)
        restore_rate(self.learner, state["rate"])
        self.constant_rate = None
        self.steps = check_stored_count(state, "steps")
        self.followed = check_stored_array(state, "followed", self.followed.shape)


def restore_rate(learner: KernelLearner, rate: Any) -> None:
    """Give a learner the rate that "auto" stood for, where a file has one."""
    if rate is None:
        return
    if not is_number(rate) or not 0 < float(rate) < np.inf:
        raise CorruptLesson(f"the file was altered: the learning rate is {rate!r:.80}")
    learner.learning_rate_ = float(rate)


def _check_stored_mixture(state: State, outputs: tuple[int, ...]) -> Array | None:
    return None if state["mixed"] is None else check_stored_array(state, "mixed", (*outputs, *outputs))


def _name_outputs(outputs: tuple[int, ...]) -> str:
    return f"{outputs[0]} outputs" if outputs else "one output"

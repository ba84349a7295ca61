"""The paper's learner: functional gradient descent in a kernel's space."""

from __future__ import annotations

import copy
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt import defaults
from nimt.arrays import Array, check_finite, real_array
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, KernelLike, as_kernel, diagonal
from nimt.kernels.families import SINGLE
from nimt.learners.expansion import Expansion, KeptColumns, add_center, evaluate, merge_centers
from nimt.learners.kernel_pupils import KernelBoxPupil, KernelPupil
from nimt.learners.learner import (
    Described,
    InitialFunction,
    LearningRate,
    StartsFromInitial,
    auto_rate,
    check_pack,
    check_rate,
    rate_at,
    weigh_slopes,
)
from nimt.learners.update_parts import FUNCTION, VELOCITY, Update
from nimt.learners.updating_pupil import UpdatingPupil
from nimt.losses import Loss, as_loss, check_labels
from nimt.pools.box import Box
from nimt.pools.pool import Grid, Points, Pool, as_pool

PLAIN_PARTS = (0.0, False, 0.0, 0.0, None, 0.0)
PLAIN = Update()
UNCHANGING = frozenset({bool, int, float, str, Grid, Points, Expansion, *SINGLE})
NOTHING = np.empty((0, 1)), np.empty(0)  # the centers and coefficients of 0


class KernelLearner(StartsFromInitial, Described):
    r"""Learn by functional gradient descent in the kernel's space [Zhang23, Eq. 3].

    A pack of k examples moves f to f - eta * (1/k) sum_j slope(f(x_j), y_j) K(x_j, .). The function is kept as
    initial + sum_j c_j K(x_j, .), one row of `centers_` and one of `coefficients_` per distinct point shown, so that a
    taught learner can be evaluated anywhere.

    Parameters
    ----------
    kernel : Kernel, or a kernel of scikit-learn
    loss : str or Loss
        "square", "hinge", "perceptron", "logistic", "huber", "absolute", "crossentropy", or an object of your own.
    learning_rate : float, callable of the step, or "auto"
        "auto" is 1 / (L max K(x, x)), L being the loss's smoothness: 0.5 for the square loss and a diagonal of 1. For a
        loss without one (hinge, perceptron, absolute) it is 0.01, the rate of the paper.
    initial : number, callable on (n, d), Expansion, or values on the pool
        Values are bound to the pool by `teach`. Between the points of a `Grid` they are interpolated, linearly along
        each axis; on `Points` such a learner is known at these only.
    momentum, nesterov : float in [0, 1), bool
        v <- momentum v - eta gradient, f <- f + v; with `nesterov` the gradient is taken at f + momentum v.
    decay : float
        f <- (1 - eta decay) f beside the gradient: that of the loss plus decay |f|_H^2 / 2. It is part of the velocity.
    forgetting : float in [0, 1)
        f <- (1 - forgetting) f at every step, whatever the rate. What is not repeated is lost.
    budget : int, optional
        The most centres; beyond it those with the smallest |c| sqrt(K(x, x)) are removed, never one of the latest pack.
    averaging : float in [0, 1]
        Answer the mean of f after all steps (1, or True), or the running mean that keeps this share of itself per step.

    Attributes
    ----------
    centers_ : array (m, d)
    coefficients_ : array (m,), or (m, q) for q outputs
    steps_ : int
        How many packs it has learned from.
    mix_ : array (q, q)
        Only if its outputs were mixed: what the initial function is multiplied by.
    moving_ : array (2 or 3, m), or (2 or 3, m, q)
        Only with momentum and so on: the coefficients of f, of the velocity and of the mean.
    scales_, scale_ : array (2 or 3,), float
        Likewise: the multiples of the initial function in them, and in what it answers.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> learner = KernelLearner(rbf(width=0.5), learning_rate=0.1)
    >>> learner.partial_fit([[0.0]], [1.0]).predict([[0.0]])
    array([0.2])
    """

    centers_: Array
    coefficients_: Array
    steps_: int = 0
    moving_: Array
    scales_: Array
    scale_: float = 1.0
    word: ClassVar[str] = "kernel"
    learned: ClassVar[tuple[str, ...]] = (
        "centers_",
        "coefficients_",
        "steps_",
        "learning_rate_",
        "mix_",
        "moving_",
        "scales_",
        "scale_",
    )

    def __init__(
        self,
        kernel: KernelLike,
        *,
        loss: str | Loss = defaults.LOSS,
        learning_rate: LearningRate = defaults.LEARNING_RATE,
        initial: InitialFunction = 0.0,
        momentum: float = 0.0,
        nesterov: bool = False,
        decay: float = 0.0,
        forgetting: float = 0.0,
        budget: int | None = None,
        averaging: float = 0.0,
    ) -> None:
        self.kernel: Kernel = kernel  # type: ignore[assignment]  # made one of ours by `check`
        self.loss = loss
        self.learning_rate = learning_rate
        self.initial = initial
        self.momentum = momentum
        self.nesterov = nesterov
        self.decay = decay
        self.forgetting = forgetting
        self.budget = budget
        self.averaging = averaging
        self.check()

    @property
    def update(self) -> Update:
        """The parts of its update beside the gradient step."""
        parts = self.momentum, self.nesterov, self.decay, self.forgetting, self.budget, self.averaging
        return PLAIN if parts == PLAIN_PARTS else Update(*parts)

    def check(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        self.kernel = as_kernel(self.kernel)  # it may have been set
        as_loss(self.loss)
        check_rate(self.learning_rate)
        self.check_initial()
        if (update := self.update) is not PLAIN:
            update.check()

    def bind(self, pool: Pool) -> Self:
        """Fix the pool that an `initial` given as values belongs to, and the diagonal that "auto" is computed from."""
        self.check()
        self.kernel.check_on(pool)
        self.bind_initial(pool)
        if self.learning_rate == "auto":
            self.learning_rate_: float = auto_rate(as_loss(self.loss), diagonal(self.kernel, pool))
        return self

    def make_pupil(self, pool: Pool, outputs: tuple[int, ...] = ()) -> KernelPupil:
        """Return this learner at work on a pool; the learner itself is not changed."""
        return KernelPupil(self, pool, outputs) if self.update.is_plain else UpdatingPupil(self, pool, outputs)

    def make_pupil_in(self, box: Box, outputs: tuple[int, ...] = ()) -> KernelBoxPupil:
        """Return this learner at work in a box; the learner itself is not changed."""
        if not self.update.is_plain:
            parts = ", ".join(f"{name}=" for name in self.update.parts)
            raise InvalidInput(f"a learner with {parts} learns on a pool, not in a Box: teach it on box.grid")
        return KernelBoxPupil(self, box, outputs)

    def rate(self, step: int, diagonal: ArrayLike) -> float:
        """Return the learning rate of a step; `diagonal` is K(x, x) wherever "auto" must hold."""
        if isinstance(self.learning_rate, str):
            return float(getattr(self, "learning_rate_", None) or auto_rate(as_loss(self.loss), diagonal))
        return rate_at(self.learning_rate, step)

    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from one pack: one functional gradient step, each example times its weight."""
        self.check()
        points, labels = check_pack(X, y)
        loss = as_loss(self.loss)
        check_labels(loss, labels)
        rate = self.rate(self.steps_, self.kernel.diag(points))
        if not self.update.is_plain:
            self._move(points, labels, loss, rate, sample_weight)
            return self
        values = self.values_on(Points.from_checked(points), labels.shape[1:])
        slopes = weigh_slopes(loss.slope(values, labels), sample_weight)
        self.absorb(points, -rate / len(points) * slopes, steps=1)
        return self

    def _move(self, points: Array, labels: Array, loss: Loss, rate: float, weights: ArrayLike | None = None) -> None:
        """Take one step with all parts of the update, in coefficients."""
        update = self.update
        pool = Points.from_checked(points)
        slopes = loss.slope(update.look_ahead(self.moving_on(pool, labels.shape[1:])), labels)
        slopes = weigh_slopes(slopes, weights)
        self.absorb_moving(points, np.zeros((update.rows, *slopes.shape)), np.eye(update.rows), steps=1)
        places = [int(np.flatnonzero((self.centers_ == point).all(axis=1))[0]) for point in points + 0.0]

        surplus: list[int] = []

        def add() -> None:
            np.add.at(self.moving_[VELOCITY], places, -rate / len(points) * slopes)

        def remove() -> None:
            every, heights = np.arange(len(self.centers_)), self.kernel.diag(self.centers_)
            surplus.extend(update.surplus(self.moving_[FUNCTION], heights, every, np.array(places)))
            self.moving_[:, surplus] = 0.0

        update.take_step(rate, self.steps_, (self.moving_, self.scales_), add, remove)
        self.centers_, self.moving_ = np.delete(self.centers_, surplus, 0), np.delete(self.moving_, surplus, 1)
        self._answer_moving()

    def moving_on(self, pool: Pool, outputs: tuple[int, ...]) -> Array:
        """Return f, the velocity and the mean on a pool, (rows, n) or (rows, n, q)."""
        start = self._mixed_initial_on(pool, outputs)
        coefficients, scales = self._moving_parts(outputs)
        found = np.multiply.outer(scales, start)
        if self.has_centers():
            found += np.stack([self.expansion(pool.points, part) for part in coefficients])
        return np.asarray(found)

    def _moving_parts(self, outputs: tuple[int, ...]) -> tuple[Array, Array]:
        """Return the coefficients (rows, m) or (rows, m, q) and scales (rows,) of f, the velocity and the mean."""
        rows = self.update.rows
        if hasattr(self, "moving_") and len(self.moving_) == rows:
            return self.moving_, self.scales_
        at_rest = np.ones(rows)
        at_rest[VELOCITY] = 0.0
        known = self.coefficients_ if self.has_centers() else np.empty((0, *outputs))
        return np.multiply.outer(at_rest, known), at_rest * self.scale_

    def absorb_moving(self, points: Array, coefficients: Array, of_start: Array, *, steps: int) -> None:
        """Take over f, the velocity and the mean: `of_start` times what they were, plus coefficients at points.

        `coefficients` are (rows, k) or (rows, k, q).
        """
        before, scales = self._moving_parts(coefficients.shape[2:])
        known = np.tensordot(of_start, before, 1)
        centers = self.centers_ if self.has_centers() else np.empty((0, points.shape[1]))
        both = np.moveaxis(np.concatenate([known, coefficients], axis=1), 1, 0)
        self.centers_, merged = merge_centers(np.concatenate([centers, points]), both)
        self.moving_ = np.ascontiguousarray(np.moveaxis(merged, 0, 1))
        self.scales_ = of_start @ scales
        self.steps_ += steps
        self._answer_moving()

    def _answer_moving(self) -> None:
        """Let the learner answer as its update says."""
        answer = self.update.answer
        self.coefficients_ = self.moving_[answer].copy()
        self.scale_ = float(self.scales_[answer])

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

    def values_on(self, pool: Pool, outputs: tuple[int, ...] | None, kept: KeptColumns | None = None) -> Array:
        """Return f on a pool, with the outputs asked for; None for those of its initial function.

        `kept` may have columns of K at these points.
        """
        start = self._mixed_initial_on(pool, outputs) * self.scale_
        if not self.has_centers():
            return np.array(start)
        if self.coefficients_.shape[1:] != start.shape[1:]:
            taught, asked = _name_outputs(self.coefficients_.shape[1:]), _name_outputs(start.shape[1:])
            raise InvalidInput(f"this learner was taught {taught} and is now to learn {asked}")
        if kept is None:
            return np.asarray(start + self.expansion(pool.points), dtype=np.float64)
        self._check_dimension(pool.points)
        return np.asarray(start + kept.evaluate(self.kernel, self.centers_, self.coefficients_), dtype=np.float64)

    def _mixed_initial_on(self, pool: Pool, outputs: tuple[int, ...] | None) -> Array:
        start = self.initial_on(pool, outputs)
        mixing: Array | None = vars(self).get("mix_")
        return start if mixing is None or outputs != mixing.shape[1:] else start @ mixing.T

    def expansion(self, points: Array, coefficients: Array | None = None) -> Array:
        """Return the taught part, sum_j c_j K(x_j, .), at the given points; or with other coefficients."""
        if not self.has_centers():
            return np.zeros((len(points), *(self.outputs() or ())))
        self._check_dimension(points)
        known = self.coefficients_ if coefficients is None else coefficients
        return evaluate(self.kernel, self.centers_, known, points)

    def expand(self, kernel: Kernel) -> tuple[InitialFunction, Expansion] | None:
        """Return a function and an expansion of this kernel whose sum it is; None where there is none.

        The function is 0 if the learner started from an `Expansion` of the same kernel, else what it started from.
        """
        if kernel != self.kernel or self.is_mixed() or self.scale_ != 1.0:  # decay and forgetting change the start
            return None
        taught = Expansion(kernel, *((self.centers_, self.coefficients_) if self.has_centers() else NOTHING))
        start = self.initial.expand(kernel) if isinstance(self.initial, Expansion) else None
        return (self.initial, taught) if start is None else (start[0], start[1] + taught)

    def absorb(self, points: Array, coefficients: Array, *, steps: int, distinct: bool = False) -> None:
        """Add coefficients at points, from any number of steps; a point already among the centres keeps its row.

        `distinct` promises that no point occurs twice, which saves a search; the arrays are then kept, not copied.
        """
        if not self.has_centers():
            self.centers_ = np.empty((0, points.shape[1]))
            self.coefficients_ = np.empty((0, *coefficients.shape[1:]))
        self.steps_ += steps
        for name in ("moving_", "scales_", "scale_"):  # a plain step has no velocity
            vars(self).pop(name, None)
        if len(points) == 0:
            return
        if distinct and not self.has_centers():
            self.centers_, self.coefficients_ = points, coefficients
            return
        self._check_dimension(points)
        if len(points) == 1:
            self.centers_, self.coefficients_ = add_center(self.centers_, self.coefficients_, points, coefficients)
            return
        self.centers_, self.coefficients_ = merge_centers(
            np.concatenate([self.centers_, points]), np.concatenate([self.coefficients_, coefficients])
        )

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
            if hasattr(self, "moving_"):
                self.moving_ = self.moving_ @ mixing.T
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

    def copy(self) -> KernelLearner:
        """Return a copy that shares nothing with it that may change; kernels and pools of nimt cannot."""
        if type(self) is not KernelLearner:
            return copy.deepcopy(self)
        made = object.__new__(KernelLearner)
        for name, part in vars(self).items():
            vars(made)[name] = part if type(part) in UNCHANGING else copy.deepcopy(part)
        return made

    def __sklearn_is_fitted__(self) -> bool:
        return True  # an untaught learner predicts its initial function


def _name_outputs(outputs: tuple[int, ...]) -> str:
    return f"{outputs[0]} outputs" if outputs else "one output"

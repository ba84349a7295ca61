"""A learner that interpolates: after each example it is the kernel interpolant of all examples shown."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import (
    Array,
    Indices,
    check_positive,
    check_stored_array,
    check_stored_count,
    check_stored_indices,
    is_number,
)
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, KernelLike, as_kernel
from nimt.learners.learner import Described, InitialFunction, StartsFromInitial, State, check_pack
from nimt.learners.newton_basis import SMALLEST_POWER, NewtonBasis, short_window
from nimt.learners.norms import gram_solver, inner, root
from nimt.losses import Loss
from nimt.pools.pool import Pool, as_pool


class OrthogonalLearner(StartsFromInitial, Described):
    r"""Learn by projection: f is the interpolant of all examples shown so far, in the kernel's space.

    f = initial + sum_j b_j v_j, with v the Newton basis of the centres (`nimt.learners.newton_basis`) and
    b_m = (y_m - f_{m-1}(x_m)) / pivot_m: an example changes nothing that was learned before it. With a
    regularisation it is kernel ridge regression, sum (f(x_j) - y_j)^2 + regularisation * |f - initial|_H^2.

    An example at a centre it already has (where the power function is at most `power_tolerance` of sqrt(K(x, x))) is
    refused: it changes nothing, and `refused_` counts it. With a regularisation it is one more observation instead.
    A lesson ends as stationary once the power function is that small on the whole pool.

    Parameters
    ----------
    kernel : Kernel, or a kernel of scikit-learn
    regularisation : float
        0 interpolates.
    power_tolerance : float
        In (0, 1); below about 1e-7 it would be lost in rounding.
    initial : number, callable on (n, d), or values on the pool
        As for `KernelLearner`.

    Attributes
    ----------
    centers_ : array (m, d)
    factor_ : array (m, m)
        The Cholesky factor of K + regularisation on the centres.
    newton_ : array (m,), or (m, q) for q outputs
        The coefficients b.
    refused_, steps_ : int

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> learner = OrthogonalLearner(rbf(width=0.5)).partial_fit([[0.0], [0.3]], [1.0, 2.0])
    >>> learner.partial_fit([[0.6]], [5.0]).predict([[0.0], [0.3], [0.6]])
    array([1., 2., 5.])
    """

    word: ClassVar[str] = "orthogonal"
    learned: ClassVar[tuple[str, ...]] = ("centers_", "factor_", "newton_", "refused_", "steps_")

    def __init__(
        self,
        kernel: KernelLike,
        *,
        regularisation: float = 0.0,
        power_tolerance: float = SMALLEST_POWER,
        initial: InitialFunction = 0.0,
    ) -> None:
        self.kernel: Kernel = as_kernel(kernel)
        self.regularisation = regularisation
        self.power_tolerance = power_tolerance
        self.initial = initial
        self.check()

    def check(self) -> None:
        """Refuse parameters that cannot work, before any of them is used."""
        self.kernel = as_kernel(self.kernel)  # it may have been set
        if not is_number(self.regularisation) or not 0 <= float(self.regularisation) < np.inf:
            raise InvalidInput(f"must be a finite number >= 0, got {self.regularisation!r}", parameter="regularisation")
        check_positive("power_tolerance", self.power_tolerance)
        if self.power_tolerance >= 1:
            raise InvalidInput(
                f"must be below 1, or no centre is taken; got {self.power_tolerance!r}", parameter="power_tolerance"
            )
        self.check_initial()

    def bind(self, pool: Pool) -> Self:
        """Fix the pool that an `initial` given as values belongs to."""
        self.check()
        self.kernel.check_on(pool)
        self.bind_initial(pool)
        return self

    def make_pupil(self, pool: Pool, outputs: tuple[int, ...] = ()) -> OrthogonalPupil:
        """Return this learner at work on a pool; the learner itself is not changed."""
        return OrthogonalPupil(self, pool, outputs)

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from one pack, one example after the other; the order does not matter to what is learned."""
        self.check()
        points, labels = check_pack(X, y)
        self.begin(points.shape[1], labels.shape[1:])
        for point, label in zip(points[:, np.newaxis, :], labels, strict=True):
            row = self.basis_at(point)[0]
            diagonal = float(self.kernel.diag(point)[0])
            pivot_squared = max(diagonal - float(row @ row), 0.0) + self.regularisation
            if pivot_squared <= self.power_tolerance**2 * diagonal:
                self.refused_ += 1
                continue
            pivot = np.sqrt(pivot_squared)
            error = label - self.initial_on(as_pool(point), labels.shape[1:])[0] - row @ self.newton_
            self.absorb(point, np.append(row, pivot)[np.newaxis], np.asarray(error / pivot)[np.newaxis])
        self.steps_ += 1
        return self

    def predict(self, X: ArrayLike | Pool) -> Array:
        """Return f at the rows of X, shape (n,), or (n, q) where it was taught q outputs."""
        outputs = self.newton_.shape[1:] if hasattr(self, "newton_") else None
        return self.values_on(as_pool(X, "X"), outputs)

    def values_on(self, pool: Pool, outputs: tuple[int, ...] | None) -> Array:
        """Return f on a pool, with the outputs asked for; None for those of its initial function."""
        start = self.initial_on(pool, outputs)
        return np.array(start) if self.is_untaught() else np.asarray(start + self.basis_at(pool.points) @ self.newton_)

    def basis_at(self, points: Array) -> Array:
        """Return the Newton basis at any points, shape (n, m)."""
        if self.is_untaught():
            return np.empty((len(points), 0))
        from scipy.linalg import solve_triangular  # here, since other learners do without it

        sections = self.kernel(self.centers_, points)
        return np.asarray(solve_triangular(self.factor_, sections, lower=True, check_finite=False).T)

    def begin(self, dimension: int, outputs: tuple[int, ...] = ()) -> None:
        """Make room for centres of this dimension, and refuse any other from then on."""
        if not hasattr(self, "centers_"):
            self.centers_: Array = np.empty((0, dimension))
            self.factor_: Array = np.empty((0, 0))
            self.newton_: Array = np.empty((0, *outputs))
            self.refused_: int = 0
            self.steps_: int = 0
        if dimension != self.centers_.shape[1]:
            raise InvalidInput(
                f"this learner was taught in {self.centers_.shape[1]} dimensions and is now shown points of {dimension}"
            )
        if outputs != self.newton_.shape[1:]:
            raise InvalidInput(
                f"this learner was taught labels of shape {self.newton_.shape[1:]} and is now shown ones of {outputs}"
            )

    def absorb(self, points: Array, rows: Array, coefficients: Array) -> None:
        """Add centres with their rows of the Cholesky factor, shape (new, m + new), and their coefficients."""
        before, after = len(self.centers_), len(self.centers_) + len(points)
        factor = np.zeros((after, after))
        factor[:before, :before] = self.factor_
        factor[before:] = rows
        self.factor_ = factor
        self.centers_ = np.concatenate([self.centers_, points])
        self.newton_ = np.concatenate([self.newton_, coefficients])

    def rkhs_norm(self) -> float:
        """Return the norm in H of the taught part; without a regularisation the basis is orthonormal, so |b|."""
        if self.is_untaught():
            return 0.0
        coefficients = self.coefficients_
        gram = self.kernel(self.centers_, self.centers_)
        return float(np.sqrt(max(0.0, np.sum(coefficients * (gram @ coefficients)))))

    @property
    def coefficients_(self) -> Array:
        """C (m,) or (m, q) of the expansion f = initial + sum_j c_j K(x_j, .) in the centres."""
        if self.is_untaught():
            return np.array(getattr(self, "newton_", np.empty(0)))
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self.factor_.T, self.newton_, lower=False))

    def is_untaught(self) -> bool:
        return len(getattr(self, "centers_", ())) == 0

    def __sklearn_is_fitted__(self) -> bool:
        return True  # an untaught learner predicts its initial function


class OrthogonalPupil:
    """An `OrthogonalLearner` on a pool: one example adds one column to the Newton basis on the pool.

    The m-th column costs O(n m), bound by reading memory; on a grid a kernel of short reach makes it sparse.
    """

    loss: Loss | None = None
    diagonal: Array | None = None

    def __init__(self, learner: OrthogonalLearner, pool: Pool, outputs: tuple[int, ...] = ()) -> None:
        self.learner: OrthogonalLearner = copy.deepcopy(learner).bind(pool)
        self.pool = pool
        self.learner.begin(pool.dimension, outputs)
        kernel = self.learner.kernel
        self.basis: NewtonBasis = NewtonBasis(
            kernel,
            pool.points,
            learner.regularisation,
            learner.power_tolerance,
            window=short_window(kernel, pool),
        )
        self.basis.restart(self.learner.basis_at(pool.points))
        self.values: Array = self.learner.values_on(pool, outputs)
        self.outputs = outputs
        self.centers: list[int] = []
        self.rows: list[Array] = []
        self.coefficients: list[Array] = []
        self.refused: int = 0
        self.steps: int = 0

    @property
    def is_full(self) -> bool:
        """Whether no point of the pool can teach it anything more."""
        return self.basis.is_full

    def distance_in_h(self, target: Array, target_function: object) -> Callable[[], float]:
        """Return a function that measures the norm in H of the interpolant of f - f* on the pool."""
        solve = gram_solver(self.learner.kernel, self.pool)
        solve.say_rest(self.values - target)
        return lambda: root(inner(self.values - target, solve(self.values - target)))

    def learn(self, indices: Indices, labels: Array) -> None:
        for index, label in zip(indices.tolist(), labels, strict=True):
            fitted = self.basis.fit(index, label, self.values)
            if fitted is None:
                self.refused += 1
                continue
            self.centers.append(index)
            self.rows.append(fitted[0])
            self.coefficients.append(fitted[1])
        self.steps += 1

    def use_compiled(self, add_center: Callable[..., int]) -> None:
        """Add centres by compiled code from now on where columns are sparse; the result is the same to the last bit."""
        self.basis.add_center = add_center

    def to_learner(self) -> OrthogonalLearner:
        learner = copy.deepcopy(self.learner)
        learner.steps_ += self.steps
        learner.refused_ += self.refused
        if self.centers:
            rows = np.zeros((len(self.rows), self.basis.size))
            for place, row in enumerate(self.rows):
                rows[place, : len(row)] = row
            learner.absorb(self.pool.points[self.centers], rows, np.stack(self.coefficients))
        return learner

    def state(self) -> State:
        return {
            "values": self.values,
            **self.basis.state(),
            "centers": np.array(self.centers, dtype=np.int64),
            "pivots": np.array([row[-1] for row in self.rows]),
            "coefficients": np.array(self.coefficients).reshape(len(self.centers), *self.outputs),
            "refused": self.refused,
            "steps": self.steps,
        }

    def restore(self, state: State) -> None:
        n, before = len(self.pool), self.basis.size
        self.values = check_stored_array(state, "values", (n, *self.outputs))
        self.centers = check_stored_indices(state, "centers", (None,), n).tolist()
        self.basis.restore(state, before + len(self.centers))
        pivots = check_stored_array(state, "pivots", (len(self.centers),))
        self.rows = [
            np.append(self.basis.kept.row(center)[: before + place], pivot)
            for place, (center, pivot) in enumerate(zip(self.centers, pivots, strict=True))
        ]
        self.coefficients = list(check_stored_array(state, "coefficients", (len(self.centers), *self.outputs)))
        self.refused, self.steps = check_stored_count(state, "refused"), check_stored_count(state, "steps")

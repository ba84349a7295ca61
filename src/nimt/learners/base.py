"""What learners share: the two methods of a gray box, initial functions, learning rates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, Indices, check_finite, is_number, real_array
from nimt.errors import InvalidInput
from nimt.losses import Loss
from nimt.pools.base import Pool, as_pool, same_points, values_on

LearningRate = float | str | Callable[[int], float]


@runtime_checkable
class Learner(Protocol):
    """What a teacher can teach: scikit-learn's two words, because that *is* the gray box."""

    def predict(self, X: Any) -> Any: ...

    def partial_fit(self, X: Any, y: Any) -> Any: ...


class StartsFromInitial:
    """What learners share that start from a function given as a number, a callable, or values on a pool."""

    initial: Any
    pool_: Pool

    def check_initial(self) -> None:
        """Refuse an initial function that has a value which is no number."""
        if not callable(self.initial):
            check_finite("initial", real_array("initial", self.initial))

    def bind_initial(self, pool: Pool) -> None:
        """Fix the pool that an `initial` given as values belongs to."""
        if self.initial_is_table():
            values_on(pool, self.initial, "initial")
            bound = getattr(self, "pool_", pool)
            if not same_points(bound, pool):
                raise InvalidInput(
                    f"initial was given as values on another pool ({bound!r}), so this learner cannot be taught on "
                    f"{pool!r}: give initial as a callable"
                )
        self.pool_ = pool

    def initial_is_table(self) -> bool:
        """Say whether the initial function is known on one pool only."""
        return not callable(self.initial) and np.ndim(self.initial) > 0

    def initial_on(self, pool: Pool) -> Array:
        """Return the untaught part, the initial function, on a pool."""
        if not self.initial_is_table():
            return values_on(pool, self.initial, "initial")
        bound: Pool | None = getattr(self, "pool_", None)
        if bound is None:
            raise InvalidInput(
                "initial was given as values, and values need a pool: teach() binds them to its own; "
                "give a number or a callable to predict without one"
            )
        table = values_on(bound, self.initial, "initial")
        if pool is bound or same_points(pool, bound):
            return table
        return table[_rows_in(bound, pool)]


def check_rate(rate: LearningRate, loss: Loss) -> None:
    """Refuse a learning rate that is no positive number, no callable and not "auto"."""
    if callable(rate):
        return
    if isinstance(rate, str):
        if rate != "auto":
            raise InvalidInput(f"learning_rate must be a number, a callable of the step or 'auto', got {rate!r}")
        if not np.isfinite(loss.smoothness):
            raise InvalidInput(
                f"learning_rate='auto' needs a loss whose slope has a Lipschitz constant, and {loss!r} has none: "
                f"give a number"
            )
        return
    if not is_number(rate) or not 0 < rate < np.inf:
        raise InvalidInput(f"learning_rate must be a positive number, a callable of the step or 'auto', got {rate!r}")


def rate_at(rate: float | Callable[[int], float], step: int) -> float:
    """Return the learning rate at a step, and refuse what a schedule must not return."""
    value = rate(step) if callable(rate) else rate
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(f"learning_rate returned {value!r} at step {step}: it must be a positive number")
    return float(value)


def auto_rate(loss: Loss, diagonal: ArrayLike) -> float:
    """Return 1 / (L max K(x, x)), the largest rate at which no step overshoots."""
    largest = float(np.max(np.asarray(diagonal)))
    if largest <= 0:
        raise InvalidInput("learning_rate='auto' needs K(x, x) > 0 somewhere on the pool; give a number")
    return 1.0 / (float(loss.smoothness) * largest)


def checked_pack(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return points (k, d) and labels (k,), or say what is wrong with them."""
    points = as_pool(X, "X").points
    labels = real_array("y", y).reshape(-1)
    if len(labels) != len(points):
        raise InvalidInput(f"{len(points)} examples came with {len(labels)} labels")
    check_finite("y", labels)
    return points, labels


def _rows_in(bound: Pool, asked: Pool) -> NDArray[np.intp]:
    """Return where each asked point stands in the bound pool, or say that the function is not known there."""
    if asked.dimension == bound.dimension:
        both = np.concatenate([bound.points, asked.points]) + 0.0
        _, first, place = np.unique(both, axis=0, return_index=True, return_inverse=True)
        rows = first[np.ravel(place)[len(bound) :]]
        unknown = np.flatnonzero(rows >= len(bound))
    else:
        rows, unknown = np.empty(0, np.intp), np.zeros(1, np.intp)
    if unknown.size:
        raise InvalidInput(
            f"initial was given as values on a pool of {len(bound)} points, so this learner is unknown at "
            f"{asked.points[unknown[0]].tolist()}: give initial as a callable to predict anywhere"
        )
    return np.asarray(rows, dtype=np.intp)


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


def learns_like(learner: Any, kind: type) -> bool:
    """Say whether it is one of ours that predicts and learns as ours do; a subclass may do either in its own way."""
    return isinstance(learner, kind) and all(
        getattr(type(learner), name) is getattr(kind, name) for name in ("predict", "partial_fit")
    )


def check_learner_protocol(learner: Any) -> None:
    """Refuse what cannot be taught."""
    missing = [name for name in ("predict", "partial_fit") if not callable(getattr(learner, name, None))]
    if missing or isinstance(learner, type):
        raise InvalidInput(
            f"a learner needs predict(X) and partial_fit(X, y), as methods of an object; got {learner!r}"
        )


class BoxPupil(Pupil, Protocol):
    """A pupil that can be asked and shown anything in the box; `values` are those on its grid."""

    def at(self, points: Array) -> Array:
        """Return the learner's values at any points."""
        ...

    def learn_at(self, points: Array, labels: Array) -> None:
        """Show one pack."""
        ...

"""What learners share: the two methods of a gray box, initial functions, learning rates, what teachers may see."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from nimt import display
from nimt.arrays import Array, Indices, check_finite, is_number, real_array
from nimt.counting import say_count
from nimt.errors import CorruptLesson, InvalidInput
from nimt.kernels import Kernel, KernelLike
from nimt.losses import LOSSES, Loss, as_loss
from nimt.pools.pool import Pool, as_pool, same_points, values_on
from nimt.wording import Wording

LearningRate = float | str | Callable[[int], float]
InitialFunction = ArrayLike | Callable[[Array], ArrayLike]  # a number, values on a pool, or a callable
PAPERS_RATE = 0.01
PARTS = {"kernel": "kernel", "loss": "loss", "rate": "learning_rate"}  # each by the name of its parameter
State = dict[str, Any]  # named arrays, numbers, text, and dictionaries of them: what a file can hold


@runtime_checkable
class Learner(Protocol):
    """What a teacher can teach: scikit-learn's two methods are all that a gray box needs.

    A learner may also offer

    - `make_pupil(pool)`, or `make_pupil(pool, outputs)` for several outputs: a `Pupil`, which keeps its values on the
      pool up to date in a cheaper way than calling `predict` on all points after every step,
    - `state()` and `restore(state)`: named arrays, so that it can be saved, checkpointed and resumed.
    """

    # Any: a learner may take fewer kinds of arrays than `ArrayLike`, and a caller may give any of them
    def predict(self, X: Any) -> Any: ...

    def partial_fit(self, X: Any, y: Any) -> Any: ...


class StatefulLearner(Learner, Protocol):
    """A learner that can be saved, checkpointed and resumed."""

    def state(self) -> State:
        """Return named arrays."""
        ...

    def restore(self, state: State) -> None:
        """Take over what `state` returned."""
        ...


class Pupil(Protocol):
    """A learner at work on one pool. `loss` and `diagonal` are None for a learner that does not have them.

    `values` are (n,), or (n, q) for q outputs.
    """

    values: Array

    @property
    def loss(self) -> Loss | None: ...

    @property
    def diagonal(self) -> Array | None: ...

    def learn(self, indices: Indices, labels: Array) -> None:
        """Show one pack; `values` are those of the learner after it."""
        ...

    def to_learner(self) -> Learner:
        """Return the learner as it is now, as a separate copy."""
        ...

    def state(self) -> State:
        """Return what `restore` needs to continue bit for bit."""
        ...

    def restore(self, state: State) -> None: ...


class MovingPupil(Pupil, Protocol):
    """A pupil that need not compute the slopes of its loss again where they are known."""

    @property
    def takes_slopes(self) -> bool:
        """Whether `move` may be called instead of `learn`."""
        ...

    def move(self, indices: Indices, slopes: Array) -> None:
        """Learn from a pack; `slopes` are those of the loss at its examples."""
        ...


@runtime_checkable
class SeveralPupils(Pupil, Protocol):
    """A pupil with q outputs that can be shown examples one output at a time; `values` are (n, q)."""

    def learn_each(self, indices: Indices, labels: Array, weights: Array | None = None) -> None:
        """Show each output a pack of its own: indices, labels and weights are (q, k), one row per output."""
        ...


@runtime_checkable
class WeighingPupil(Pupil, Protocol):
    """A pupil that can multiply its step at each example by a weight."""

    @property
    def takes_weights(self) -> bool:
        """Whether `learn_weighted` may be called."""
        ...

    def learn_weighted(self, indices: Indices, labels: Array, weights: Array) -> None:
        """Show one pack; weights are (k,)."""
        ...


@runtime_checkable
class MixingPupil(Pupil, Protocol):
    """A pupil with q outputs that can be mixed; `values` are (n, q)."""

    def mix(self, matrix: Array) -> None:
        """Do f <- A f with a matrix A (q, q)."""
        ...


@runtime_checkable
class BoxPupil(Pupil, Protocol):
    """A pupil in a `Box`: it can be evaluated at, and shown, any point; `values` are those on the grid of the box."""

    def at(self, points: Array) -> Array:
        """Return the learner's values at any points."""
        ...

    def learn_at(self, points: Array, labels: Array) -> None:
        """Show one pack of points anywhere."""
        ...


class MovingBoxPupil(BoxPupil, Protocol):
    """A pupil in a `Box` that need not compute the slopes of its loss, nor its values, where they are known."""

    loss: Loss

    @property
    def takes_slopes(self) -> bool:
        """Whether `move_at` may be called instead of `learn_at`."""
        ...

    def move_at(self, points: Array, slopes: Array) -> None:
        """Learn from a pack of points anywhere; `slopes` are those of the loss at its examples."""
        ...


@runtime_checkable
class FollowingPupil(BoxPupil, Protocol):
    """A pupil in a `Box` that also keeps its values at other fixed points up to date."""

    followed: Array

    def follow(self, points: Array) -> None:
        """Keep the values at these points in `followed` from now on."""
        ...


@runtime_checkable
class CompilablePupil(Pupil, Protocol):
    """A pupil on a pool that can add a centre by compiled code, with the same result to the last bit."""

    def use_compiled(self, add_center: Callable[..., int]) -> None:
        """Use this function from now on (`engines/compiled_steps/newton_steps`)."""
        ...


@functools.lru_cache(maxsize=64)  # to read a signature takes longer than all that is done with it
def defaults_of(kind: type) -> Mapping[str, Any]:
    """Return the parameters of a constructor with their defaults."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(kind).parameters.items()
    return MappingProxyType({name: part.default for name, part in parameters if part.kind not in kinds})


class Described:
    """A learner that is described by its parameters and its state: attributes whose names end in an underscore."""

    learned: ClassVar[tuple[str, ...]] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the constructor; if `deep`, also those of parts, as kernel__width."""
        found = {name: getattr(self, name) for name in self._defaults()}
        parts = {name: part for name, part in found.items() if deep and hasattr(part, "get_params")}
        for name, part in parts.items():
            found |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the constructor, those of a part by names as kernel__width."""
        parts: dict[str, dict[str, Any]] = {}
        known = self._defaults()
        for name, value in params.items():
            first, _, rest = name.partition("__")
            if first not in known:
                raise InvalidInput(f"{type(self).__name__} has no parameter {first!r}; it has {', '.join(known)}")
            if rest:
                parts.setdefault(first, {})[rest] = value
            else:
                setattr(self, name, value)
        for name, inner in parts.items():
            part = getattr(self, name)
            setattr(self, name, (part.with_params if isinstance(part, Kernel) else part.set_params)(**inner))
        return self

    @classmethod
    def _defaults(cls) -> Mapping[str, Any]:
        kind: Any = cls  # mypy does not take a class for something with a hash
        return defaults_of(kind)

    def __repr__(self) -> str:
        with np.printoptions(threshold=6, edgeitems=2):
            changed = [
                f"{name}={' '.join(repr(getattr(self, name)).split())}"
                for name, default in self._defaults().items()
                if not np.array_equal(getattr(self, name), default)
            ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator  # it calls this, so it is loaded

        return BaseEstimator.__sklearn_tags__(self)

    def state(self) -> State:
        """Return what was learned, as named arrays."""
        return {name: np.asarray(getattr(self, name)) for name in self.learned if name in vars(self)}

    def restore(self, state: State) -> None:
        """Take over what `state` returned."""
        for name in self.learned:
            if name in state:
                value = np.array(state[name])
                if value.dtype.kind not in "biuf":
                    raise CorruptLesson(f"the file was altered: {name!r} of a learner is {state[name]!r:.80}")
                setattr(self, name, value.item() if value.ndim == 0 else value)

    def _repr_html_(self) -> str:
        # instead of scikit-learn's diagram, which calls everything without `fit` "not fitted"
        steps = int(getattr(self, "steps_", 0))
        taught = f", taught in {steps:,} step{'s' if steps > 1 else ''}" if steps else ""
        parameters = self.get_params(deep=False)
        return display.diagram(f"{type(self).__name__}{taught}", parameters)

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class StartsFromInitial:
    """What is shared by learners that start from a function: a number, a callable, or values on a pool.

    Values on a `Grid` are interpolated between its points, linearly along each axis; values on `Points` are known there
    only.
    """

    initial: InitialFunction
    pool_: Pool

    def check_initial(self) -> None:
        """Refuse an initial function that has a value which is not a finite number."""
        if type(self.initial) is float and math.isfinite(self.initial):
            return
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

    def initial_on(self, pool: Pool, outputs: tuple[int, ...] | None = ()) -> Array:
        """Return the untaught part, the initial function, on a pool; outputs=None for those it has itself."""
        if type(self.initial) is float and math.isfinite(self.initial):
            return np.full((len(pool), *(outputs or ())), self.initial)
        if not self.initial_is_table():
            return values_on(pool, self.initial, "initial", outputs)
        bound: Pool | None = getattr(self, "pool_", None)
        if bound is None:
            raise InvalidInput(
                "initial was given as values, and values need a pool: teach() binds them to its own; "
                "give a number or a callable to predict without one"
            )
        table = values_on(bound, self.initial, "initial", outputs)
        if pool is bound or same_points(pool, bound):
            return table
        return bound.interpolate(table, pool.points, "initial")


def check_rate(rate: LearningRate) -> None:
    """Refuse a learning rate that is neither a positive number, nor a callable, nor "auto"."""
    if callable(rate):
        return
    if isinstance(rate, str):
        if rate != "auto":
            raise _refuse_rate("a number", rate)
        return
    if not is_number(rate) or not 0 < rate < np.inf:
        raise _refuse_rate("a positive number", rate)


def _refuse_rate(kind: str, rate: object) -> InvalidInput:
    other = Wording(", a callable of the step", "")
    return InvalidInput(other.embed(f"must be {kind}", f" or 'auto', got {rate!r}"), parameter="learning_rate")


def rate_at(rate: float | Callable[[int], float], step: int) -> float:
    """Return the learning rate at a step, and refuse an invalid value from a schedule."""
    value = rate(step) if callable(rate) else rate
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(
            f"returned {value!r} at step {step}", parameter="learning_rate", way_out="it must be a positive number"
        )
    return float(value)


def auto_rate(loss: Loss, diagonal: ArrayLike) -> float:
    """Return 1 / (L max K(x, x)), the largest rate at which no step overshoots; 0.01 for a loss without such a rate."""
    if not np.isfinite(loss.smoothness):
        return PAPERS_RATE
    largest = float(np.max(np.asarray(diagonal)))
    if largest <= 0:
        problem = "needs K(x, x) > 0 somewhere on the pool"
        raise InvalidInput(problem, parameter="learning_rate", value="auto", way_out="give a number")
    return 1.0 / (float(loss.smoothness) * largest)


def check_pack(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return points (k, d) and labels (k,) or (k, q), or say what is wrong with them."""
    points = as_pool(X, "X").points
    labels = real_array("y", y)
    if labels.ndim != 2 or labels.shape[1] == 1:
        labels = labels.reshape(-1)
    if len(labels) != len(points):
        raise InvalidInput(f"{say_count(len(points), 'example', 'd')} came with {say_count(len(labels), 'label', 'd')}")
    check_finite("y", labels)
    return points, labels


def weigh_slopes(slopes: Array, weights: ArrayLike | None) -> Array:
    """Return the slopes (k,) or (k, q) of a pack times the weights (k,) of its examples, which may be left out."""
    if weights is None:
        return slopes
    given = real_array("sample_weight", weights)
    if given.shape != slopes.shape[:1]:
        raise InvalidInput(f"must have shape {slopes.shape[:1]}, got {given.shape}", parameter="sample_weight")
    check_finite("sample_weight", given)
    return np.asarray(slopes * given.reshape(-1, *[1] * (slopes.ndim - 1)))


def find_known_parts(learner: object) -> dict[str, Any]:
    """Return the parts of a learner by their names, None for one that it does not have.

    Examples
    --------
    >>> import nimt
    >>> find_known_parts(nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1))
    {'kernel': rbf(width=0.5), 'loss': 'square', 'rate': 0.1}
    """
    kernel = getattr(learner, "kernel", None)
    kernel = getattr(learner, "feature_kernel", None) if kernel is None else kernel
    loss = getattr(learner, "loss", None)
    rate = getattr(learner, "learning_rate", None)
    return {
        "kernel": kernel if isinstance(kernel, Kernel | tuple) else None,  # a tuple of a class of learners
        "loss": loss if isinstance(loss, Loss) or _is_name(loss) else None,
        "rate": rate if is_number(rate) or callable(rate) or _is_auto(rate) or isinstance(rate, tuple) else None,
    }


def find_rate(pupil: object, rate: Any) -> Any:
    """Return the rate of a learner at work: for "auto" what that stands for, None for a schedule."""
    if callable(rate) or (isinstance(rate, tuple) and any(map(callable, rate))):
        return None
    return pupil.rate() if _is_auto(rate) and hasattr(pupil, "rate") else rate


def find_disagreement(given: Mapping[str, Any], known: Mapping[str, Any]) -> str | None:
    """Return a sentence if a part that a teacher was given is not the learner's, None if all are."""
    for part, own in known.items():
        told = given.get(part)
        if told is None or own is None or _is_same(part, told, own):
            continue
        name = PARTS[part]
        return (
            f"the teacher was given {name}={told!r}, and the learner has {own!r}: leave {name}= out, and the teacher "
            f"sees the learner's"
        )
    return None


def _is_same(part: str, one: KernelLike | Loss | str | float, other: Any) -> bool:
    if part == "loss":
        return bool(as_loss(one) == as_loss(other))  # type: ignore[arg-type]
    return bool(type(one) is type(other) and one == other) if part == "kernel" else one == other


def _is_auto(rate: object) -> bool:
    return isinstance(rate, str) and rate == "auto"


def _is_name(loss: object) -> bool:
    return isinstance(loss, str) and loss in LOSSES

"""Losses L(f, y) of one prediction and one label: their value, slope dL/df, and how fast the slope can change."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from nimt.arrays import Array, check_positive
from nimt.classes import check_probabilities
from nimt.errors import InvalidInput, name_thing
from nimt.inheritance import behaves_like
from nimt.wording import Wording


@runtime_checkable
class Loss(Protocol):
    """What a loss must have; write your own with these three and pass an instance as `loss=`.

    `value` and `slope` work elementwise on arrays; `smoothness` is the Lipschitz constant of `slope` in f,
    `inf` where there is none.

    A loss may also have
    - `lipschitz`: the Lipschitz constant of `value` in f (`inf` where there is none),
    - `convex`: whether `value` is convex in f,
    - `couples_outputs`: whether the slope at one output depends on the others, as that of a softmax does; `value` then
      returns terms whose sum over outputs is the loss, and both take arrays (n, q) only,
    - `teaches_classes`: whether the labels are classes, and f itself need not tend to them,
    - `check_labels(y)`: refuse labels outside its domain,
    - `compiled_twin()`: the number by which compiled code knows its slope, and the slope's parameter. To have a loss of
      your own compiled, write it as one function with `nimt.compiled`.
    """

    @property
    def smoothness(self) -> float: ...

    def value(self, f: Array, y: Array) -> Array: ...

    def slope(self, f: Array, y: Array) -> Array: ...


class _WithTwin:
    """A loss whose slope is also in compiled code; a subclass with another slope has no twin."""

    twin: ClassVar[int]
    written_by: ClassVar[type]

    def __init_subclass__(cls) -> None:
        if "twin" in cls.__dict__:
            cls.written_by = cls

    def compiled_twin(self) -> tuple[int, float] | None:
        """Return the number by which compiled code knows the slope, and its parameter (1 for a slope without one)."""
        if not behaves_like(self, self.written_by, "slope"):
            return None
        return self.twin, float(getattr(self, "delta", 1.0))


@dataclass(frozen=True)
class Square(_WithTwin):
    """L = (y - f)^2, slope 2 (f - y).

    The factor 2 stays, as in the paper; many books use (y - f)^2 / 2 and drop it, which halves the learning rate.

    Examples
    --------
    >>> float(Square().slope(np.array(3.0), np.array(1.0)))
    4.0
    """

    smoothness: ClassVar[float] = 2.0
    lipschitz: ClassVar[float] = np.inf
    convex: ClassVar[bool] = True
    twin: ClassVar[int] = 0

    def value(self, f: Array, y: Array) -> Array:
        return (y - f) ** 2

    def slope(self, f: Array, y: Array) -> Array:
        return 2.0 * (f - y)


@dataclass(frozen=True)
class Hinge(_WithTwin):
    """L = max(0, 1 - y f), slope -y where y f < 1 and 0 elsewhere.

    Any finite label is taken: the paper's boundary is taught with real-valued ones. At the kink y f = 1 the slope is 0.
    """

    smoothness: ClassVar[float] = np.inf
    lipschitz: ClassVar[float] = np.inf  # |y|, and any finite label is taken
    convex: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True
    twin: ClassVar[int] = 1

    def value(self, f: Array, y: Array) -> Array:
        return np.maximum(0.0, 1.0 - y * f)

    def slope(self, f: Array, y: Array) -> Array:
        return np.where(y * f < 1.0, -y, 0.0)


@dataclass(frozen=True)
class Logistic(_WithTwin):
    """L = log(1 + exp(-y f)) for labels -1 and +1, slope -y / (1 + exp(y f))."""

    smoothness: ClassVar[float] = 0.25
    lipschitz: ClassVar[float] = 1.0
    convex: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True
    predicts_logits: ClassVar[bool] = True
    twin: ClassVar[int] = 2

    def value(self, f: Array, y: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -y * f))

    def slope(self, f: Array, y: Array) -> Array:
        from scipy.special import expit  # here, since most lessons do without it

        return np.asarray(-y * expit(-y * f))

    def check_labels(self, y: Array) -> None:
        wrong = np.flatnonzero(np.abs(y) != 1.0)
        if wrong.size:
            raise InvalidInput(
                f"the logistic loss takes the labels -1 and +1 only, got {np.ravel(y)[wrong[0]]!s} at index {wrong[0]}"
            )


@dataclass(frozen=True)
class Huber(_WithTwin):
    """L = (y - f)^2 where |y - f| <= delta, and delta (2 |y - f| - delta) beyond.

    Twice the usual Huber loss, so that within delta it *is* the square loss of this package.
    """

    delta: float = 1.0
    smoothness: ClassVar[float] = 2.0
    convex: ClassVar[bool] = True
    twin: ClassVar[int] = 3

    @property
    def lipschitz(self) -> float:
        return 2.0 * self.delta

    def __post_init__(self) -> None:
        check_positive("delta", self.delta)

    def value(self, f: Array, y: Array) -> Array:
        distance = np.abs(y - f)
        return np.where(distance <= self.delta, distance**2, self.delta * (2.0 * distance - self.delta))

    def slope(self, f: Array, y: Array) -> Array:
        return 2.0 * np.clip(f - y, -self.delta, self.delta)


@dataclass(frozen=True)
class Absolute(_WithTwin):
    """L = |y - f|, slope sign(f - y): every correction has the same size."""

    smoothness: ClassVar[float] = np.inf
    lipschitz: ClassVar[float] = 1.0
    convex: ClassVar[bool] = True
    twin: ClassVar[int] = 4

    def value(self, f: Array, y: Array) -> Array:
        return np.abs(y - f)

    def slope(self, f: Array, y: Array) -> Array:
        return np.sign(f - y)


@dataclass(frozen=True)
class CrossEntropy:
    """L = -sum_c y_c log p_c with p = softmax(f), for labels (n, q) that are one-hot or other probabilities.

    The outputs f are logits of q >= 2 classes. They are coupled: the slope is softmax(f) - y, and `value` returns the
    terms of the sum, one for each output. Adding a number to all outputs changes nothing, so that a learner is right
    where its largest output is that of the class, and f does not tend to the labels.

    Examples
    --------
    >>> CrossEntropy().slope(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]]))
    array([[-0.5,  0.5]])
    """

    smoothness: ClassVar[float] = 0.5  # the largest eigenvalue that diag(p) - p p' can have
    lipschitz: ClassVar[float] = math.sqrt(2.0)  # |p - y| <= sqrt(2) for two points of the simplex
    convex: ClassVar[bool] = True
    couples_outputs: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True
    predicts_logits: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        from scipy.special import log_softmax

        return np.asarray(y * -log_softmax(f, axis=-1))

    def slope(self, f: Array, y: Array) -> Array:
        from scipy.special import softmax

        return np.asarray(softmax(f, axis=-1) - y)

    def check_labels(self, y: Array) -> None:
        check_probabilities(y, "the cross-entropy loss")

    def coupled_twin(self) -> int | None:
        """Return the number by which compiled engines know it; its slope at one output needs all of them."""
        return 5 if behaves_like(self, CrossEntropy, "slope", "value") else None


LOSSES: dict[str, Callable[[], Loss]] = {
    "square": Square,
    "hinge": Hinge,
    "logistic": Logistic,
    "huber": Huber,
    "absolute": Absolute,
    "crossentropy": CrossEntropy,
}


def as_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or `loss` itself if it is one.

    Examples
    --------
    >>> as_loss("huber")
    Huber(delta=1.0)
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            other = Wording(", or an object of your own; got ", ", got ")
            raise InvalidInput(other.embed(f"must be one of {', '.join(LOSSES)}", name_thing(loss)), parameter="loss")
        return LOSSES[loss]()
    if isinstance(loss, type) or not all(hasattr(loss, name) for name in ("value", "slope", "smoothness")):
        raise InvalidInput(
            f"a loss needs value(f, y), slope(f, y) and smoothness; {name_thing(loss)} does not have all three"
        )
    return loss


def make_described_loss(description: object) -> Loss | None:
    """Return the loss that a record describes, by its name or as an object, None where it is not one of nimt's.

    Examples
    --------
    >>> make = make_described_loss
    >>> make("hinge"), make({"type": "Huber", "delta": 2.0}), make({"type": "Mine"})
    (Hinge(), Huber(delta=1.0), None)
    """
    name = description.get("type") if isinstance(description, Mapping) else description
    kind = LOSSES.get(str(name).lower())
    return None if kind is None else kind()


def couples_outputs(loss: Loss | None) -> bool:
    """Say whether the slope of a loss at one output depends on the others."""
    return bool(getattr(loss, "couples_outputs", False))


def teaches_classes(loss: Loss | None) -> bool:
    """Say whether the labels that a loss takes are classes."""
    return bool(getattr(loss, "teaches_classes", False))


def predicts_logits(loss: Loss | None) -> bool:
    """Say whether f grows without end where a class is sure, so that it does not tend to the labels."""
    return bool(getattr(loss, "predicts_logits", False))


def check_labels(loss: Loss, y: Array) -> None:
    """Let the loss refuse labels outside its domain, if it checks them."""
    check = getattr(loss, "check_labels", None)
    if check is not None:
        check(y)


def engine_code_of(loss: Loss) -> tuple[int, float] | None:
    """Return by what number and parameter compiled engines know a loss, or None where they do not."""
    coupled = getattr(loss, "coupled_twin", lambda: None)()
    return twin_of(loss) if coupled is None else (coupled, 1.0)


def twin_of(loss: Loss) -> tuple[int, float] | None:
    """Return by what number and parameter compiled code knows a loss, or None where it does not."""
    tell = getattr(loss, "compiled_twin", None)
    return None if tell is None else tell()

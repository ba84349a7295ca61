"""What every loss L(f, y) has: its value, its slope dL/df, how fast the slope can change; and those known by a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol, runtime_checkable

from nimt.arrays import Array, is_number
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
    - `check_made_labels(y)`: refuse labels that a teacher made, which may lie between the true ones and beyond,
    - `compiled_twin()`: the number by which compiled code knows it, and its parameter. To have a loss of your own
      compiled, write it as one function with `nimt.compiled`.
    """

    @property
    def smoothness(self) -> float: ...

    def value(self, f: Array, y: Array) -> Array: ...

    def slope(self, f: Array, y: Array) -> Array: ...


Own = tuple[float, float]  # what a slope at one output needs beside f and y: its parameter, or what all outputs share
LOSSES: dict[str, Callable[[], Loss]] = {}  # by their names; `nimt.losses` imports them all


class KnownLoss:
    """A loss of nimt: text knows it by a name, compiled code by a number, which it gets when its class is made.

    Beside `value` and `slope` on arrays it has both for one prediction and one label, as static methods of plain
    numbers that numba compiles: `value_at(f, y, own)` and `slope_at(f, y, own)`. `own` is `(parameter, 0.0)`; where the
    loss couples outputs it is what `shared_at(f, first, outputs)` computes from those of a point, which begin at
    `f[first]`. A subclass that changes any of these is a loss of the user, and runs in the reference loop.
    """

    number: ClassVar[int]
    written_by: ClassVar[type]
    couples_outputs: ClassVar[bool] = False
    parameter: float = 1.0  # what its compiled functions get as `own[0]`
    has_simple_value: ClassVar[bool] = False  # never negative, and so short that a loop over all points is vectorised

    def __init_subclass__(cls, name: str | None = None) -> None:
        if name is not None:
            if not cls.__module__.startswith("nimt."):  # what is compiled, and kept on disk, contains all of these
                raise InvalidInput(f"only a loss of nimt has a name, got {name!r}: write yours with nimt.compiled")
            cls.number, cls.written_by = len(LOSSES), cls
            LOSSES[name] = cls  # type: ignore[assignment]  # it has a value and a slope

    def compiled_twin(self) -> tuple[int, float] | None:
        """Return the number by which compiled code knows the loss, and its parameter."""
        if not behaves_like(self, self.written_by, "value", "slope", "value_at", "slope_at"):
            return None
        return self.number, self.parameter


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
    if not is_number(loss.smoothness):  # a subclass of Loss inherits one that returns nothing
        raise InvalidInput(
            f"a loss needs smoothness, a number, inf where there is none; that of {name_thing(loss)} is "
            f"{loss.smoothness!r}"
        )
    return loss


def make_described_loss(description: object) -> Loss | None:
    """Return a loss of the kind that a record describes, with its usual parameters, None where it is not one of nimt's.

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
    check = find_label_check(loss)
    if check is not None:
        check(y)


def find_label_check(loss: Loss | None, made: bool = False) -> Callable[[Array], None] | None:
    """Return the function by which a loss refuses labels, None where it takes all of them.

    Of labels that a teacher made (`made`), a loss may take some that lie outside its domain.
    """
    check: Callable[[Array], None] | None = getattr(loss, "check_made_labels", None) if made else None
    return check or getattr(loss, "check_labels", None)


def twin_of(loss: Loss) -> tuple[int, float] | None:
    """Return by what number and parameter compiled code knows a loss, or None where it does not."""
    tell = getattr(loss, "compiled_twin", None)
    return None if tell is None else tell()

"""What a teacher may see of a learner, where it has it: its kernel, its loss, its learning rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nimt.arrays import is_number
from nimt.kernels import Kernel, KernelLike
from nimt.losses import LOSSES, Loss, as_loss

PARTS = {"kernel": "kernel", "loss": "loss", "rate": "learning_rate"}  # each by the name of its parameter


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

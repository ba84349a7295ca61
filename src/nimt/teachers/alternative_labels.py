"""Labels that some steps take from another target."""

from __future__ import annotations

from dataclasses import dataclass

from nimt.arrays import is_number
from nimt.errors import InvalidInput
from nimt.pools.pool import FunctionLike


@dataclass(frozen=True, eq=False)
class AlternativeLabels:
    """Label a step's whole pack by another target, with a probability: the paper's alternative teaching.

    The examples are still chosen by the true target.

    Parameters
    ----------
    other_target : array or callable
        Like the target of the lesson.
    probability : float in [0, 1]
    """

    other_target: FunctionLike
    probability: float = 0.2

    def __post_init__(self) -> None:
        if not is_number(self.probability) or not 0 <= self.probability <= 1:
            raise InvalidInput(f"must be a number from 0 to 1, got {self.probability!r}", parameter="probability")

"""The logistic loss, for labels -1 and +1, and for those that a teacher makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Logistic(KnownLoss, name="logistic"):
    """L = log(1 + exp(-y f)) for labels -1 and +1, slope -y / (1 + exp(y f)).

    A teacher that makes labels may show any number: (1 + y) / 2 then stands for the share of +1, L is log(1 + exp(f)) -
    f (1 + y) / 2 and its slope sigma(f) - (1 + y) / 2. For -1 and +1 both are the same as above.
    """

    smoothness: ClassVar[float] = 0.25
    lipschitz: ClassVar[float] = 1.0
    convex: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True
    predicts_logits: ClassVar[bool] = True

    def value(self, f: Array, y: Array) -> Array:
        hard = np.logaddexp(0.0, -y * f)
        is_class = np.abs(y) == 1.0
        return np.asarray(
            hard if is_class.all() else np.where(is_class, hard, np.logaddexp(0.0, f) - f * (1.0 + y) / 2.0)
        )

    def slope(self, f: Array, y: Array) -> Array:
        from scipy.special import expit  # here, since most lessons do without it

        hard = -y * expit(-y * f)
        is_class = np.abs(y) == 1.0
        return np.asarray(hard if is_class.all() else np.where(is_class, hard, expit(f) - (1.0 + y) / 2.0))

    def check_labels(self, y: Array) -> None:
        wrong = np.flatnonzero(np.abs(y) != 1.0)
        if wrong.size:
            raise InvalidInput(
                f"the logistic loss takes the labels -1 and +1 only, got {np.ravel(y)[wrong[0]]!s} at index {wrong[0]}"
            )

    def check_made_labels(self, y: Array) -> None:
        """Take any number."""

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> Any:
        is_class = abs(y) == 1.0
        z = -y * f if is_class else f
        value = max(0.0, z) + np.log1p(np.exp(-abs(z)))
        return value if is_class else value - f * (1.0 + y) / 2.0

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> Any:
        is_class = abs(y) == 1.0
        z = -y * f if is_class else f
        e = np.exp(-abs(z))
        share = 1.0 / (1.0 + e) if z >= 0.0 else e / (1.0 + e)
        return -y * share if is_class else share - (1.0 + y) / 2.0

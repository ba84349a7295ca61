"""The logistic loss, for labels -1 and +1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class Logistic(KnownLoss, name="logistic"):
    """L = log(1 + exp(-y f)) for labels -1 and +1, slope -y / (1 + exp(y f))."""

    smoothness: ClassVar[float] = 0.25
    lipschitz: ClassVar[float] = 1.0
    convex: ClassVar[bool] = True
    teaches_classes: ClassVar[bool] = True
    predicts_logits: ClassVar[bool] = True

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

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> Any:
        z = -y * f
        return max(0.0, z) + np.log1p(np.exp(-abs(z)))

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> Any:
        z = -y * f
        if z >= 0.0:
            return -y / (1.0 + np.exp(-z))
        e = np.exp(z)
        return -y * e / (1.0 + e)

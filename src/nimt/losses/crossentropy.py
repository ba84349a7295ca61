"""The cross-entropy of a softmax: a loss whose outputs are coupled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.classes import check_probabilities
from nimt.losses.loss import KnownLoss, Own


@dataclass(frozen=True)
class CrossEntropy(KnownLoss, name="crossentropy"):
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

    @staticmethod
    def shared_at(f: Array, first: int, outputs: tuple[int, ...]) -> Own:
        """Return the largest of the outputs, and the sum of exp(f - largest)."""
        top = f[first]
        for o in range(1, len(outputs)):
            top = max(top, f[first + np.uint64(o)])
        total = 0.0
        for o in range(len(outputs)):
            total += np.exp(f[first + np.uint64(o)] - top)
        return top, total

    @staticmethod
    def value_at(f: float, y: float, own: Own) -> Any:
        return y * -(f - own[0] - np.log(own[1]))

    @staticmethod
    def slope_at(f: float, y: float, own: Own) -> Any:
        return np.exp(f - own[0]) / own[1] - y

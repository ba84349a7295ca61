"""Large errors amid errors of the same sign: what `ResponsiveTeacher` shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Flags
from nimt.kernels import Kernel
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool
from nimt.teachers.scores.by_product import ByProduct, add_output_axes, squared_lengths
from nimt.teachers.scores.score import add_outputs


@dataclass(frozen=True, eq=False)
class Response(ByProduct, name="response"):
    """|r|^p (|K r| / |K_x|)^(2 - p) where r and K r have the same sign; elsewhere -1 / |r|, below all of those.

    Of several outputs |r| is the length, and K r is taken along r.
    """

    kernel: Kernel
    p: float

    is_offered: ClassVar[bool] = False

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        kept = self.kept_on(pool)
        errors = predictions - target
        return weigh_response(errors, kept.operator.apply(errors) / add_output_axes(kept.constants[1], errors), self.p)

    def constants_among(self, operator: DenseOperator, offered: Flags) -> Array:
        return np.vstack([np.full(len(offered), float(self.p)), lengths_from(squared_lengths(operator, offered))])

    @staticmethod
    def compile_joined() -> Callable[..., Any]:
        def response(f, y, first, q, constants, s):  # type: ignore[no-untyped-def]
            square, along = 0.0, 0.0
            for o in range(q):
                r = f[first + np.uint64(o)] - y[first + np.uint64(o)]
                square += r * r
                along += r * (constants[2 + o, s] / constants[1, s])
            size = abs(r) if q == 1 else np.sqrt(square)
            if along > 0.0:
                p = constants[0, s]
                if p == 1.25:  # the usual one: three roots take a third of the time of two powers
                    root = np.sqrt(along)
                    return np.sqrt(size) * root * np.sqrt(root)
                return size ** (2.0 * p - 2.0) * along ** (2.0 - p)
            return -np.inf if size == 0.0 else -1.0 / size

        return response


def lengths_from(squares: Array) -> Array:
    """Return |K_x| from |K_x|^2, and 1 for a column of zeros, along which there is no error."""
    return np.where(squares > 0, np.sqrt(squares), 1.0)


def weigh_response(errors: Array, products: Array, p: float) -> Array:
    """Return the scores of errors (n,) or (n, q); `products` are K r, divided by |K_x|.

    Examples
    --------
    >>> weigh_response(np.array([4.0, -2.0, 0.0]), np.array([1.0, 3.0, 1.0]), 1.5)
    array([ 8. , -0.5, -inf])
    """
    along = add_outputs(errors * products)
    sizes = np.abs(errors) if errors.ndim == 1 else np.sqrt(add_outputs(errors * errors))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        helped = along > 0
        scores = sizes ** (2.0 * p - 2.0) * np.where(helped, along, 1.0) ** (2.0 - p)
        return np.where(helped, scores, -1.0 / sizes)

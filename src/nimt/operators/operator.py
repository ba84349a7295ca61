"""What every operator has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nimt.arrays import Array, Indices


@dataclass(frozen=True)
class Cost:
    """What an operator takes: bytes beyond the arrays of the lesson, and seconds per example shown."""

    memory: int
    seconds: float


class Operator(Protocol):
    """A kernel on a pool of n points. What K is stays with the kernel; how it is applied is decided here."""

    name: str

    def diagonal(self) -> Array:
        """Return K(x_i, x_i) for every point, shape (n,)."""
        ...

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        """Do values += K[:, indices] @ coefficients, in place; an index may occur twice.

        `values` are (n,) with coefficients (k,), or (n, q) with coefficients (k, q).
        """
        ...


def add_column(values: Array, column: Array, coefficient: Array) -> None:
    """Do values += column * coefficient, in place, for one output or several."""
    values += column * coefficient if values.ndim == 1 else np.multiply.outer(column, coefficient)

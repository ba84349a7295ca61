"""What every operator offers."""

from __future__ import annotations

from typing import Protocol

from nimt.arrays import Array, Indices


class Operator(Protocol):
    """A kernel on a pool of n points. What K is stays with the kernel; how it is applied is decided here."""

    name: str

    def diagonal(self) -> Array:
        """Return K(x_i, x_i) for every point, shape (n,)."""
        ...

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        """Do values += K[:, indices] @ coefficients, in place; an index may come twice."""
        ...

"""A function that was read, and how its values on the pool of a lesson are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from nimt.arrays import Array
from nimt.counting import say_count
from nimt.datasets import standardise
from nimt.errors import InvalidInput
from nimt.learners.learner import InitialFunction
from nimt.pools.pool import Grid, Points, Pool, same_points, values_on
from nimt.pools.prepared_points import PreparedPoints
from nimt.sources.resampling import resample
from nimt.wording import Wording

if TYPE_CHECKING:
    from nimt.teaching_sets.reference import Reference

NORMALISATIONS = ("none", "standard", "unit")


@dataclass(frozen=True, eq=False)
class Aside:
    """Rows of a table that are not taught: their points and targets, for measuring the error on rows never seen."""

    points: Array
    target: Array


@dataclass(frozen=True, eq=False)
class Source:
    """A function as it was read.

    Attributes
    ----------
    name : str
        The name of the file or of the function.
    pool : Grid, Points or None
        Where it is known; None for a function that is defined everywhere.
    values : array (n,), (n, q) for q outputs, or None
        Its values there; a colour picture has three outputs.
    function : callable on (n, d), or None
        For named functions only: gives the values on any other pool of its dimension.
    dimension : int or None
        Of the points; None if any will do.
    notes : tuple of str
        What was decided while reading it, one sentence each.
    start : number, callable, or None
        What a learner is given that starts from it, where that says more than its values on one pool.
    aside : Aside or None
        The rows of a table that are held out.
    reference : Reference or None
        The model of the rows of a table whose answers the values are.
    """

    name: str
    pool: Pool | None = None
    values: Array | None = None
    function: Callable[[Array], Array] | None = None
    dimension: int | None = None
    notes: tuple[str, ...] = ()
    start: InitialFunction | None = None
    aside: Aside | None = None
    reference: Reference | None = None

    def on(self, pool: Pool, of: str, *, strict: bool = False) -> tuple[Array, tuple[str, ...]]:
        """Return the values on a pool, shape (n,) or (n, q), and a note if they were resampled.

        Parameters
        ----------
        pool : Grid or Points
        of : str
            Whose pool that is, for the error message.
        strict : bool
            Refuse to resample.
        """
        if self.pool is not None and self.values is not None and same_points(self.pool, pool):
            return self.values, ()
        if self.function is not None:
            if self.dimension not in (None, pool.dimension):
                raise InvalidInput(
                    f"{self.name} is a function of {self.dimension} variable(s) and {of} has points of dimension "
                    f"{pool.dimension}: they cannot be in one lesson"
                )
            if (
                isinstance(pool, PreparedPoints) and self.dimension is not None
            ):  # a function of what the table holds, not of what it was scaled to
                return values_on(_as_in_the_table(pool, self.name), self.function, self.name), ()
            return values_on(pool, self.function, self.name), ()
        assert self.pool is not None and self.values is not None
        return self._resample_to(pool, of, strict)

    def _resample_to(self, pool: Pool, of: str, strict: bool) -> tuple[Array, tuple[str, ...]]:
        assert self.pool is not None and self.values is not None
        both_grids = isinstance(self.pool, Grid) and isinstance(pool, Grid)
        if not both_grids or self.pool.dimension != pool.dimension or pool.dimension > 2:
            raise InvalidInput(
                f"{self.name} is known on {self.pool!r} and {of} on {pool!r}: give both on the same points"
            )
        sizes = f"{self.name} is {size_of(self.pool)} and {of} {size_of(pool)}"
        if strict:
            leave_out = Wording("leave out strict=True", "leave out --strict")
            way_out = leave_out.embed("make them the same size, or ", " to have it resampled")
            raise InvalidInput(sizes, way_out=way_out)
        values = resample(self.values.reshape(*self.pool.shape, *self.values.shape[1:]), pool.shape)
        return values_on(pool, values, self.name), (f"{sizes}: {self.name} was resampled",)

    def normalise(self, how: str) -> Source:
        """Return the source with its values brought to mean 0 and deviation 1 ("standard") or to [0, 1] ("unit").

        A function given by a formula is not changed.
        """
        if how not in NORMALISATIONS:
            raise InvalidInput(f"must be one of {', '.join(NORMALISATIONS)}, got {how!r}", parameter="normalise")
        if how == "none" or self.values is None or self.function is not None:
            return self
        if self.values.min() == self.values.max():
            raise InvalidInput(
                f"{self.name} is {self.values.flat[0]:g} everywhere and cannot be normalised: leave that out"
            )
        if how == "standard":
            return replace(self, values=standardise(self.values))
        low, high = float(self.values.min()), float(self.values.max())
        scaled = (self.values / 2 - low / 2) / (
            high / 2 - low / 2
        )  # halved, so that the largest floats do not overflow
        return replace(self, values=scaled)


def _as_in_the_table(pool: PreparedPoints, name: str) -> Points:
    columns = pool.coordinates(np.arange(len(pool)))
    words = next((column for column, values in columns.items() if values.dtype.kind != "f"), None)
    if words is not None:
        raise InvalidInput(f"{name} is a function of numbers, and the column {words!r} has words: leave it out")
    return Points(np.column_stack(list(columns.values())))


def size_of(pool: Pool) -> str:
    """Return the size of a pool as text, for a picture the width first.

    Examples
    --------
    >>> import numpy as np
    >>> from nimt.pools import Points
    >>> size_of(Grid.like(np.zeros((2, 3)))), size_of(Points([0.0, 1.0]))
    ('3 x 2', '2 points')
    """
    if isinstance(pool, Grid) and pool.dimension > 1:
        return " x ".join(str(length) for length in reversed(pool.shape))
    return say_count(len(pool), "point", "d")

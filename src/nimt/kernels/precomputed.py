"""A kernel given as its matrix: between things that have names and no coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, check_finite, freeze, real_array
from nimt.errors import InvalidInput
from nimt.kernels.kernel import Kernel, as_rows, normalise
from nimt.pools.named import Named, check_words
from nimt.pools.pool import Pool

SYMMETRIC_WITHIN = 1e-9  # of the largest value
NEGATIVE_WITHIN = 1e-8  # of the largest eigenvalue: what rounding leaves of a zero
MOST_CHECKED = 3000  # rows whose eigenvalues are looked at; more take longer than the lesson


@dataclass(frozen=True, repr=False, eq=False)
class Precomputed(Kernel):
    """K(i, j) = gram[i, j]: how alike two things are, known beforehand for all pairs.

    Parameters
    ----------
    gram : array (n, n), symmetric and positive semidefinite
    names : n words, optional
        What the things are called; their numbers by default.
    edges : pairs of numbers, optional
        Of a graph that figures draw.

    Examples
    --------
    >>> import nimt
    >>> kernel = Precomputed([[1.0, 0.5], [0.5, 1.0]], names=["cat", "cart"])
    >>> lesson = nimt.teach(nimt.KernelLearner(kernel), nimt.GreedyTeacher(), kernel.pool, [1.0, 0.0])
    >>> lesson.examples()["name"].iloc[0]
    'cat'
    """

    gram: ArrayLike
    names: Iterable[str] = ()
    edges: ArrayLike | None = None
    word: ClassVar[str] = "Precomputed"

    def __post_init__(self) -> None:
        matrix = real_array("gram", self.gram)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise InvalidInput(f"must be a square matrix, got shape {matrix.shape}", parameter="gram")
        check_finite("gram", matrix)
        largest = np.abs(matrix).max()
        if (uneven := np.argwhere(np.abs(matrix - matrix.T) > SYMMETRIC_WITHIN * largest)).size:
            i, j = uneven[0]
            raise InvalidInput(
                f"is not symmetric: {matrix[i, j]:g} at row {i}, column {j}, {matrix[j, i]:g} at row {j}, column {i}",
                parameter="gram",
                way_out="give (gram + gram.T) / 2 if that is what you mean",
            )
        if len(matrix) <= MOST_CHECKED:
            values = np.linalg.eigvalsh(matrix)
            if values[0] < -NEGATIVE_WITHIN * max(values[-1], -values[0]):
                raise InvalidInput(
                    f"is not positive semidefinite: an eigenvalue is {values[0]:.3g}, so that no functions have this "
                    f"kernel",
                    parameter="gram",
                    way_out=f"add {-values[0]:.3g} to its diagonal, or set its negative eigenvalues to 0",
                )
        words = check_words(self.names or map(str, range(len(matrix))))
        if len(words) != len(matrix):
            raise InvalidInput(
                f"has {len(words)} words for the {len(matrix)} rows of gram", parameter="names", way_out="give one each"
            )
        normalise(self, gram=freeze(matrix), names=words)

    @cached_property
    def pool(self) -> Named:
        """All things, as the X of a lesson."""
        return Named(self.names, self.edges)

    def check_on(self, pool: Pool) -> None:
        if pool.point_names and self.names != pool.point_names:  # its rows and the pool must be the same things
            raise InvalidInput(f"{self!r} and {pool!r} have different names: teach on kernel.pool")
        super().check_on(pool)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        rows = self._numbers(X)
        return np.asarray(self.gram)[np.ix_(rows, rows if Y is None else self._numbers(Y))]

    def diag(self, X: ArrayLike) -> Array:
        return np.diagonal(np.asarray(self.gram))[self._numbers(X)]

    def rank(self, dimension: int) -> float:
        return float(len(np.asarray(self.gram)))

    def _numbers(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the rows of the matrix that points (n, 1) are."""
        points, count = as_rows(X), len(np.asarray(self.gram))
        if points.shape[1] != 1:
            raise InvalidInput(
                f"a precomputed kernel has things without coordinates, and the points have {points.shape[1]}: teach on "
                f"kernel.pool"
            )
        numbers = points[:, 0].astype(np.intp)
        wrong = (numbers != points[:, 0]) | (numbers < 0) | (numbers >= count)
        if wrong.any():
            raise InvalidInput(
                f"a precomputed kernel of {count} things has no thing {points[wrong][0, 0]:g}: teach on kernel.pool, "
                f"whose points are the numbers 0 to {count - 1}"
            )
        return numbers

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        given = super().get_params(deep)
        return given if given["edges"] is not None else {name: given[name] for name in ("gram", "names")}

    def __repr__(self) -> str:
        return f"Precomputed({len(np.asarray(self.gram))} x {len(np.asarray(self.gram))})"

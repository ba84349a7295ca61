"""The eigenvalues of a Gram matrix: by axes on a grid, dense where it is small, by Lanczos' iteration elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.linalg import eigh  # unlike that of scipy it releases the lock of Python, which a server needs
from threadpoolctl import threadpool_limits

from nimt.arrays import Array, Indices
from nimt.operators.grid import GridOperator
from nimt.pools.pool import Grid, Pool

LARGEST_DENSE = 2_500  # points; beyond it a full decomposition takes more than some ten seconds
GRAM_BYTES = 2**29  # a Gram matrix up to this size is kept, beyond it kernel rows are computed for every product
LANCZOS_STEPS = 250
FEW_ROWS = 500  # of matrices for which one thread is enough
ROUNDING = float(np.finfo(np.float64).eps)

Product = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K = V diag(values) V', where V is the Kronecker product of one orthogonal matrix per axis.

    A pool without axes has a single matrix, V itself.
    """

    values: Array
    axes: tuple[Array, ...]

    def modes(self, on_points: Array) -> Array:
        """Return V' r."""
        return _apply([axis.T for axis in self.axes], on_points)

    def points(self, in_modes: Array) -> Array:
        """Return V c."""
        return _apply(self.axes, in_modes)

    def spread(self, in_modes: Array) -> Array:
        """Return sum_k V_ik^2 c_k for every point i."""
        return _apply(self._squares, in_modes)

    def collect(self, on_points: Array) -> Array:
        """Return sum_i V_ik^2 d_i for every mode k."""
        return _apply([axis.T for axis in self._squares], on_points)

    @cached_property
    def _squares(self) -> list[Array]:
        return [axis**2 for axis in self.axes]

    @property
    def rounding(self) -> float:
        """The size below which an eigenvalue is not known to differ from 0."""
        return len(self.values) * ROUNDING * float(self.values.max(initial=0.0))


def limit_threads(rows: int = 0) -> AbstractContextManager[object]:
    """Return a block in which BLAS takes one thread where matrices have few rows, as vectors do.

    Several would wait for each other: with other programs at work, a hundred times longer than they compute.
    """
    return threadpool_limits(limits=1, user_api="blas") if rows <= FEW_ROWS else nullcontext()


def _apply(matrices: Sequence[Array], vector: Array) -> Array:
    if len(matrices) == 1:  # thousands of products with a small matrix: most of their time went to tensordot itself
        return np.asarray(matrices[0] @ vector)
    table = vector.reshape([len(matrix) for matrix in matrices])
    for axis, matrix in enumerate(matrices):
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return np.ascontiguousarray(table).ravel()


def spectrum_of(
    kernel: Any, pool: Pool, rows: Indices | None = None, *, largest: int = LARGEST_DENSE
) -> Spectrum | None:
    """Return the spectrum of K on the pool, or on some of its rows; None where that is too much work.

    A kernel that is a product of one-dimensional ones is decomposed axis by axis: 92 x 92 points need two matrices of
    92 x 92 and no Gram matrix.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> picture = spectrum_of(rbf(width=0.5), Grid.like(np.zeros((92, 92))))
    >>> len(picture.values), [axis.shape for axis in picture.axes]
    (8464, [(92, 92), (92, 92)])
    """
    if rows is None:
        factors = grid_factors(kernel, pool)
        if factors is not None:
            return _of_factors(*factors)
    count = len(pool) if rows is None else len(rows)
    if count > largest:
        return None
    with limit_threads(count):
        values, vectors = eigh(_gram(kernel, pool, rows))
    return Spectrum(np.maximum(values, 0.0), (vectors,))


def grid_factors(kernel: Any, pool: Pool) -> tuple[float, list[Array]] | None:
    """Return K(0) and a matrix per axis, where K is their Kronecker product."""
    if not isinstance(pool, Grid) or not kernel.is_stationary():
        return None
    if pool.dimension == 1 and len(pool) > LARGEST_DENSE:
        return None
    window = GridOperator(kernel, pool)
    if window.taps is None or max(pool.shape) > LARGEST_DENSE:
        return None
    matrices = []
    for taps, length in zip(window.taps, pool.shape, strict=True):
        column = np.zeros(length)
        half = taps[len(taps) // 2 :]
        column[: len(half)] = half
        places = np.arange(length)
        matrices.append(column[np.abs(places[:, np.newaxis] - places)])
    return window.height, matrices


def _of_factors(height: float, matrices: list[Array]) -> Spectrum:
    values: Array = np.full(1, height)
    vectors = []
    for matrix in matrices:
        with limit_threads(len(matrix)):
            along, basis = eigh(matrix)
        values = np.multiply.outer(values, np.maximum(along, 0.0)).ravel()
        vectors.append(basis)
    return Spectrum(values, tuple(vectors))


def _gram(kernel: Any, pool: Pool, rows: Indices | None) -> Array:
    points = pool.points if rows is None else pool.points[rows]
    return np.asarray(kernel(points, points), dtype=np.float64)


def product_with(kernel: Any, pool: Pool, rows: Indices | None = None) -> Product:
    """Return the function a -> K[:, rows] a, of coefficients at some rows to values at all points, matrix-free."""
    if isinstance(pool, Grid) and kernel.is_stationary():
        window = GridOperator(kernel, pool)

        def by_window(coefficients: Array) -> Array:
            everywhere = coefficients
            if rows is not None:
                everywhere = np.zeros(len(pool))
                everywhere[rows] = coefficients
            return window.convolve(everywhere)

        return by_window
    points = pool.points
    shown = points if rows is None else points[rows]
    if 8 * len(points) * len(shown) <= GRAM_BYTES:
        columns = np.asarray(kernel(points, shown), dtype=np.float64)
        return lambda coefficients: np.asarray(columns @ coefficients)

    def by_rows(coefficients: Array) -> Array:
        height = max(1, GRAM_BYTES // (64 * len(shown)))
        blocks = [kernel(points[start : start + height], shown) for start in range(0, len(points), height)]
        return np.concatenate([block @ coefficients for block in blocks])

    return by_rows


@dataclass(frozen=True, eq=False)
class Krylov:
    """What K does to one vector: Ritz values, the vector's share in each, and K[:, rows] times each Ritz vector."""

    values: Array
    amplitudes: Array
    columns: Array
    exact: bool


def lanczos(product: Product, start: Array, rows: Indices | None, steps: int = LANCZOS_STEPS) -> Krylov:
    """Return the Krylov space of K[rows, rows] and a vector, every new direction made orthogonal to all before it."""
    length = len(start)
    steps = min(steps, length)
    basis = np.zeros((steps, length))
    images = []
    diagonal, off_diagonal = np.zeros(steps), np.zeros(steps)
    size = float(np.linalg.norm(start))
    direction, used = start / size, 0
    while used < steps:
        basis[used] = direction
        image = product(direction)
        images.append(image)
        moved = image if rows is None else image[rows]
        diagonal[used] = direction @ moved
        for _ in range(2):  # once is not enough where eigenvalues span many powers of ten
            moved = moved - basis[: used + 1].T @ (basis[: used + 1] @ moved)
        off_diagonal[used] = np.linalg.norm(moved)
        used += 1
        if off_diagonal[used - 1] <= length * ROUNDING * np.abs(diagonal[:used]).max():
            break
        direction = moved / off_diagonal[used - 1]
    from scipy.linalg import eigh_tridiagonal  # here, since it takes long to load

    values, vectors = eigh_tridiagonal(diagonal[:used], off_diagonal[: used - 1])
    return Krylov(
        values=np.maximum(values, 0.0),
        amplitudes=size * vectors[0],
        columns=np.array(images).T @ vectors,
        exact=used < steps or used == length,
    )

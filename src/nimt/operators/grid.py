"""A stationary kernel on a grid: one window of offsets determines K, so the Gram matrix is never formed."""

from __future__ import annotations

import copy
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices
from nimt.errors import InvalidInput
from nimt.kernels import CUT, Kernel, diagonal, height, profile, reach
from nimt.kernels.families import SINGLE
from nimt.operators.operator import Cost, add_column
from nimt.pools.pool import Grid, Pool

Whole = NDArray[np.int64]

BLOCK = 2**20  # offsets evaluated at once
ADDED_AT_ONCE = 2**18  # cells
SMALL_GRID = 2**14  # points up to which the operators of some grids are kept after these are gone
SMALL_KEPT = 16
SMALL_WINDOW = 2**12  # cells up to which a column is added by addresses; the runs of a larger one are added in order
SEPARABLE_WITHIN = 4e-16  # of K(0), how far a product of axis profiles may be from the window


class GridOperator:
    """K as a window: K[:, i] is the window centred at cell i.

    The window is kept as runs: contiguous stretches of offsets along the last axis, each at one offset of the leading
    axes. Offsets whose value is below `cut` K(0) are left out one by one; a kernel that reaches across the grid keeps
    them all, and memory stays O(n).

    Parameters
    ----------
    kernel : a stationary Kernel
    grid : Grid
    cut : float
        Relative to K(0).

    Attributes
    ----------
    lead : array (runs, d - 1) of int
    first : array (runs,) of int
        Each run's first offset along the last axis.
    start : array (runs + 1,) of int
        Where each run begins in `weights`.
    weights : array (cells,)
    cells : int

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> GridOperator(rbf(width=0.5), Grid.like(np.zeros((92, 92)))).cells
    29
    """

    name = "grid"

    def __init__(self, kernel: Kernel, grid: Grid, cut: float = CUT) -> None:
        if not kernel.is_stationary():
            raise InvalidInput(f"{kernel!r} is not stationary, so it has no window on a grid")
        self.kernel = kernel
        self.grid = grid
        self.cut = cut
        self.height: float = height(kernel, grid.dimension)
        self.lead: Whole
        self.first: Whole
        self.start: Whole
        self.weights: Array
        self.lead, self.first, self.start, self.weights = self._runs(self._box())
        self.cells: int = len(self.weights)
        self.reach: tuple[int, ...] = self._offsets_kept()
        self._spaced: dict[int, Array] = {}

    def space_out(self, margin: int) -> Array:
        """Return the weights with zeros before and after each run."""
        if margin not in self._spaced:
            lengths = np.diff(self.start)
            result = np.zeros(self.cells + 2 * margin * len(lengths))
            run = np.repeat(np.arange(len(lengths)), lengths)
            result[np.arange(self.cells) + (2 * run + 1) * margin] = self.weights
            self._spaced[margin] = result
        return self._spaced[margin]

    def cost(self) -> Cost:
        """Return what it takes: memory for the window, time for the cells that one example changes."""
        return Cost(memory=16 * self.cells, seconds=1.3e-9 * min(self.cells, len(self.grid)))

    def diagonal(self) -> Array:
        return diagonal(self.kernel, self.grid)

    def add(self, values: Array, indices: Indices, coefficients: Array) -> None:
        if self.cheapest_for(len(indices)) == "columns":
            for index, coefficient in zip(indices, coefficients, strict=True):
                self.add_column(values, int(index), coefficient)
            return
        spread = np.zeros_like(values)
        np.add.at(spread, indices, coefficients)  # a pack may show the same point twice
        if values.ndim == 1:
            values += self.convolve(spread)
        else:
            for output in range(values.shape[1]):
                values[:, output] += self.convolve(np.ascontiguousarray(spread[:, output]))

    def column(self, index: int) -> Array:
        """Return K[:, index]."""
        result = np.zeros(len(self.grid))
        self.add_column(result, index, np.ones(()))
        return result

    def add_column(self, values: Array, index: int, coefficient: Array) -> None:
        """Do values += K[:, index] * coefficient, in place, for one output or several."""
        if self.cells <= SMALL_WINDOW:
            places, weights = self.near(index)
            near = values[places]  # a point occurs in a window once
            add_column(near, weights, coefficient)
            values[places] = near
            return
        shape = self.grid.shape
        *leading, last = (int(x) for x in np.unravel_index(index, shape))
        board = values.reshape((*shape, *values.shape[1:]))
        for run in range(len(self.first)):
            row = tuple(x + int(offset) for x, offset in zip(leading, self.lead[run], strict=True))
            if all(0 <= x < length for x, length in zip(row, shape[:-1], strict=True)):
                begin = last + int(self.first[run])
                end = begin + int(self.start[run + 1] - self.start[run])
                lo, hi = max(begin, 0), min(end, shape[-1])
                if lo < hi:
                    part = slice(self.start[run] + lo - begin, self.start[run] + hi - begin)
                    add_column(board[row][lo:hi], self.weights[part], coefficient)

    def add_columns(self, values: Array, indices: Indices, coefficients: Array) -> None:
        """Do the same as `add_column` for one point after another, to the last bit, with few calls."""
        rows = max(1, ADDED_AT_ONCE // self.cells)
        for start in range(0, len(indices), rows):
            part = indices[start : start + rows]
            there = np.stack(np.unravel_index(part, self.grid.shape), axis=1)[:, np.newaxis] + self._offsets
            inside = np.all((there >= 0) & (there < self.grid.shape), axis=2)
            added = coefficients[start : start + rows]
            added = self.weights.reshape(-1, *(1,) * (values.ndim - 1)) * added[:, np.newaxis]
            np.add.at(values, (part[:, np.newaxis] + self.places)[inside], added[inside])  # in the order of the pack

    def near(self, index: int) -> tuple[Whole, Array]:
        """Return the indices of the points within the window around a point, ascending, and K there."""
        shape = self.grid.shape
        here = [int(x) for x in np.unravel_index(index, shape)]
        if all(reach <= x < length - reach for x, reach, length in zip(here, self.reach, shape, strict=True)):
            return index + self.places, self.weights
        there = self._offsets + here
        inside = np.flatnonzero(np.all((there >= 0) & (there < shape), axis=1))
        return index + self.places[inside], self.weights[inside]

    def lists_in(self, order: NDArray[np.int32]) -> tuple[Whole, NDArray[np.int32], Array]:
        """Return K as lists in a layout: order[slot] is the pool index; slots of padding have empty lists."""
        from scipy.sparse import coo_array

        n = len(self.grid)
        slot = np.empty(n + 1, dtype=np.int32)
        slot[order] = np.arange(len(order), dtype=np.int32)
        near = [self.near(index) for index in range(n)]
        rows = np.repeat(slot[:n], [len(places) for places, _ in near])
        members = slot[np.concatenate([places for places, _ in near])]
        weights = np.concatenate([weights for _, weights in near])
        lists = coo_array((weights, (rows, members)), shape=(len(order), len(order))).tocsr()
        return lists.indptr.astype(np.int64), lists.indices.astype(np.int32, copy=False), np.asarray(lists.data)

    @cached_property
    def _offsets(self) -> Whole:
        """The offsets of the window's cells, shape (cells, d)."""
        lengths = np.diff(self.start)
        last = np.repeat(self.first - self.start[:-1], lengths) + np.arange(self.cells)
        return np.column_stack([np.repeat(self.lead, lengths, axis=0), last])

    @cached_property
    def places(self) -> Whole:
        """The pool indices of the window's cells, counted from its centre."""
        return np.asarray(self._offsets @ pool_layout(self.grid.shape)[1])

    @cached_property
    def for_compiled(self) -> tuple[Whole, Whole, Array, Whole, Whole]:
        """The window for `compiled_steps/newton`: offsets, places, weights; and the grid's shape and strides."""
        shape, strides, _, _ = pool_layout(self.grid.shape)
        return np.ascontiguousarray(self._offsets), self.places, self.weights, shape, strides

    def cheapest_for(self, k: int) -> str:
        """Return how to show a pack of k: "columns" one by one, "separable" axis by axis, or "fft".

        The costs are in nanoseconds, measured on one core; they need to be right only within a factor.
        """
        costs = {"columns": 2.7 * k * self.cells, **self._costs_of_any_pack}
        return min(costs, key=lambda way: costs[way])

    @cached_property
    def _costs_of_any_pack(self) -> dict[str, float]:
        costs: dict[str, float] = {}
        if self.taps is not None:
            costs["separable"] = len(self.grid) * (1.5 + 0.08 * sum(len(taps) for taps in self.taps))
        padded = float(np.prod(self._padded_shape))
        costs["fft"] = 3e4 + 3.0 * padded * float(np.log2(padded + 2))
        return costs

    def convolve(self, spread: Array) -> Array:
        """Return K @ spread for coefficients on the whole grid."""
        return self._by_axis(spread) if self.taps is not None else self.by_fft(spread)

    @cached_property
    def taps(self) -> list[Array] | None:
        """The kernel's profile along each axis, over K(0), if K is the product of them."""
        axes = [self._along(i, np.arange(-r, r + 1)) / self.height for i, r in enumerate(self.reach)]
        rng = np.random.default_rng(0)
        span = np.array(self.reach)
        probe = rng.integers(-span, span + 1, size=(min(4096, 8 * self.cells), len(span)))
        product = self.height * np.prod([axis[probe[:, i] + span[i]] for i, axis in enumerate(axes)], axis=0)
        exact = profile(self.kernel, probe * np.array(self.grid.spacing))
        return axes if np.max(np.abs(product - exact)) <= SEPARABLE_WITHIN * self.height else None

    @cached_property
    def wide(self) -> Wide:
        """The layout in which compiled code convolves along the axes."""
        return wide_layout(self.grid.shape, self.reach)

    def _by_axis(self, spread: Array) -> Array:
        assert self.taps is not None
        result = spread.reshape(self.grid.shape)
        for axis, taps in enumerate(self.taps):
            result = convolve_symmetric(result, taps, axis)
        return np.asarray(result).ravel() * self.height

    def by_fft(self, spread: Array) -> Array:
        """Return K @ spread by one product in frequency space."""
        from scipy import fft  # here, since most lessons add columns

        shape = self._padded_shape
        axes = tuple(range(len(shape)))
        there = fft.rfftn(spread.reshape(self.grid.shape), shape, axes=axes)
        there *= self._window_in_frequency
        back = fft.irfftn(there, shape, axes=axes)
        return np.ascontiguousarray(back[tuple(slice(length) for length in self.grid.shape)]).ravel()

    @cached_property
    def _padded_shape(self) -> tuple[int, ...]:
        from scipy import fft

        return tuple(
            fft.next_fast_len(length + reach, real=True)
            for length, reach in zip(self.grid.shape, self.reach, strict=True)
        )

    @cached_property
    def _window_in_frequency(self) -> NDArray[np.complex128]:
        from scipy import fft

        window = np.zeros(self._padded_shape)
        for run in range(len(self.first)):
            offsets = self.first[run] + np.arange(self.start[run + 1] - self.start[run])
            window[(*self.lead[run], offsets)] = self.weights[self.start[run] : self.start[run + 1]]
        return np.asarray(fft.rfftn(window))

    def _along(self, axis: int, offsets: Whole) -> Array:
        differences = np.zeros((len(offsets), self.grid.dimension))
        differences[:, axis] = offsets * self.grid.spacing[axis]
        return profile(self.kernel, differences)

    def _box(self) -> tuple[int, ...]:
        """Return per axis the largest offset to evaluate, from the kernel's reach."""
        farthest = reach(self.kernel, self.cut)
        return tuple(
            length - 1 if step == 0 or farthest >= abs(step) * length else min(length - 1, int(farthest / abs(step)))
            for length, step in zip(self.grid.shape, self.grid.spacing, strict=True)
        )

    def _offsets_kept(self) -> tuple[int, ...]:
        """Return per axis the largest offset in the window."""
        lengths = np.diff(self.start)
        last = np.maximum(np.abs(self.first), np.abs(self.first + lengths - 1))
        return (*(int(offset) for offset in np.abs(self.lead).max(axis=0)), int(last.max()))

    def _runs(self, box: tuple[int, ...]) -> tuple[Whole, Whole, Whole, Array]:
        """Evaluate the window slab by slab, drop what is below the cut, and group the rest into runs."""
        *leading, width = box
        last = np.arange(-width, width + 1)
        axes = [np.arange(-r, r + 1) for r in leading]
        rows = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(leading)) if leading else None
        rows = np.zeros((1, 0), dtype=np.int64) if rows is None else rows
        spacing = np.array(self.grid.spacing)
        lead: list[Whole] = []
        first: list[Whole] = []
        length: list[Whole] = []
        weights: list[Array] = []
        height_of_slab = max(1, BLOCK // len(last))
        for begin in range(0, len(rows), height_of_slab):
            slab = rows[begin : begin + height_of_slab]
            offsets = np.concatenate(
                [np.repeat(slab, len(last), axis=0), np.tile(last, len(slab))[:, np.newaxis]], axis=1
            )
            values = profile(self.kernel, offsets * spacing).reshape(len(slab), len(last))
            kept = np.abs(values) >= self.cut * self.height
            inside = np.zeros((len(slab), len(last) + 2), dtype=np.int8)
            inside[:, 1:-1] = kept
            edges = np.diff(inside, axis=1)
            row, begins = np.nonzero(edges == 1)
            _, ends = np.nonzero(edges == -1)
            lead.append(slab[row])
            first.append(last[begins])
            length.append(ends - begins)
            weights.append(values[kept])
        start = np.concatenate([[0], np.cumsum(np.concatenate(length))]).astype(np.int64)
        return (
            np.ascontiguousarray(np.concatenate(lead), dtype=np.int64),
            np.concatenate(first).astype(np.int64),
            start,
            np.ascontiguousarray(np.concatenate(weights)),
        )


_MADE: WeakKeyDictionary[Grid, list[GridOperator]] = WeakKeyDictionary()
_SMALL: dict[tuple[object, ...], GridOperator] = {}  # of small grids: many lessons may each have a new one like it


def grid_operator(kernel: Kernel, grid: Grid) -> GridOperator:
    """Return the operator of a kernel on a grid; one that was made before for two like them is used again."""
    if len(grid) <= SMALL_GRID and type(kernel) in SINGLE:
        key = (kernel, grid.shape, grid.spacing)
        found = _SMALL.get(key)
        if found is None:
            for oldest in list(_SMALL)[: 1 - SMALL_KEPT]:
                _SMALL.pop(oldest, None)
            found = _SMALL[key] = GridOperator(kernel, grid)
        return found
    made = _MADE.setdefault(grid, [])
    for operator in made:
        if operator.kernel == kernel and type(operator.kernel) is type(kernel):
            return operator
    kept = kernel if type(kernel) in SINGLE else copy.deepcopy(kernel)  # the caller may change its kernel later
    made[:] = [*made[-1:], GridOperator(kept, grid)]
    return made[-1]


def find_window(kernel: Kernel, pool: Pool) -> GridOperator | None:
    """Return the operator of a kernel on a pool that is a uniform grid for it, else None."""
    return grid_operator(kernel, pool) if "grid" in pool.operators(kernel) and isinstance(pool, Grid) else None


def pool_layout(shape: tuple[int, ...]) -> tuple[Whole, Whole, Whole, Whole]:
    """Return shape, strides and per-axis tables of the plain C order: slot = sum_i table_i[x_i] = pool index."""
    sizes = np.array(shape, dtype=np.int64)
    strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)
    tables = np.concatenate([np.arange(length) * stride for length, stride in zip(sizes, strides, strict=True)])
    places = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return sizes, strides, tables.astype(np.int64), places.astype(np.int64)


Wide = tuple[NDArray[np.int32], Whole, int, int, int]


def wide_layout(shape: tuple[int, ...], reach: tuple[int, ...]) -> Wide:
    """Return a layout with empty cells behind every axis, as many as the kernel reaches along it.

    Returns
    -------
    place : array (n,) of int
        Where each point of the pool is.
    strides : array (d,) of int
        How far apart neighbours along each axis are.
    lead, span, length : int
        The empty cells before the first and behind the last point, the cells of one output, the cells of a row.

    Examples
    --------
    >>> place, strides, lead, span, length = wide_layout((2, 3), (1, 2))
    >>> place.tolist(), strides.tolist(), lead, span, length
    ([0, 1, 2, 5, 6, 7], [5, 1], 5, 15, 3)
    """
    padded = [length + more for length, more in zip(shape, reach, strict=True)]
    strides = np.append(np.cumprod(padded[:0:-1])[::-1], 1).astype(np.int64)
    place = np.zeros((), dtype=np.int32)
    for length, stride in zip(shape, strides, strict=True):
        place = np.add.outer(place, np.arange(length, dtype=np.int32) * np.int32(stride))
    lead = max(int(more * stride) for more, stride in zip(reach, strides, strict=True))
    return place.reshape(-1), strides, lead, int(padded[0] * strides[0]), shape[-1]


def lay_out_tiles(shape: tuple[int, ...], tile: int, row: int = 1) -> tuple[Whole, int]:
    """Return per-axis tables of a layout by tiles, and how many slots it has (the last tiles are padded).

    A tile is a box of `tile` cells (a power of two), as near to a cube as the grid allows, with at least `row` cells
    along the last axis; the slots of a tile, and the tiles themselves, keep the order of the pool.
    """
    bits = _sides(shape, tile.bit_length() - 1, row.bit_length() - 1)
    counts = [-(-length >> side) for length, side in zip(shape, bits, strict=True)]
    tables = []
    within, across = 1, tile
    for length, side, count in reversed(list(zip(shape, bits, counts, strict=True))):
        x = np.arange(length, dtype=np.int64)
        tables.append((x >> side) * across + (x & ((1 << side) - 1)) * within)
        within <<= side
        across *= count
    # a grid too small to fill one tile leaves the tile's other slots empty
    return np.concatenate(tables[::-1]), across


def tile_sides(shape: tuple[int, ...], tile: int, row: int) -> tuple[int, ...]:
    """Return the cells of such a tile along each axis.

    Examples
    --------
    >>> tile_sides((92, 92), 64, 8), tile_sides((1000,), 64, 8)
    ((8, 8), (64,))
    """
    return tuple(1 << bits for bits in _sides(shape, tile.bit_length() - 1, row.bit_length() - 1))


def _sides(shape: tuple[int, ...], total: int, last: int) -> list[int]:
    """Give `last` bits to the last axis, and up to `total` one by one to the shortest that can still grow."""
    bits = [0] * len(shape)
    bits[-1] = last
    for _ in range(total - last):
        open_axes = [i for i, length in enumerate(shape) if (1 << bits[i]) < length]
        if not open_axes:
            break
        bits[min(open_axes, key=lambda i: (bits[i], -i))] += 1
    return bits


def convolve_symmetric(values: Array, taps: Array, axis: int) -> Array:
    """Return the sum of taps[m + j] times values moved by j, for |j| <= m along an axis; zero beyond the ends.

    Both sides are added before they are multiplied, so that what is symmetric stays so to the last bit. This is
    `scipy.ndimage.convolve1d`, which takes half a second to load.

    Examples
    --------
    >>> convolve_symmetric(np.array([0.0, 1.0, 0.0, 4.0]), np.array([0.5, 1.0, 0.5]), 0)
    array([0.5, 1. , 2.5, 4. ])
    """
    m, length = len(taps) // 2, values.shape[axis]
    lines = np.moveaxis(values, axis, -1)
    result = taps[m] * lines
    for j in range(min(m, length - 1), 0, -1):
        both = np.zeros(lines.shape)
        both[..., : length - j] = lines[..., j:]
        both[..., j:] += lines[..., : length - j]
        both *= taps[m + j]
        result += both
    return np.moveaxis(result, -1, axis)

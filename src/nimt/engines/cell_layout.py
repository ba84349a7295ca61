"""A radial kernel on points that lie in cells: what is near a point is found by boxes, and K computed there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.arranging import line_aligned
from nimt.engines.codes import (
    CELL,
    FEWER_TERMS,
    GAUSSIAN,
    LANES,
    MATERN_1,
    MATERN_3,
    MATERN_5,
    WAITING_IN_CELLS,
    WENDLAND,
)
from nimt.kernels import CUT, Kernel, reach
from nimt.kernels.kernel import ROUNDED_UP
from nimt.kernels.matern import Matern
from nimt.kernels.radial import Gaussian, Radial, is_far
from nimt.kernels.wendland import Wendland
from nimt.operators.operator import Cost
from nimt.pools.pool import Pool

FEWEST = 4000  # points in reach, for each axis; either way takes as long at 6,000 in 2-D, 11,000 in 3-D, 45,000 in 8-D
BLOCK = 2**20  # coordinates that are looked at at once while boxes are made

HALVES = {0.5: MATERN_1, 1.5: MATERN_3, 2.5: MATERN_5, math.inf: GAUSSIAN}

# Seconds of a step, of a point in a cell that it reaches, and of each axis of the point: processor time, measured with
# 20,000 to 100,000 points in 2 to 16 dimensions.
COST_AT_ONCE = (9e-7, 8e-10, 1.2e-10)
COST_OF_WAITING = (3e-6, 0.0, 2.5e-10)
ONE_BIT = math.sqrt(0.5 * math.log2(math.e))  # 2^-(ONE_BIT r)^2 = exp(-r^2 / 2)


@dataclass(frozen=True)
class Formula:
    """A radial kernel as compiled code computes it: the number of its formula, and what that needs.

    Scaled points are multiplied by `stretch`, so that a Gaussian is a power of 2.
    """

    number: int
    numbers: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    stretch: float = 1.0


def find_formula(kernel: Kernel) -> Formula | None:
    """Return the formula of a kernel, None for one that compiled code does not know.

    Examples
    --------
    >>> find_formula(Wendland(2.0, dimension=3)).numbers  # (1 - r)_+^4 (4 r + 1) with r = distance / 2
    (0.5, 4.0, 4.0, 0.0)
    """
    if type(kernel) is Gaussian:
        return Formula(GAUSSIAN, stretch=ONE_BIT)
    if type(kernel) is Matern and kernel.nu in HALVES:
        return Formula(HALVES[kernel.nu], stretch=ONE_BIT if HALVES[kernel.nu] == GAUSSIAN else 1.0)
    if type(kernel) is Wendland:
        ell, smooth = kernel.dimension // 2 + kernel.smoothness + 1, kernel.smoothness
        linear = (0.0, ell + 1.0, ell + 2.0)[smooth]
        square = (0.0, 0.0, (ell**2 + 4.0 * ell + 3.0) / 3.0)[smooth]
        return Formula(WENDLAND, (1.0 / kernel.width, float(ell + smooth), linear, square))
    return None


class CellArrays(NamedTuple):
    """The cells of a pool and the kernel over them, for compiled code: attributes of `Cells`, and of its formula."""

    points: Array
    boxes: Array
    group_boxes: Array
    reach: float
    form: int
    numbers: Array


class WaitingInCells(NamedTuple):
    """The steps that wait for cells.

    Attributes
    ----------
    reached, begun, waiting, parts, change, moves, before :
        As in `tile_layout.Waiting`.
    centres : array (WAITING_IN_CELLS d,)
        The point that each step shows.
    squares : array (cells,)
        The sum of (f - y)^2 in each cell.
    slots, earliest : array (WAITING_IN_CELLS,) of int
        Of each step the slot that it shows, and the first step that shows it.
    columns, column_of : array (WAITING_IN_CELLS CELL,), (WAITING_IN_CELLS,) of int
        K of a cell and the points shown, each once, and the column of the first step which shows a point.
    least, sorted, counts : arrays
        The least squared distance in each column, the columns sorted by it, and room to sort.
    places, factors : array (WAITING_IN_CELLS,)
        Where the column of each step begins, and by what it is multiplied.
    pool_size : int
        The points of the pool.
    slack : float
        By how much rounding may move a value in one step.
    centre, near, high, low : array
        Room to compute in.
    """

    reached: NDArray[np.int64]
    begun: NDArray[np.int64]
    waiting: NDArray[np.uint16]
    parts: Array
    change: Array
    moves: Array
    before: Array
    centres: Array
    squares: Array
    slots: NDArray[np.int64]
    earliest: NDArray[np.int64]
    columns: Array
    column_of: NDArray[np.int64]
    least: Array
    sorted: NDArray[np.int64]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    factors: Array
    pool_size: int
    slack: float
    centre: Array
    near: Array
    high: Array
    low: Array


class Cells:
    """The points of a pool, divided by their scale, in cells of CELL points that lie close together.

    Parameters
    ----------
    kernel : a Kernel with a formula
    pool : Grid or Points
    cut : float
        Cells in which K is below `cut` K(0) are left out.

    Attributes
    ----------
    order : array (slots,) of int32
        The index in the pool of each slot, ascending in every cell; the size of the pool where a slot is padding.
    points : array (cells d CELL,)
        The scaled coordinates, cell by cell and axis by axis.
    boxes : array (groups 2 d CELL,)
        The lower and the upper sides of the cells, group by group and axis by axis.
    group_boxes : array (2 d padded groups,)
        Those of the groups.
    reach : float
        The squared distance, in scaled coordinates, beyond which nothing changes.
    """

    name = "cells"

    def __init__(self, kernel: Kernel, pool: Pool, cut: float = CUT) -> None:
        formula = find_formula(kernel)
        assert formula is not None and isinstance(kernel, Radial)
        self.formula: Formula = formula
        self.pool = pool
        radius = ROUNDED_UP * reach(kernel, cut) / float(np.max(kernel.scale)) * formula.stretch
        self.reach: float = radius * radius
        scaled = np.ascontiguousarray(pool.points / kernel.scale) * formula.stretch
        self.order: NDArray[np.int32] = sort_into_cells(scaled)
        self.points: Array = line_aligned(len(self.order) * pool.dimension, np.dtype(np.float64))
        self._fill(scaled)

    def _fill(self, scaled: Array) -> None:
        """Write the coordinates; those of padding are of the last point."""
        cells, (n, d) = len(self.order) // CELL, scaled.shape
        laid = self.points.reshape(cells, d, CELL)
        step = max(1, BLOCK // (CELL * d))
        for low in range(0, cells, step):
            slots = np.minimum(self.order[low * CELL : (low + step) * CELL], n - 1)
            laid[low : low + step] = scaled[slots].reshape(-1, CELL, d).transpose(0, 2, 1)

    @cached_property
    def boxes(self) -> Array:
        laid = self.points.reshape(-1, self.pool.dimension, CELL)
        return _sides(laid.min(axis=2), laid.max(axis=2), CELL)

    @cached_property
    def group_boxes(self) -> Array:
        groups = self.boxes.reshape(-1, self.pool.dimension, 2, CELL)
        low, high = groups[:, :, 0].min(axis=2), groups[:, :, 1].max(axis=2)
        return _sides(low, high, -(-len(groups) // LANES) * LANES)

    @property
    def groups(self) -> int:
        return -(-len(self.order) // CELL**2)

    @property
    def arrays(self) -> CellArrays:
        numbers = np.array(self.formula.numbers)
        return CellArrays(self.points, self.boxes, self.group_boxes, self.reach, self.formula.number, numbers)


def _sides(low: Array, high: Array, length: int) -> Array:
    """Return the sides (count, d) of boxes as blocks of so many, axis by axis; what is missing are empty boxes."""
    count, d = low.shape
    blocks = -(-count // length)
    result = np.empty((blocks * length, d, 2))
    result[:count, :, 0], result[:count, :, 1] = low, high
    result[count:, :, 0], result[count:, :, 1] = np.inf, -np.inf
    return np.ascontiguousarray(result.reshape(blocks, length, d, 2).transpose(0, 2, 3, 1)).reshape(-1)


def sort_into_cells(points: Array) -> NDArray[np.int32]:
    """Return an order of points (n, d) in which every CELL in sequence, and every CELL cells, lie close together.

    The points are halved along the axis on which they spread most, and so are the halves.

    Examples
    --------
    >>> order = sort_into_cells(np.arange(130.0)[::-1, np.newaxis])
    >>> sorted(order[64:128].tolist()) == list(range(2, 66)), order[127:132].tolist()
    (True, [65, 0, 1, 130, 130])
    """
    n = len(points)
    order = np.full(-(-n // CELL) * CELL, n, dtype=np.int32)
    order[:n] = np.arange(n)
    axes = np.array(points.T, order="C")  # they move along with the order, so that memory is read as it lies
    waiting = [(0, n)]
    while waiting:
        low, high = waiting.pop()
        cells = -(-(high - low) // CELL)
        here = axes[:, low:high]
        if cells == CELL and high - low == CELL**2:
            order[low:high] = order[low:high][_halve(here)]
        elif cells > 1:
            half = CELL << ((cells - 1).bit_length() - 1)  # a power of two, so that groups are halves of halves, too
            places = np.argpartition(here[np.argmax(np.ptp(here, axis=1))], half)
            axes[:, low:high] = here[:, places]
            order[low:high] = order[low:high][places]
            waiting += [(low, low + half), (low + half, high)]
    order.reshape(-1, CELL).sort(axis=1)
    return order


def _halve(axes: Array) -> NDArray[np.intp]:
    """Return the places of the points (d, CELL^2) of a group, halved until there are cells, all parts at a time."""
    places = np.arange(axes.shape[1]).reshape(1, -1)
    while places.shape[1] > CELL:
        parts = axes[:, places]
        longest = np.argmax(np.ptp(parts, axis=2), axis=0)
        values = parts[longest, np.arange(len(places))]
        halves = np.argpartition(values, places.shape[1] // 2, axis=1)
        places = np.take_along_axis(places, halves, axis=1).reshape(2 * len(places), -1)
    return places.reshape(-1)


def find_obstacle_to_cells(kernel: Kernel, pool: Pool) -> str | None:
    """Return why points cannot lie in cells, or None."""
    if find_formula(kernel) is None:
        return f"it knows Gaussian, Matern (nu 0.5, 1.5, 2.5, inf) and Wendland kernels, got {kernel!r}"
    assert isinstance(kernel, Radial)
    if is_far(pool.points / kernel.scale):
        return "the points are so far from zero that differences lose digits"
    return None


def gains_by_waiting(near: float, d: int) -> bool:
    """Say whether a step reaches so many points of d coordinates that it is to wait for their cells."""
    return near >= FEWEST * d


def make_room(n: int, d: int, cells: int, slack: float) -> WaitingInCells:
    """Return room for the steps that wait for the cells of n points."""
    most, real = WAITING_IN_CELLS, np.dtype(np.float64)
    reached, begun = np.zeros((2, cells), dtype=np.int64)
    slots, earliest, column_of, ordered, places = np.zeros((5, most), dtype=np.int64)
    parts, change, moves, least, factors = np.empty((5, most))
    counts = np.zeros(len(FEWER_TERMS) + 2, dtype=np.int64)
    rooms = [line_aligned(size, real) for size in (CELL + LANES, CELL, CELL)]
    waiting, before = np.empty(cells * most, dtype=np.uint16), line_aligned(cells * CELL, real)
    columns = line_aligned(most * CELL, real)
    return WaitingInCells(
        reached, begun, waiting, parts, change, moves, before, np.empty(most * d), np.empty(cells), slots, earliest,
        columns, column_of, least, ordered, counts, places, factors, n, slack, np.empty(d), *rooms,
    )  # fmt: skip


def count_bytes_of_waiting(n: int) -> int:
    return 8 * n + (2 * WAITING_IN_CELLS + 48) * -(-n // CELL)


def estimate_cost(pairs: float, pool: Pool, waits: bool) -> Cost:
    """Estimate the cost of an example, from how many pairs of points are within reach of each other.

    A step computes with all points of a cell that it reaches into, at once or after it waited for the cell.

    Examples
    --------
    >>> from nimt.pools import Points
    >>> pool = Points(np.random.default_rng(0).random((50_000, 3)))
    >>> [estimate_cost(50_000**2, pool, waits).seconds < 5e-5 for waits in (False, True)]
    [False, True]
    """
    n, d = len(pool), pool.dimension
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    across = (min(pairs / n, n) / (CELL * ball)) ** (1 / d)  # the radius of the reach in sides of a cell
    touched = min(float(n), CELL * ball * (across + 0.5 * math.sqrt(d)) ** d)
    cells = -(-n // CELL)
    memory = (cells * CELL) * (16 * d + 12) + cells * (16 * d + 12)  # twice the points, while they are sorted
    memory += count_bytes_of_waiting(n) if waits else 0
    step, point, axis = COST_OF_WAITING if waits else COST_AT_ONCE
    return Cost(memory, step + 1e-9 * cells / CELL + (point + axis * d) * touched)

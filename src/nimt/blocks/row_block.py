"""A block of a grid, taught row by row in compiled code, with little beside its arrays."""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags, check_stored_array
from nimt.blocks.block import MOST, Block, Shown
from nimt.blocks.block_task import BlockTask
from nimt.blocks.engine_block import EngineBlock
from nimt.blocks.orders import Orders
from nimt.blocks.partition import Box, GridPartition
from nimt.engines._numba.compiling import load_numba
from nimt.engines.arranging import line_aligned, tournament_levels
from nimt.engines.codes import CARRY, FAN, LANES, LIMIT, SCALE, STILL, TOL, TOL_SQUARE, TOTAL, Values
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.renewing import lay_out, renew_rows, take_out
from nimt.engines.compiled_steps.row_steps import by_rows
from nimt.errors import InvalidInput
from nimt.operators.grid import GridOperator, lay_out_tiles, pool_layout

Whole = NDArray[np.int64]

PART = 3  # the level of the tournament whose nodes are the parts of a block: 8 x 8^3 slots that lie together


class Layout(NamedTuple):
    """Where the points that a block holds lie; blocks of one shape share it, and none writes to it.

    Attributes
    ----------
    grid : shape, strides and tables for compiled code
    slots : int
    levels : array of int
        Of the tournament over the rows.
    parts : tuple of two int
        The first node of the tournament that is a part of the block, and the end of them.
    forbidden : array (slots,) of int
        -1 where a slot is padding or belongs to a neighbour, else 0.
    """

    grid: tuple[NDArray[np.generic], ...]
    slots: int
    levels: Whole
    parts: tuple[int, int]
    forbidden: Whole


@lru_cache(maxsize=16)
def lay_out_block(shape: tuple[int, ...], own: Box) -> Layout:
    """Return the layout of a block that holds a grid of this shape and owns a box of it."""
    sizes, strides, _, places = pool_layout(shape)
    tables, slots = lay_out_tiles(shape, FAN * LANES, LANES)
    tables = tables.astype(np.uint64)
    grid = (sizes, strides, tables, places, tables[places[-1] :])
    levels = tournament_levels(slots // LANES, FAN)
    level = min(PART, len(levels) - 2)
    flags = np.full(shape, -1, dtype=np.int64)
    flags[tuple(slice(low, high) for low, high in own)] = 0
    forbidden: Whole = line_aligned(slots, np.dtype(np.int64))
    forbidden[:] = -1
    lay_out(grid, flags.reshape(-1), forbidden)
    return Layout(grid, slots, levels, (int(levels[level]), int(levels[level + 1])), forbidden)


class StepArrays(threading.local):
    """Where compiled code writes what it shows; each thread has one."""

    def __init__(self) -> None:
        self.indices: Whole = np.empty((MOST, 1), dtype=np.int64)
        self.labels: Array = np.empty((MOST, 1))
        self.discrepancy: Array = np.empty(MOST)
        self.coefficients: Array = np.empty((MOST, 1))
        self.other_label: Flags = np.zeros(MOST, dtype=bool)  # labels are those of the target
        self._rates: Array = np.zeros(MOST)

    def rates(self, rate: float, count: int) -> Array:
        """Return an array of so many times the rate, the same as long as the rate is."""
        if self._rates[0] != rate:
            self._rates[:] = rate
        return self._rates[:count]


ARRAYS = StepArrays()


class RowBlock(Block):
    """A block of a grid; it goes through its parts in their order, and shows the largest error of each.

    A part is a node of the tournament, whose points lie together in memory: so a part stays in the cache while it is
    taught. A block of few points is one part.
    """

    def __init__(self, lesson: BlockTask, number: int) -> None:
        super().__init__(lesson, number)
        cut = lesson.partition
        assert isinstance(cut, GridPartition)
        held = cut.box_with_halo(number)
        operator = lesson.operator_on(self.pool)
        assert isinstance(operator, GridOperator)
        own = tuple(
            (low - first, high - first) for (low, high), (first, _) in zip(cut.own_box(number), held, strict=True)
        )
        self.layout = layout = lay_out_block(self.pool.shape, own)
        here = np.zeros(self.pool.dimension - 1, np.int64)
        window = (operator.lead, operator.first, operator.start, operator.space_out(LANES))
        self._grid = (*layout.grid, here, *window)
        self._height: float = operator.height
        learner = lesson.learner_on(number).bind(self.pool)
        self._rate: float = learner.rate(learner.steps_, np.array([self._height]))
        self.y = self._place_values(lesson.read_target(number, self.pool))
        self.f = self._place_values(learner.values_on(self.pool, ()))
        self.c: Array = np.zeros(layout.slots)
        self.shown: Flags = np.zeros(layout.slots, dtype=bool)
        self.node_bits: Whole = line_aligned(int(layout.levels[-1]), np.dtype(np.int64))
        self.node_index: NDArray[np.int32] = line_aligned(int(layout.levels[-1]), np.dtype(np.int32))
        self.touched: Whole = np.zeros(operator.cells // LANES + 2 * len(operator.first), dtype=np.int64)
        self.change: Array = line_aligned(LANES, np.dtype(np.float64))
        self.sums: Array = np.zeros(3)
        self.rules: Array = np.zeros(7)
        self.rules[SCALE] = lesson.scale
        self._shared: dict[int, Whole] = {}  # slots, by neighbour
        self.renew()
        if not math.isfinite(self.square):
            raise InvalidInput(
                "the target or the initial function is too large to be subtracted and summed: divide both by a common "
                "factor"
            )
        self.latest = self.report_opening()

    def _place_values(self, values: Array) -> Array:
        result: Array = line_aligned(self.layout.slots, np.dtype(np.float64))
        result[:] = 0.0
        lay_out(self.layout.grid, np.ascontiguousarray(values), result)
        return result

    def _in_order(self, slots: Array) -> Array:
        result = np.empty(len(self.pool))
        take_out(self.layout.grid, slots, result)
        return result

    def _places(self, other: int) -> Whole:
        """Return the slots of the points that a neighbour holds, too."""
        if other not in self._shared:
            self._shared[other] = self._find_places(other)
        return self._shared[other]

    def _find_places(self, other: int) -> Whole:
        cut = self.lesson.partition
        assert isinstance(cut, GridPartition)
        _, _, tables, begins, _ = self.layout.grid
        held, theirs = cut.box_with_halo(self.number), cut.box_with_halo(other)
        places: Whole = np.zeros((), dtype=np.int64)
        for (low, high), (first, last), begin in zip(held, theirs, begins.astype(np.int64), strict=True):
            axis = tables[begin + max(low, first) - low : begin + min(high, last) - low]
            places = np.add.outer(places, axis.astype(np.int64))
        return places.reshape(-1)

    def renew(self) -> None:
        """Compute scores and the sum of squares anew from all points that are held."""
        layout = self.layout
        total = renew_rows(
            layout.grid, len(self.pool), self.f, self.y, layout.forbidden, layout.levels, self.node_bits,
            self.node_index,
        )  # fmt: skip
        self.sums[:] = float(total), 0.0, 0.0

    def absorb(self, patches: dict[int, Array]) -> None:
        for other, values in patches.items():
            self.f[self._places(other)] = values
        if patches:
            self.renew()

    def patches(self) -> dict[int, Array]:
        cut = self.lesson.partition
        return {other: self.f[self._places(other)] for other in cut.neighbours(self.number)}

    def prepare(self, orders: Orders, square: float) -> None:
        self.rules[STILL], self.rules[LIMIT] = orders.level * orders.level, orders.limit
        self.rules[TOL], self.rules[TOL_SQUARE] = self.lesson.tolerance_of_turn(square - orders.excess)

    def show(self, most: int) -> Shown:
        layout, records = self.layout, self.lesson.records
        watch, moves = np.array([math.inf, 0.0]), np.zeros(1)
        results = (ARRAYS.indices[:most], ARRAYS.labels[:most], ARRAYS.discrepancy[:most])
        batch = StepBatch(
            ARRAYS.rates(self._rate, most), ARRAYS.other_label[:most], watch, *results,
            ARRAYS.coefficients[: most if records else 0],
        )  # fmt: skip
        taken, code = by_rows(
            self._grid, LANES, None, 0, self.discrepancy, None, layout.forbidden, self._height,
            Values(self.f, self.y, self.y, self.c, self.shown), None, 1.0, (0,), (), layout.levels,
            layout.parts, self.node_bits, self.node_index, self.touched, moves, self.change, self.sums, self.rules,
            batch,
        )  # fmt: skip
        indices, discrepancy = ARRAYS.indices[:taken, 0], ARRAYS.discrepancy[:taken]
        if not records:
            return Shown(indices, None, discrepancy, int(code))
        return Shown(indices.copy(), ARRAYS.coefficients[:taken, 0].copy(), discrepancy.copy(), int(code))

    @property
    def target(self) -> Array:
        return self._in_order(self.y)

    @property
    def square(self) -> float:
        return float(self.sums[TOTAL] + self.sums[CARRY])

    @property
    def discrepancy(self) -> float:
        return self.lesson.scale * math.sqrt(self.square) if self.square >= 0.0 else math.nan

    @property
    def top(self) -> float:
        return self.lesson.push_of(self.node_bits[self.layout.levels[-2]])

    @property
    def values(self) -> Array:
        return self._in_order(self.f)

    @property
    def coefficients(self) -> Array:
        return self._in_order(self.c)

    def arrays(self) -> dict[str, Any]:
        return {"values": self.values, "coefficients": self.coefficients, "sums": self.sums}

    def take_arrays(self, stored: dict[str, Any]) -> None:
        points = (len(self.pool),)
        self.f = self._place_values(check_stored_array(stored, "values", points))
        self.c = self._place_values(check_stored_array(stored, "coefficients", points))
        self.renew()
        self.sums[:] = check_stored_array(stored, "sums", (3,))


def make_block(lesson: BlockTask, number: int) -> Block:
    """Return a block of a lesson at its beginning."""
    load_numba()
    cut = lesson.partition
    if isinstance(cut, GridPartition) and len(cut) > 1:
        low, high = cut.box_with_halo(number)[-1]
        if 2 * (high - low) > LANES:
            return RowBlock(lesson, number)
    return EngineBlock(lesson, number)

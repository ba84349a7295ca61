"""The engine for kernels whose columns are short: windows on a grid, lists of neighbours elsewhere."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_stored_array
from nimt.engines.arranging import NOTHING, ArrangedEngine, grid_order, norm_of_outputs, tournament_levels
from nimt.engines.codes import CARRY, ERROR, FAN, NO_SCORE, TILE, TOTAL, Scoring
from nimt.engines.compiled import StepBatch
from nimt.engines.compiled_steps.column_steps import by_columns
from nimt.engines.compiled_steps.convolution import by_convolution
from nimt.engines.compiled_steps.diverse import LISTS
from nimt.engines.compiled_steps.labels import make_labels, true_labels
from nimt.engines.compiled_steps.odds import renew_all_odds
from nimt.engines.compiled_steps.pack_steps import add_spread, choose_packs, pack_moves, rescore, take_moves
from nimt.engines.compiled_steps.scoring import score_all
from nimt.engines.compiled_steps.stopping import over, stillness
from nimt.engines.compiled_steps.tournament import build_tournament
from nimt.engines.error_product import is_same_kernel, make_effect_lists, product_rows
from nimt.learners.kernel_pupils import KernelPupil
from nimt.operators.grid import GridOperator, lay_out_tiles, pool_layout, wide_layout
from nimt.operators.neighbours import NeighbourOperator
from nimt.task.task import Task
from nimt.teachers.rule import Diverse, DrawnByOdds
from nimt.teachers.soft import COLD, LARGEST, ROOTS, SMALLEST

Whole = NDArray[np.int64]
Columns = tuple[NDArray[Any], ...]  # of K: arrays of several types, as `by_columns` takes them

NO_SLOTS: Whole = np.empty(0, dtype=np.int64)


class SparseEngine(ArrangedEngine):
    """Run a lesson whose steps change few points.

    With one greedy example per step, the largest score is needed after every step: the pool is laid out tile by tile,
    and a tournament over the tiles is repeated only for the tiles that the step changed. Packs and random examples need
    no tournament and stay in the order of the pool. Where one point is drawn by its score, a tile is 64 points in the
    order of the pool, and beside the tournament every node has the sum of its odds.
    """

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator | NeighbourOperator) -> None:
        super().__init__(task, pupil)
        self.operator: GridOperator | NeighbourOperator = operator
        self.name: str = operator.name
        self.on_grid: bool = isinstance(operator, GridOperator)
        self.tournament: bool = self.greedy and self.k == 1 and not task.has_schedule
        self.diagonal: Array = np.array([operator.height])
        self.tables: Whole = NO_SLOTS
        if self.tournament:
            self._lay_out_by_tiles()
        tiles = len(self.order) // TILE
        self.levels: Whole = tournament_levels(tiles, FAN, self.copies[0])
        self.best_slot: Whole = np.zeros(self.levels[1], dtype=np.int64)
        self.touched: Whole = np.zeros(self.levels[1], dtype=np.int64)
        self.node_bits: Whole = np.zeros(self.levels[-1], dtype=np.int64)
        self.node_tile: NDArray[np.int32] = np.zeros(self.levels[-1], dtype=np.int32)
        self.stamp: Whole = np.full(self.levels[-1], -1, dtype=np.int64)  # the step at which a node was last touched
        self.grid: Columns
        self.lists: Columns
        self.grid, self.lists = self._columns()
        self.y = self.place_target()
        self.other = None if task.other_target is None else self.place(task.other_target)
        self.score: Array = self.place(self.candidate_scores(), padding=-0.0) if self.greedy else NOTHING
        self.bits: Whole = self.score.view(np.int64)
        self.scoring: Scoring | None = self.scoring_with(self.place)
        self.last_product: Array | None = None  # K r once the scores are let go
        self.effects: Columns | None = None
        self.joint: tuple[object, ...] | None = None
        if self.product is not None:
            self._make_effect_lists()
        self.orders: NDArray[np.int32] = np.tile(self.order, self.copies[0]) if self.copies[0] > 1 else self.order
        own_room = self.way == "separable" and not task.has_schedule
        selects = self.greedy and not self.tournament and not own_room
        self.work: Whole = np.empty(len(task.pool) if selects else 0, dtype=np.int64)
        self.guess: Whole = np.zeros((self.copies[0], 2), dtype=np.int64)
        self.drawing: tuple[object, ...] | None = None
        if isinstance(self.choose, DrawnByOdds):
            constants = (*ROOTS[:3], COLD, SMALLEST, LARGEST, self.choose.temperature)
            nodes = np.zeros(self.levels[-1])
            self.drawing = (constants, self.selection_rng, np.zeros(1), np.zeros(len(self.score)), nodes)
        self.diverse: tuple[object, ...] | None = None
        if isinstance(self.choose, Diverse) and self.k > 1:
            blocks = -(-len(task.pool) // TILE)
            left, size = np.zeros(len(task.pool)), np.full(blocks * TILE, -1.0)
            sizes = (left, size, size.view(np.int64))
            tops = (np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64))
            inner, offsets = np.zeros(len(task.pool), dtype=bool), np.empty(0, np.int32)
            if isinstance(operator, GridOperator):
                inside = tuple(slice(reach, -reach or None) for reach in operator.reach)
                inner.reshape(task.pool.shape)[inside] = True  # where the window crosses no edge
                offsets = operator.places.astype(np.int32)
            near = (np.zeros(len(offsets), dtype=np.int32), np.zeros(len(offsets)))
            lengths = (len(task.pool), len(task.pool), LISTS)
            links = (*(np.zeros(length, dtype=np.int32) for length in lengths), np.zeros(blocks, dtype=np.uint64))
            columns = (self.on_grid, self.grid, self.lists, operator.height)
            self.diverse = (*columns, sizes, tops, links, inner, offsets, *near)
        start = self.take_over()
        if self.makes_labels:
            self.make_labels_by(len(self.score), float(np.max(self.score, initial=0.0)))
        self.begin(start)

    @property
    def way(self) -> str:
        """How packs of k examples are added: by columns, or by a convolution of the whole grid."""
        if self.tournament or self.product is not None or not isinstance(self.operator, GridOperator):
            return "columns"
        return self.operator.cheapest_for(self.k)

    # -- layout

    def _lay_out_by_tiles(self) -> None:
        n = len(self.task.pool)
        if isinstance(self.choose, DrawnByOdds):  # draws go through the pool in its order
            slots = -(-n // TILE) * TILE
            self.order = np.minimum(np.arange(slots), n).astype(np.int32)
            if self.on_grid:
                _, _, self.tables, _ = pool_layout(self.task.pool.shape)
        elif self.on_grid:
            self.tables, slots = lay_out_tiles(self.task.pool.shape, TILE)
            self.order = grid_order(self.task.pool.shape, self.tables, slots)
        else:
            slots = -(-n // TILE) * TILE
            self.order = np.full(slots, n, dtype=np.int32)
            assert isinstance(self.operator, NeighbourOperator)
            self.order[:n] = self.operator.tree.indices  # points that are near each other lie in few tiles
            self.order.reshape(-1, TILE).sort(axis=1)  # ties in a tile go to the lowest index in the pool

    def _columns(self) -> tuple[Columns, Columns]:
        """Return the window (with its layout) and the lists; the one that is not used is empty."""
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        no_lists = (whole, np.zeros(0, np.int32), real)
        if isinstance(self.operator, GridOperator):
            op = self.operator
            shape, strides, tables, places = pool_layout(self.task.pool.shape)
            tables = self.tables if self.tournament else tables
            here = np.zeros(len(shape) - 1, np.int64)
            tables = tables.astype(np.uint64)
            return (
                shape,
                strides,
                tables,
                places,
                tables[places[-1] :],
                here,
                op.lead,
                op.first,
                op.start,
                op.weights,
            ), no_lists
        no_slots = np.zeros(0, np.uint64)
        no_grid = (whole, whole, no_slots, whole, no_slots, whole, np.zeros((0, 0), np.int64), whole, whole, real)
        if self.tournament:
            return no_grid, self.operator.lists_in(self.order)
        return no_grid, self.operator.lists

    @property
    def largest_score(self) -> float:
        return max(0.0, float(self.node_bits[self.levels[-2]].view(np.float64)))

    def _make_effect_lists(self) -> None:
        """Make the columns by which K r changes, and those that a teacher of packs expects, in the engine's layout."""
        assert self.product is not None
        order = self.order if len(self.order) else np.arange(len(self.task.pool), dtype=np.int32)
        lists = self.operator.lists_in(order)
        of_score = lists
        if not is_same_kernel(self.product.operator.kernel, self.operator.kernel):
            of_score = type(self.operator)(self.product.operator.kernel, self.task.pool).lists_in(order)  # type: ignore[arg-type]
        offered, room = self.place(~self.barred), self.room_for_joint
        self.effects = make_effect_lists(lists, of_score, offered)
        if room is not None:
            expected = self.effects if of_score is lists else make_effect_lists(of_score, of_score, offered)
            self.joint = (*room, expected)

    def renew_product(self) -> None:
        if self.product is not None and self.scoring is not None:
            errors = self.in_pool_order(self.f, self.task.target.shape) - self.task.target
            rows = product_rows(self.scoring.constants, len(self.outputs))
            for row, product in zip(rows, self.product.of(errors), strict=True):
                row[:] = self.place(product)
        self.find_scores()

    def _take_arrays(self) -> None:
        super()._take_arrays()
        if self.product is not None:
            self.renew_product()

    def state(self) -> dict[str, Any]:
        return super().state() | {"product": self._product_in_pool_order()}

    def _product_in_pool_order(self) -> Array | None:
        if self.scoring is None or self.product is None:
            return self.last_product
        rows = product_rows(self.scoring.constants, len(self.outputs))
        return np.array([self.in_pool_order(row, (len(self.task.pool),)) for row in rows])

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        if self.scoring is not None and self.product is not None:
            rows = product_rows(self.scoring.constants, len(self.outputs))
            stored = check_stored_array(state, "product", (len(rows), len(self.task.pool)))
            for row, product in zip(rows, stored, strict=True):
                row[:] = self.place(product)
            self.find_scores()

    def find_scores(self) -> None:
        if self.greedy and self.scoring is None:
            with np.errstate(invalid="ignore", over="ignore"):  # a learner may have diverged
                errors = (self.f - self.y).reshape(-1, len(self.outputs), 1)
                np.copyto(self.score, norm_of_outputs(errors, self.norm)[:, 0], where=self.bits != NO_SCORE)
        elif self.greedy:
            score_all(self.f, self.y, self.score, self.scoring, self.outputs, self.norm)
        if self.tournament:
            build_tournament(
                self.bits, self.best_slot, self.orders, self.levels, self.node_bits, self.node_tile, self.copies
            )
        if self.drawing is not None:
            top = self.score[self.best_slot[self.node_tile[self.levels[-2]]]]
            renew_all_odds(self.drawing, self.score, top, self.levels)

    # -- running

    @property
    def shows_everything(self) -> bool:
        """Whether every pack is the whole pool, so that nothing is chosen."""
        return self.greedy and not self.task.has_schedule and self.k == len(self.task.pool)

    @property
    def shows_the_same(self) -> bool:
        return (
            self.shows_everything and self.way == "separable" and self.maker is None and self.task.other_target is None
        )

    def run(self, batch: StepBatch) -> tuple[int, int]:
        if self.way == "fft":
            return self._by_fft(batch)
        function = (self.diagonal, self.functions)
        scores: tuple[object, ...] = (self.score, self.bits, self.scoring, self.norm)
        learner = (self.loss, self.delta, self.outputs)
        end = (self.sums, self.rules, batch)
        if self.way == "separable":
            taken, code = by_convolution(
                *self._separable, self.step, self.discrepancy, self.making, self.diverse, self.greedy,
                self.greedy and not self.shows_everything, *function, *scores, *learner, self.copies, self.guess,
                *end,
            )  # fmt: skip
            return int(taken), int(code)
        nodes = (self.orders, self.best_slot, self.levels, self.node_bits, self.node_tile, self.stamp, self.touched)
        if not self.greedy:  # without scores, K r alone needs the arrays of the score
            scores = (None, None, None if self.effects is None else self.scoring, self.norm)
        taken, code = by_columns(
            self.grid if self.on_grid else None, None if self.on_grid else self.lists, self.effects, self.step,
            self.discrepancy, self.making, self.drawing, self.diverse if self.greedy else None, self.joint,
            nodes if self.tournament else None,
            *function, *scores, *learner, (self.copies[0], 0), np.empty(batch.labels.shape[1]), self.work,
            self.guess, *end,
        )  # fmt: skip
        return int(taken), int(code)

    @cached_property
    def _separable(self) -> tuple[object, ...]:
        assert isinstance(self.operator, GridOperator) and self.operator.taps is not None
        taps = self.operator.taps
        starts = np.concatenate([[0], np.cumsum([len(axis) for axis in taps])]).astype(np.int64)
        return self.operator.wide, np.concatenate(taps), starts, self.operator.height

    def _by_fft(self, batch: StepBatch) -> tuple[int, int]:
        rates, other_label, watch, indices, labels, discrepancy, coefficients = batch
        assert isinstance(self.operator, GridOperator)
        n, several = len(self.task.pool), len(self.outputs) * self.copies[0]
        wide = wide_layout(self.task.pool.shape, (0,) * self.task.pool.dimension)
        spread = np.zeros(len(self.f))
        moves, sizes = np.empty((2, labels.shape[1]))
        m = self.discrepancy
        for t in range(len(rates)):
            code, *watch[:] = over(self.step + t, m, self.rules, *watch)
            if code:
                return t, int(code)
            if self.greedy:
                choose_packs(
                    self.diverse, self.bits, self.work, self.guess, self.f, self.y, self.score, self.copies, indices[t]
                )
            if self.making is not None:
                make_labels(self.making, indices[t], self.f, self.y, self.step + t, labels[t])
            else:
                source = self.other if other_label[t] else self.y
                true_labels(indices[t], False, source, self.outputs, self.copies, labels[t])
            largest = pack_moves(
                indices[t], False, rates[t], labels[t], self.diagonal, self.f, self.loss, self.delta, self.outputs,
                self.copies, moves, sizes,
            )  # fmt: skip
            code = stillness(largest, m, self.rules)
            if code:
                return t, int(code)
            if len(coefficients):
                coefficients[t] = moves
            take_moves(indices[t], False, moves, self.c, self.shown, self.outputs, self.copies, wide, spread)
            addition = np.concatenate([self.operator.by_fft(spread[o * n : (o + 1) * n]) for o in range(several)])
            add_spread(1.0, addition, self.f, self.outputs, wide)
            self.sums[TOTAL], self.sums[CARRY], self.sums[ERROR] = self._rescore(), 0.0, 0.0
            m = self.measure(float(self.sums[TOTAL]), self.f, self.y)
            discrepancy[t] = m
        return len(rates), 0

    def _rescore(self) -> float:
        """Bring the scores up to date after all values changed, and return the sum of squares."""
        return float(rescore(self.f, self.y, self.score, self.scoring, self.greedy, self.outputs, self.norm))

    def let_go(self) -> None:
        super().let_go()
        self.last_product = self._product_in_pool_order()
        self.score, self.scoring, self.effects, self.joint = NOTHING, None, None, None
        self.bits = self.work = NO_SLOTS
        self.grid = self.lists = ()
        self.orders = np.empty(0, np.int32)

"""The engine for kernels that reach across the pool: whole columns, computed when needed and kept in a cache."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags, Indices, check_stored_array
from nimt.engines.arranging import line_aligned
from nimt.engines.cell_layout import Formula, find_formula
from nimt.engines.codes import FETCH, NOTHING_MISSING, Motion, Scoring, Values
from nimt.engines.compiled import CompiledEngine, StepBatch
from nimt.engines.compiled_steps.pack_steps import rescore
from nimt.engines.compiled_steps.streaming import COLUMN_BLOCK, by_whole_columns, fill_column, fill_squared_distances
from nimt.engines.error_product import product_rows
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, Radial
from nimt.kernels.dot_product import Linear
from nimt.kernels.families import SINGLE
from nimt.kernels.radial import is_far
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.updating_pupil import UpdatingPupil
from nimt.operators.streamed_columns import StreamedOperator
from nimt.pools.pool import Pool
from nimt.task.task import Task
from nimt.wording import Wording

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

NOTHING: Array = np.empty(0)
LONG = 200_000  # points of a column that are worth a second thread
TRIED_EVERY = 64  # columns after which both ways of filling one are timed again


def find_compiled_column(kernel: Kernel, pool: Pool) -> Callable[[int, Array], None] | None:
    """Return a fast way to fill a column for nimt's radial kernels and the linear one, None for others."""
    if type(kernel) is Linear:
        rows = np.ascontiguousarray(pool.points)

        def linear(index: int, result: Array) -> None:
            np.dot(rows, rows[index], out=result)
            result += kernel.c

        return linear
    if not isinstance(kernel, Radial) or type(kernel) not in SINGLE:
        return None  # a kernel of the user may raise an error
    scaled = pool.points / kernel.scale
    if is_far(scaled):
        return None  # its differences have lost digits, which the kernel itself does not lose
    formula = find_formula(kernel)
    if formula is not None:
        return _by_formula(formula, scaled)
    coordinates = np.ascontiguousarray(scaled.T)

    def radial(index: int, result: Array) -> None:
        fill_squared_distances(coordinates, index, result)
        values = kernel.at_squares(result)
        if values is not result:
            result[:] = values

    return radial


def _by_formula(formula: Formula, scaled: Array) -> Callable[[int, Array], None]:
    """Return a way to fill a column: distances and the kernel in vector registers, long columns by two threads."""
    n, d = scaled.shape
    points = line_aligned(d * -(-n // COLUMN_BLOCK) * COLUMN_BLOCK, np.dtype(np.float64)).reshape(d, -1)
    points[:, :n], points[:, n:] = formula.stretch * scaled.T, 0.0
    numbers = np.array(formula.numbers)
    rooms = [(np.empty(d), np.empty(COLUMN_BLOCK)) for _ in range(2)]
    second = SecondThread()

    def fill_part(part: int, index: int, begin: int, end: int, result: Array) -> None:
        fill_column(points, index, formula.number, numbers, begin, end, *rooms[part], result)

    def fill(index: int, result: Array) -> None:
        if n < LONG or not _has_two_cores():
            fill_part(0, index, 0, n, result)
            return
        began = time.perf_counter()
        if helps := second.is_faster():
            half = n // 2 // COLUMN_BLOCK * COLUMN_BLOCK  # both parts compute the same numbers as one would
            rest = second.begin(fill_part, 1, index, half, n, result)
            fill_part(0, index, 0, half, result)
            rest.result()
        else:
            fill_part(0, index, 0, n, result)
        second.note(helps, time.perf_counter() - began)

    return fill


class SecondThread:
    """A thread that waits for work: to start one takes as long as 150,000 points of a column.

    Where other programs use the cores, two threads wait for each other: so both ways are timed now and then.

    Examples
    --------
    >>> second = SecondThread()
    >>> asked = []
    >>> for seconds in (2.0, 5.0, 1.0, 1.0):
    ...     asked.append(second.is_faster())
    ...     second.note(asked[-1], seconds)
    >>> asked  # one thread, two, two since that one had to be started, and what was faster
    [False, True, True, True]
    """

    def __init__(self) -> None:
        self.process: int | None = None
        self.thread: Executor
        self.columns = 0
        self.took: dict[bool, float] = {}  # seconds of the latest column, without the thread and with it

    def is_faster(self) -> bool:
        """Say whether it is to be used for the next column."""
        place = self.columns % TRIED_EVERY
        return place > 0 if place < 3 else self.took[True] < self.took[False]

    def note(self, helped: bool, seconds: float) -> None:
        """Keep how long a column took."""
        self.columns += 1
        self.took[helped] = seconds

    def begin(self, call: Callable[..., None], *arguments: Any) -> Future[None]:
        """Let the thread do a call, after those before it."""
        if self.process != os.getpid():  # a copy of a process has no copy of the thread
            from concurrent.futures import ThreadPoolExecutor  # most lessons need none

            self.process, self.thread = os.getpid(), ThreadPoolExecutor(1, "nimt-column")
        return self.thread.submit(call, *arguments)


def _has_two_cores() -> bool:
    return len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) > 1


class StreamedEngine(CompiledEngine):
    """Run a lesson whose steps change the whole pool, without forming a Gram matrix.

    Steps are compiled as long as the columns they need are kept; a missing one is computed here, since the kernel may
    be the user's.
    """

    name: str = "streamed"

    def __init__(self, task: Task, pupil: KernelPupil, operator: StreamedOperator) -> None:
        super().__init__(task, pupil)
        self.operator: StreamedOperator = operator
        self.diagonal: Array = np.array(pupil.diagonal)
        self.score: Array = np.tile(self.candidate_scores(), self.copies[0]) if self.greedy else NOTHING
        self.bits: NDArray[np.int64] = self.score.view(np.int64)
        self.scoring: Scoring | None = self.scoring_with(lambda constants: np.tile(constants, self.copies[0]))
        self.effects: StreamedOperator | None = None if self.product is None else self.product.effects(operator)
        selects = self.greedy and (self.k > 1 or task.has_schedule)
        self.work: NDArray[np.int64] = np.empty(len(task.pool) if selects else 0, dtype=np.int64)
        self.guess: NDArray[np.int64] = np.zeros((self.copies[0], 2), dtype=np.int64)
        self.y: Array = np.array(self._flat(task.target))
        self.other: Array = self.y if task.other_target is None else np.array(self._flat(task.other_target))
        self.motion: Motion | None = None
        self.f: Array
        self.c: Array
        self.shown: Flags
        self.room_for_packs = self.room_for_joint
        self.expected: StreamedOperator | None = None
        if self.product is not None and self.room_for_packs is not None:
            self.expected = self.product.expect_effects(operator, self.effects)
        start = self.take_over()
        if self.makes_labels:
            self.make_labels_by(len(self.score), float(np.max(self.score, initial=0.0)))
        self.begin(start)

    def _flat(self, values: Array) -> Array:
        """Return values on the pool, flat; where outputs have examples of their own, one output after another."""
        return (values if self.copies[0] == 1 else values.T).reshape(-1)

    def _of_pool(self, flat: Array) -> Array:
        """Return the inverse of `_flat`."""
        shape = self.task.target.shape
        return flat.reshape(shape) if self.copies[0] == 1 else np.ascontiguousarray(flat.reshape(shape[::-1]).T)

    def take_over(self) -> float:
        self._borrow()
        self._find_product()
        return self.measure(self._rescore(), self.f, self.y)

    def _borrow(self) -> None:
        values, coefficients, self.shown = self.pupil.lend()
        if not isinstance(self.pupil, UpdatingPupil):
            self.f, self.c = self._flat(values), self._flat(coefficients)
            return
        pupil, update = self.pupil, self.pupil.update
        self.rows = [self._flat(row) for row in values], [self._flat(row) for row in coefficients]
        self.f, self.c = (rows[update.answer] for rows in self.rows)
        (function, velocity), (c_function, c_velocity) = (rows[:2] for rows in self.rows)
        self.motion = Motion(
            float(update.momentum), bool(update.nesterov), float(update.decay), float(update.forgetting),
            update.budget or 0, float(update.averaging), self.steps_before, function, velocity, c_function, c_velocity,
            pupil.of_start, np.empty(len(self.f)),
        )  # fmt: skip
        if update.budget is not None:
            self._fetch(np.flatnonzero(self.shown))  # any of them may be removed

    def _fetch(self, indices: Indices) -> None:
        """Compute the columns of some points, and their effects, where they are not kept."""
        self.operator.fetch(indices)
        if self.motion is not None and self.motion.budget and self.operator.room < len(self.task.pool):
            raise InvalidInput(
                "there is too little memory for the columns of all centres of a learner with a budget",
                way_out=Wording("use engine='reference'", "use --engine reference"),
            )
        if self.expected is not None:
            self.expected.fetch(indices)
        if self.effects is not None:
            self.effects.fetch(indices)
            self.operator.fetch(indices)  # an effect may have taken the place of one

    @property
    def joint(self) -> tuple[object, ...] | None:
        """What compiled code chooses packs from by their joint decrease, None for other teachers."""
        if self.expected is None or self.room_for_packs is None:
            return None
        return *self.room_for_packs, self.expected.kept[:2]

    def _find_product(self) -> None:
        if self.product is not None and self.scoring is not None:
            product_rows(self.scoring.constants, len(self.outputs))[:] = self.product.of(
                self._of_pool(self.f) - self.task.target
            )

    def renew_product(self) -> None:
        self._find_product()
        self.find_scores()

    @property
    def values(self) -> Array:
        return self._of_pool(self.f)

    def run(self, batch: StepBatch) -> tuple[int, int]:
        pack = self.k * self.copies[0]
        moves, sizes = np.empty((2, pack * len(self.outputs)))
        function = (self.diagonal, Values(self.f, self.y, self.other, self.c, self.shown))
        scores = (self.score, self.bits, self.scoring, self.norm)
        learner = (self.loss, self.delta, self.outputs, (self.copies[0], 0))
        added = False
        taken, m = 0, self.discrepancy
        while True:
            rest = batch.part(taken, len(batch.rates))
            effects = None if self.effects is None else self.effects.kept[:2]
            room = self.operator.room if self.effects is None else min(self.operator.room, self.effects.room)
            if self.expected is not None and pack > min(room, self.expected.room):
                raise InvalidInput(
                    "there is too little memory for the columns of a pack",
                    way_out=Wording("use engine='reference'", "use --engine reference"),
                )
            more, code, missing = by_whole_columns(
                self.operator.kept, effects, self.joint, self.motion, pack <= room, added, self.step + taken, m,
                self.making, self.greedy, *function, *scores, *learner, moves, sizes, self.work, self.guess, self.rules,
                rest,
            )  # fmt: skip
            taken += int(more)
            if missing == NOTHING_MISSING:
                return taken, int(code)
            m = float(batch.discrepancy[taken - 1]) if taken else m
            chosen = batch.indices[taken]
            try:
                if missing == FETCH:
                    self._fetch(chosen)
                else:
                    self._add(chosen, moves)
                    self._find_product()
            except Exception as error:  # the kernel may be the user's, and raise anything
                if taken == 0:
                    raise
                self.failure = error
                return taken, 0
            added = missing != FETCH

    def _add(self, chosen: NDArray[np.int64], moves: Array) -> None:
        """Add the columns of a pack of which not all can be kept; if the kernel raises an error, nothing was added."""
        after = np.array(self.f).reshape(self.copies[0], len(self.task.pool), *self.task.label_outputs)
        packs = moves.reshape(self.copies[0], self.k, *self.task.label_outputs)
        for values, indices, coefficients in zip(after, chosen.reshape(-1, self.k), packs, strict=True):
            self.operator.add(values, indices, coefficients)
        self.f[:] = after.reshape(-1)

    def find_scores(self) -> None:
        self._rescore()

    def _rescore(self) -> float:
        """Bring the scores up to date after all values changed, and return the sum of squares."""
        return float(rescore(self.f, self.y, self.score, self.scoring, self.greedy, self.outputs, self.norm))

    def settle(self) -> None:
        if self.motion is None:
            self.pupil.take_back(self._of_pool(self.f), self._of_pool(self.c), self.shown)
        else:
            values, coefficients = (np.stack([self._of_pool(row) for row in rows]) for rows in self.rows)
            self.pupil.take_back(values, coefficients, self.shown)

    def state(self) -> dict[str, Any]:
        product = None
        if self.scoring is not None and self.product is not None:
            product = np.array(product_rows(self.scoring.constants, len(self.outputs)))
        return super().state() | {"product": product}

    def close(self) -> None:
        self.operator.forget()
        for columns in (self.effects, self.expected):
            if columns is not None:
                columns.forget()
        self.settle()

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._borrow()
        if self.scoring is not None and self.product is not None:
            rows = product_rows(self.scoring.constants, len(self.outputs))
            rows[:] = check_stored_array(state, "product", rows.shape)
        self.find_scores()

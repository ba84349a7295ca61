"""The engine for kernels that reach across the pool: whole columns, computed when needed and kept in a cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import RBF, DotProduct, Kernel, Matern

from nimt.arrays import Array, Flags
from nimt.engines.base import Task
from nimt.engines.compiled import CompiledEngine, Sheet
from nimt.engines.compiled_steps.labels import make_labels
from nimt.engines.compiled_steps.largest import first_largest
from nimt.engines.compiled_steps.packs import choose_packs, rescored
from nimt.engines.compiled_steps.stopping import over, stillness
from nimt.engines.compiled_steps.streaming import add_scaled, squared_distances
from nimt.learners.kernel import KernelPupil
from nimt.operators.streamed import StreamedOperator
from nimt.pools.base import Pool

NOTHING: Array = np.empty(0)


def compiled_column(kernel: Kernel, pool: Pool) -> Callable[[int, Array], None] | None:
    """Return a fast way to fill a column for RBF, Matern 1/2, 3/2, 5/2 and the linear kernel, None for others."""
    if type(kernel) is DotProduct:
        rows = np.ascontiguousarray(pool.points)

        def linear(index: int, result: Array) -> None:
            np.dot(rows, rows[index], out=result)
            result += kernel.sigma_0**2

        return linear
    shape = _SHAPES.get((type(kernel), getattr(kernel, "nu", None)))
    if shape is None:
        return None
    coordinates = np.ascontiguousarray((pool.points / kernel.length_scale).T)

    def radial(index: int, result: Array) -> None:
        squared_distances(coordinates, index, result)
        shape(result)

    return radial


def _gaussian(square: Array) -> None:
    square *= -0.5
    np.exp(square, out=square)


def _matern_half(square: Array) -> None:
    np.sqrt(square, out=square)
    np.exp(-square, out=square)


def _matern_three_halves(square: Array) -> None:
    np.sqrt(square, out=square)
    square *= np.sqrt(3.0)
    square[:] = (1.0 + square) * np.exp(-square)


def _matern_five_halves(square: Array) -> None:
    distance = np.sqrt(5.0 * square)
    square[:] = (1.0 + distance + distance**2 / 3.0) * np.exp(-distance)


_SHAPES: dict[tuple[type, float | None], Callable[[Array], None]] = {
    (RBF, None): _gaussian,
    (Matern, 0.5): _matern_half,
    (Matern, 1.5): _matern_three_halves,
    (Matern, 2.5): _matern_five_halves,
}


class StreamedEngine(CompiledEngine):
    """Run a lesson whose steps change the whole pool, without forming a Gram matrix."""

    name: str = "streamed"

    def __init__(self, task: Task, pupil: KernelPupil, operator: StreamedOperator) -> None:
        super().__init__(task, pupil)
        self.operator: StreamedOperator = operator
        self.diagonal: Array = np.asarray(pupil.diagonal)
        self.score: Array = np.tile(self.candidate_scores(), self.copies[0]) if self.greedy else NOTHING
        self.bits: NDArray[np.int64] = self.score.view(np.int64)
        self.weight: Array = NOTHING if self.twin.kernel is None else np.tile(self.gradient_weight(), self.copies[0])
        self.work: NDArray[np.int64] = np.empty(len(task.pool) if self.k > 1 else 0, dtype=np.int64)
        self.guess: NDArray[np.int64] = np.zeros((self.copies[0], 2), dtype=np.int64)
        self.y: Array = np.array(self._copied(task.target), order="C").reshape(-1)
        self.f: Array
        self.c: Array
        self.shown: Flags
        start = self.take_over()
        self.make_labels_by(len(self.score), float(np.max(self.score, initial=0.0)))
        self.begin(start)

    def _copied(self, values: Array) -> Array:
        """Return values on the pool; where outputs have examples of their own, one output after another."""
        return values if self.copies[0] == 1 else values.T.reshape(-1)

    def _of_pool(self, values: Array) -> Array:
        """Return the inverse of `_copied`."""
        n = len(self.task.pool)
        return values if self.copies[0] == 1 else np.ascontiguousarray(values.reshape(-1, n).T)

    def take_over(self) -> float:
        self._borrow()
        square = self._rescored()
        return self.measured(square, self.f.reshape(-1), self.y)

    def _borrow(self) -> None:
        values, coefficients, self.shown = self.pupil.lend()
        self.f, self.c = self._copied(values), self._copied(coefficients)

    @property
    def values(self) -> Array:
        return self._of_pool(self.f)

    def run(self, sheet: Sheet) -> tuple[int, int]:
        rates, other_label, watch, indices, labels, discrepancy = sheet
        task, loss = self.task, self.pupil.loss
        n = len(task.pool)
        homes = n * np.repeat(np.arange(self.copies[0]), self.k)  # where the copy of each example begins
        m = self.discrepancy
        for t in range(len(rates)):
            code, *watch[:] = over(self.step + t, m, self.rules, *watch)
            if code:
                return t, int(code)
            chosen = indices[t]
            if self.greedy and self.k == 1:
                for copy, home in enumerate(homes):
                    chosen[copy] = first_largest(self.bits[home : home + n])
            elif self.greedy:
                choose_packs(None, self.bits, self.work, self.guess, self.f, self.y, self.score, self.copies, chosen)
            if self.making is not None:
                make_labels(self.making, chosen, self.f, self.y, self.step + t, labels[t])
            else:
                source = task.other_target if other_label is not None and other_label[t] else task.target
                assert source is not None
                labels[t] = task.at_examples(source, chosen).reshape(-1)
            slots = chosen + homes
            slopes = loss.slope(self.f[slots], labels[t].reshape(-1, *task.label_outputs))
            largest = float(np.max(np.abs(slopes).reshape(len(chosen), -1) * self.diagonal[chosen, np.newaxis]))
            code = stillness(largest, m, self.rules)
            if code:
                return t, int(code)
            moves = -rates[t] / self.k * slopes
            try:
                self._add(chosen, homes, moves)
            except Exception as error:  # the kernel may be the user's, and raise anything
                if t == 0:
                    raise
                self.failure = error
                return t, 0
            np.add.at(self.c, slots, moves)  # a pack may show the same point twice
            self.shown[chosen] = True
            m = self.measured(self._rescored(), self.f.reshape(-1), self.y)
            discrepancy[t] = m
        return len(rates), 0

    def _add(self, chosen: NDArray[np.int64], homes: NDArray[np.int64], moves: Array) -> None:
        """Add the columns of a pack to the values; if the kernel raises an error, they are as before."""
        if self.k == 1 and not self.task.outputs:
            add_scaled(float(moves[0]), self.operator.column(int(chosen[0])), self.f)
            return
        before = np.array(self.f) if self.operator.asks_kernel else self.f
        n = len(self.task.pool)
        try:
            for first in range(0, len(chosen), self.k):
                part, home = slice(first, first + self.k), homes[first]
                self.operator.add(self.f[home : home + n], chosen[part], moves[part])
        except Exception:
            self.f[...] = before
            raise

    def _rescored(self) -> float:
        """Bring the scores up to date after all values changed, and return the sum of squares."""
        rule = (self.rule, self.rule_delta, self.weight, self.greedy, self.outputs, self.norm)
        return float(rescored(self.f.reshape(-1), self.y, self.score, *rule))

    def settle(self) -> None:
        self.pupil.take_back(self._of_pool(self.f), self._of_pool(self.c), self.shown)

    def close(self) -> None:
        self.operator.kept.clear()
        self.settle()

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._borrow()
        self._rescored()

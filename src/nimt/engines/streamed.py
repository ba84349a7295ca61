"""The engine for kernels that reach everywhere: whole columns, computed when needed and kept while there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern

from nimt.arrays import Array
from nimt.engines import _compiled
from nimt.engines.base import Task
from nimt.engines.compiled import RESIDUAL, FastEngine, Sheet
from nimt.losses import as_loss
from nimt.measures import scale_of
from nimt.operators.streamed import CACHE, StreamedOperator
from nimt.pools.base import Pool

NOTHING = np.empty(0)


def compiled_column(kernel: Any, pool: Pool) -> Callable[[int, Array], None] | None:
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
        _compiled.squared_distances(coordinates, index, result)
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


_SHAPES: dict[tuple[type, Any], Callable[[Array], None]] = {
    (RBF, None): _gaussian,
    (Matern, 0.5): _matern_half,
    (Matern, 1.5): _matern_three_halves,
    (Matern, 2.5): _matern_five_halves,
}


class StreamedEngine(FastEngine):
    """Run a lesson whose every step touches the whole pool, without ever forming a Gram matrix."""

    name = "streamed"

    def __init__(self, task: Task, cache_bytes: int = CACHE) -> None:
        kernel = task.learner.kernel
        self.operator = StreamedOperator(kernel, task.pool, cache_bytes, compiled_column(kernel, task.pool))
        super().__init__(task, self.operator)
        self.diagonal = np.asarray(self.pupil.diagonal)
        self.score = self.candidate_scores() if self.greedy else NOTHING
        self.bits = self.score.view(np.int64)
        self.weight = NOTHING if self.rule == RESIDUAL else self.gradient_weight()
        self.work = np.empty(len(self.bits) if self.k > 1 else 0, dtype=np.int64)
        self.guess = np.zeros(2, dtype=np.int64)
        self.begin(scale_of(task.measure, len(task.pool)) * float(np.sqrt(self._finish(0.0, self.pupil.values))))

    def run(self, sheet: Sheet) -> tuple[int, int]:
        rates, other_label, watch, indices, labels, discrepancy = sheet
        task, pupil = self.task, self.pupil
        loss = as_loss(task.learner.loss)
        still, scale = self.rules[_compiled.STILL], self.rules[_compiled.SCALE]
        measured = self.discrepancy
        for t in range(len(rates)):
            code = _compiled.over(self.step + t, measured, self.rules, watch)
            if code:
                return t, int(code)
            chosen = indices[t]
            if self.greedy and self.k == 1:
                chosen[0] = _compiled.first_largest(self.bits)
            elif self.greedy:
                _compiled.largest_into(self.bits, self.work, self.guess, chosen)
            source = task.other_target if len(other_label) and other_label[t] else task.target
            assert source is not None
            labels[t] = source[chosen]
            slopes = loss.slope(pupil.values[chosen], labels[t])
            if still >= 0.0 and np.max((slopes * self.diagonal[chosen]) ** 2) <= still:
                return t, _compiled.STATIONARY
            moves = -rates[t] / self.k * slopes
            np.add.at(pupil.coefficients, chosen, moves)  # a pack may show the same point twice
            pupil.shown[chosen] = True
            if self.k == 1:
                square = self._finish(float(moves[0]), self.operator.column(int(chosen[0])))
            else:
                self.operator.add(pupil.values, chosen, moves)
                square = self._finish(0.0, pupil.values)
            measured = scale * float(np.sqrt(square))
            discrepancy[t] = measured
        return len(rates), 0

    def _finish(self, move: float, column: Array) -> float:
        """Add a column to the values, bring the scores up to date, and return the sum of squares."""
        rule = (self.score, self.rule, self.rule_delta, self.weight, self.greedy)
        return float(_compiled.finish_spread(move, column, self.pupil.values, self.task.target, *rule))

    def settle(self) -> None:
        pass  # the pupil's own arrays are worked on

    def close(self) -> None:
        self.operator.kept.clear()

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._finish(0.0, self.pupil.values)

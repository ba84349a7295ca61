"""The engine for a `LinearLearner`: a few weights, from which all values follow."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.codes import Scoring
from nimt.engines.compiled import CompiledEngine, StepBatch
from nimt.engines.compiled_steps.linear_steps import apply_weights, by_weights
from nimt.engines.compiled_steps.pack_steps import rescore
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.linear_learner import LinearPupil
from nimt.task.task import Task

NOTHING: Array = np.empty(0)


class LinearEngine(CompiledEngine):
    """Run a lesson of a `LinearLearner`."""

    name: str = "linear"

    def __init__(self, task: Task, pupil: LinearPupil) -> None:
        super().__init__(task, cast(KernelPupil, pupil))  # what is asked of both is the loss, the rate and the diagonal
        self.weighted: LinearPupil = pupil
        self.features: Array = np.array(pupil.learner.features(task.pool.points).T, order="C")
        self.diagonal: Array = np.array(pupil.diagonal)
        self.score: Array = self.candidate_scores() if self.greedy else NOTHING
        self.bits: NDArray[np.int64] = self.score.view(np.int64)
        self.scoring: Scoring | None = self.scoring_with(np.array)
        selects = self.greedy and (self.k > 1 or task.has_schedule)
        self.work: NDArray[np.int64] = np.empty(len(task.pool) if selects else 0, dtype=np.int64)
        self.guess: NDArray[np.int64] = np.zeros((1, 2), dtype=np.int64)
        self.y: Array = np.array(task.target)
        self.other: Array = self.y if task.other_target is None else np.array(task.other_target)
        self.shown: NDArray[np.bool_] = np.zeros(len(task.pool), dtype=bool)
        self.f: Array = np.empty(len(task.pool))
        self.begin(self.take_over())

    def take_over(self) -> float:
        self.weights: Array = self.weighted.learner.current_weights().copy()
        apply_weights(self.features, self.weights, self.f)
        return self.measure(self._rescore(), self.f, self.y)

    @property
    def values(self) -> Array:
        return self.f

    def run(self, batch: StepBatch) -> tuple[int, int]:
        moves, sizes = np.empty((2, self.k))
        taken, code = by_weights(
            self.features, self.weights, self.step, self.discrepancy,
            tuple(batch), self.greedy,
            (self.diagonal, self.f, self.y, self.other, self.shown), (self.score, self.bits, self.norm), self.scoring,
            (self.loss, self.delta, self.outputs, self.copies), (moves, sizes, self.guess), self.work, self.rules,
        )  # fmt: skip
        return int(taken), int(code)

    def find_scores(self) -> None:
        self._rescore()

    def _rescore(self) -> float:
        """Bring the scores up to date after all values changed, and return the sum of squares."""
        return float(rescore(self.f, self.y, self.score, self.scoring, self.greedy, self.outputs, self.norm))

    def settle(self) -> None:
        self.weighted.take_weights(self.weights, self.f)

    def close(self) -> None:
        self.settle()

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.take_over()

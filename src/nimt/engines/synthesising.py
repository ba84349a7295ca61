"""The sparse engine for a teacher that makes labels: the tournament finds the example, the teacher its label."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from nimt.arrays import Array
from nimt.engines import _compiled
from nimt.engines.base import Task
from nimt.engines.compiled import Sheet
from nimt.engines.sparse import SparseEngine
from nimt.learners.kernel import KernelPupil
from nimt.losses import check_labels
from nimt.operators.grid import GridOperator
from nimt.operators.neighbours import NeighbourOperator
from nimt.teachers.responses import Responses
from nimt.teachers.synthesis import SynthesisTeacher, observe

ALWAYS = np.ones(1, dtype=bool)


class SynthesisingEngine(SparseEngine):
    """Run `SynthesisTeacher` with one example per step, at a cost that does not grow with the pool.

    Finding the example and learning from it are compiled. The teacher's estimator looks at one point per step, so it
    runs in Python as in the reference loop, with slots in place of pool indices.
    """

    step: int

    def __init__(self, task: Task, pupil: KernelPupil, operator: GridOperator | NeighbourOperator) -> None:
        super().__init__(task, pupil, operator)
        self.other: Array = np.zeros_like(self.y)  # the label of the step is written here
        self.known_target: Array = task.target if task.candidates is None else task.target[task.candidates]
        self.teacher: SynthesisTeacher = cast(SynthesisTeacher, task.teacher)  # its twin says that it makes labels
        radius = self.teacher.radius or float(np.max(self.score))
        self.responses: Responses = Responses.unknown(np.arange(len(self.y)), radius)

    def run(self, sheet: Sheet) -> tuple[int, int]:
        began = self.step
        try:
            for t in range(len(sheet.rates)):
                self.step = began + t
                scale, tol, limit, _, patience, _ = self.rules
                kept = self.sums[_compiled.TOTAL] + self.sums[_compiled.CARRY]
                measured = _compiled.measured(scale, kept, self.f, self.y)
                code, *sheet.watch[:] = _compiled.over(self.step, measured, tol, limit, patience, *sheet.watch)
                if code:
                    return t, int(code)
                self._make_label()
                _, code = super().run(sheet.only(t)._replace(other_label=ALWAYS))
                if code:
                    return t, code
            return len(sheet.rates), 0
        finally:
            self.step = began

    def _make_label(self) -> None:
        """Do what `SynthesisTeacher.select` does, for the one slot with the largest error."""
        responses = self.responses
        if responses.shown is not None:
            observe(responses, self.f, self.step)
        slot = self.best_slot[self.node_tile[self.levels[-2]] :][:1]
        before, target = self.f[slot], self.y[slot]
        label, offset = self.teacher.labelled(responses, slot, before, target, self.known_target)
        check_labels(self.pupil.loss, label)
        self.other[slot] = label
        responses.shown, responses.before, responses.offset = slot.copy(), before, offset

    def state(self) -> dict[str, Any]:
        seen = self.responses
        remembered: dict[str, Any] | None = None
        if seen.shown is not None and seen.before is not None and seen.offset is not None:
            remembered = dict(seen.remembered(seen.shown, seen.before, seen.offset))
        return super().state() | {"responses": remembered}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        if state["responses"] is not None:
            self.responses = Responses.recalled(state["responses"], self.responses.identity)

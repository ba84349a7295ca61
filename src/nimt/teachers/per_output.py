"""Several outputs taught side by side: every output gets examples of its own in the same step."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.teachers.planned import PlannedTeacher
from nimt.teachers.rule import Rule
from nimt.teachers.teacher import Memory, Selection, View
from nimt.teachers.wrapping import Wrapping


@dataclass(frozen=True, eq=False)
class PerOutput(Wrapping):
    """Let a teacher choose for each output by itself: with q outputs, q packs of k examples per step [Zhang23b].

    Every output sees its own column of f and f* only, and its pack moves that output only: f_o <- f_o - eta * (1/k)
    sum_j slope(f_o(x_j), y_j) K(x_j, .). All packs of a step are chosen before any of them is shown. The outputs
    choose in their order, from one random stream, and ties are broken as the teacher breaks them. So a lesson is that
    of q lessons with one output each, taken step by step together.

    A step is recorded as q k indices and as many labels: the k of the first output, then those of the second. With
    `AlternativeLabels` all packs of a step are labelled by the other target, or none.

    Parameters
    ----------
    teacher : a teacher, with `select(view)`
        Its `k` is the number of examples per output, its `pool` and `labels` hold for all outputs.

    Examples
    --------
    >>> import nimt
    >>> target = np.array([[3.0, 0.0], [0.0, -5.0]])
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> teacher = nimt.teachers.PerOutput(nimt.GreedyTeacher())
    >>> lesson = nimt.teach(learner, teacher, [0.0, 9.0], target, max_iterations=1)
    >>> lesson.indices, lesson.labels
    (array([[0, 1]]), array([[ 3., -5.]]))
    """

    per_output: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner.per_output:
            raise InvalidInput(f"{self.inner.kind} chooses for each output already: leave PerOutput out")
        if self.inner.communicates:
            raise InvalidInput("outputs communicate in one step for all: write Communicating(PerOutput(teacher))")

    @property
    def needs_one_output(self) -> bool:
        return False  # a teacher for one output is given one output

    @property
    def method(self) -> str:
        return f"{super().method} per output"

    def compiled_rule(self) -> Rule | None:
        rule = self.inner.compiled_rule()
        return None if rule is None else dataclasses.replace(rule, per_output=True)

    def pack_size(self, n: int) -> int | None:
        if isinstance(self.inner, PlannedTeacher) and not self.inner.has_equal_packs(n):
            raise InvalidInput(
                f"PerOutput shows all outputs packs of one size, and those of {self.inner.kind} differ, because "
                f"k={self.inner.k!r} does not divide {n} points: give a k that does"
            )
        return super().pack_size(n)

    def select(self, view: View) -> Selection:
        if view.target.ndim == 1:
            raise InvalidInput("PerOutput chooses for several outputs, and this view has one")
        packs = [self.inner.select(_of_output(view, output)) for output in range(view.target.shape[1])]
        for pack in packs:
            if not isinstance(pack, Selection):
                raise InvalidInput(f"{self.inner.kind}.select must return a Selection, got {pack!r}")
            if len(np.atleast_1d(pack.indices)) != len(np.atleast_1d(packs[0].indices)):
                raise InvalidInput(f"{self.inner.kind} showed packs of different sizes to the outputs")
        return view.show(
            np.concatenate([np.atleast_1d(pack.indices) for pack in packs]),
            _side_by_side([pack.scores for pack in packs]),
            labels=np.concatenate([np.atleast_1d(pack.labels) for pack in packs]),
            memory=_join([pack.memory for pack in packs]),
            weights=_join_weights(packs),
        )


def _of_output(view: View, output: int) -> View:
    """Return what is seen of one output: its column, and what was remembered of it."""
    prefix = f"{output}/"
    memory = {name.removeprefix(prefix): part for name, part in (view.memory or {}).items() if name.startswith(prefix)}
    return dataclasses.replace(
        view, predictions=view.predictions[:, output], target=view.target[:, output], memory=memory or None
    )


def _join(memories: list[Memory | None]) -> Memory | None:
    """Return the memories of all outputs under names that begin with the number of the output."""
    joined = {
        f"{output}/{name}": part for output, memory in enumerate(memories) for name, part in (memory or {}).items()
    }
    return joined or None


def _join_weights(packs: list[Selection]) -> Array | None:
    """Return the weights of the packs of all outputs, None if no pack has any."""
    if all(pack.weights is None for pack in packs):
        return None
    return np.concatenate([np.ones(len(pack.indices)) if pack.weights is None else pack.weights for pack in packs])


def _side_by_side(scores: list[Array | None]) -> Array | None:
    """Return the scores of all outputs as (n, q), None if an output has none."""
    known = [part for part in scores if part is not None]
    return np.column_stack(known) if len(known) == len(scores) else None

"""Several outputs taught side by side: every output gets examples of its own in the same step."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.base import AlternativeLabels, Memory, Selection, SelectsExamples, Teacher, View, check_teacher


@dataclass(frozen=True, eq=False)
class PerOutput(Teacher):
    """Let a teacher choose for each output by itself: with q outputs, q packs of k examples per step [MINT].

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
    >>> lesson = nimt.teach(learner, nimt.PerOutput(nimt.GreedyTeacher()), [0.0, 9.0], target, max_iterations=1)
    >>> lesson.indices, lesson.labels
    (array([[0, 1]]), array([[ 3., -5.]]))
    """

    teacher: SelectsExamples
    pool: ArrayLike | None = field(init=False, default=None, repr=False)
    labels: AlternativeLabels | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        check_teacher(self.teacher)
        if getattr(self.teacher, "per_output", False):
            raise InvalidInput(f"{type(self.teacher).__name__} chooses for each output already: leave PerOutput out")
        for name in ("pool", "labels"):
            object.__setattr__(self, name, getattr(self.teacher, name, None))
        super().__post_init__()

    @property
    def per_output(self) -> bool:
        return True

    @property
    def method(self) -> str:
        return f"{getattr(self.teacher, 'method', type(self.teacher).__name__)} per output"

    @property
    def k(self) -> int | float | PackSchedule | None:
        """The examples per output, if the teacher says how many."""
        k: int | float | PackSchedule | None = getattr(self.teacher, "k", None)
        return k

    @property
    def look(self) -> LookSchedule | None:
        """At which steps the teacher looks at the learner, if it has a schedule for that."""
        look: LookSchedule | None = getattr(self.teacher, "look", None)
        return look

    @property
    def replace(self) -> bool:
        """Whether a pack may hold a point twice."""
        return bool(getattr(self.teacher, "replace", False))

    @property
    def draws(self) -> bool:
        return bool(getattr(self.teacher, "draws", True))

    @property
    def colour(self) -> str | None:
        return None  # not that of the teacher, which it is often compared with

    @property
    def shows_true_labels(self) -> bool:
        return bool(getattr(self.teacher, "shows_true_labels", False))

    def pack_size(self, n: int) -> int | None:
        tell = getattr(self.teacher, "pack_size", None)
        size: int | None = None if tell is None else tell(n)
        return size

    def check_on(self, n: int) -> None:
        fits = getattr(self.teacher, "check_on", None)
        if fits is not None:
            fits(n)

    def looks_at(self, step: int) -> bool:
        tell = getattr(self.teacher, "looks_at", None)
        return tell is None or bool(tell(step))

    def settled(self, steps: int) -> Self:
        teacher = self.teacher
        return dataclasses.replace(self, teacher=teacher.settled(steps)) if isinstance(teacher, Teacher) else self

    def with_labels(self, labels: AlternativeLabels) -> Self:
        teacher = self.teacher
        return dataclasses.replace(self, teacher=teacher.with_labels(labels)) if isinstance(teacher, Teacher) else self

    def select(self, view: View) -> Selection:
        if view.target.ndim == 1:
            raise InvalidInput("PerOutput chooses for several outputs, and this view has one")
        packs = [self.teacher.select(_of_output(view, output)) for output in range(view.target.shape[1])]
        for pack in packs:
            if not isinstance(pack, Selection):
                raise InvalidInput(f"{type(self.teacher).__name__}.select must return a Selection, got {pack!r}")
            if len(np.atleast_1d(pack.indices)) != len(np.atleast_1d(packs[0].indices)):
                raise InvalidInput(f"{type(self.teacher).__name__} showed packs of different sizes to the outputs")
        return view.shown(
            np.concatenate([np.atleast_1d(pack.indices) for pack in packs]),
            _side_by_side([pack.scores for pack in packs]),
            labels=np.concatenate([np.atleast_1d(pack.labels) for pack in packs]),
            memory=_joined([pack.memory for pack in packs]),
        )


def _of_output(view: View, output: int) -> View:
    """Return what is seen of one output: its column, and what was remembered of it."""
    prefix = f"{output}/"
    memory = {name.removeprefix(prefix): part for name, part in (view.memory or {}).items() if name.startswith(prefix)}
    return dataclasses.replace(
        view, predictions=view.predictions[:, output], target=view.target[:, output], memory=memory or None
    )


def _joined(memories: list[Memory | None]) -> Memory | None:
    """Return the memories of all outputs under names that begin with the number of the output."""
    joined = {
        f"{output}/{name}": part for output, memory in enumerate(memories) for name, part in (memory or {}).items()
    }
    return joined or None


def _side_by_side(scores: list[Array | None]) -> Array | None:
    """Return the scores of all outputs as (n, q), None if an output has none."""
    known = [part for part in scores if part is not None]
    return np.column_stack(known) if len(known) == len(scores) else None

"""A list of examples that was made before the lesson, shown in its order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.teachers.rule import Listed, Rule
from nimt.teachers.teacher import Selection, Teacher, View


@dataclass(frozen=True, eq=False)
class SequenceTeacher(Teacher):
    """Show these points in this order, one per step, whatever the learner does; after the last, begin again.

    `nimt.shortest` returns one. `SequenceTeacher(lesson.indices[:, 0])` shows what another lesson showed.

    Parameters
    ----------
    indices : array (m,) of int
        Of the points of the pool, as often as they are shown.
    title : str
        What tables and figures call it.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25)
    >>> lesson = nimt.teach(learner, SequenceTeacher([2, 0, 2]), [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], max_iterations=4)
    >>> lesson.indices[:, 0]
    array([2, 0, 2, 2])
    """

    indices: ArrayLike
    title: str = "sequence"

    own_colour: ClassVar[str | None] = "#0E4D64"

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            indices = np.asarray(self.indices)
        except ValueError:  # of rows of several lengths
            indices = np.zeros(0)
        if indices.ndim != 1 or not indices.size or indices.dtype.kind not in "iu" or indices.min() < 0:
            problem = f"must be a list of whole numbers from 0 on, at least one, got {self.indices!r}"
            raise InvalidInput(problem, parameter="indices", way_out="of a lesson write lesson.indices[:, 0]")
        if not isinstance(self.title, str) or not self.title:
            raise InvalidInput(f"must be a word, got {self.title!r}", parameter="title")
        if self.pool is not None:
            raise InvalidInput("indices= says what is shown", way_out="leave pool= out")
        object.__setattr__(self, "indices", indices.astype(np.intp))

    @property
    def method(self) -> str:
        return self.title

    @property
    def size(self) -> int:
        return 1

    @property
    def changes_by_step(self) -> bool:
        return True

    def looks_at(self, step: int) -> bool:
        return False

    def check_on(self, n: int) -> None:
        largest = int(np.max(self.indices))
        if largest >= n:
            problem = f"names the point {largest}, and the pool has 0 to {n - 1}"
            raise InvalidInput(problem, parameter="indices", way_out="give the pool that the list was made for")

    def compiled_rule(self) -> Rule | None:
        return Rule(Listed(np.asarray(self.indices))) if behaves_like(self, SequenceTeacher, "select") else None

    def select(self, view: View) -> Selection:
        indices = np.asarray(self.indices)
        return view.show(indices[view.step % len(indices)])

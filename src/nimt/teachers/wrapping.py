"""What is shared by teachers that wrap another one: all they do not change, they ask the other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Self

from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices
from nimt.losses import Loss
from nimt.pools.base import Pool
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.base import AlternativeLabels, CompiledTwin, Selection, SelectsExamples, Teacher, View, check_teacher


@dataclass(frozen=True, eq=False)
class Wrapping(Teacher):
    """A teacher that lets another one choose.

    Parameters
    ----------
    teacher : a teacher, with `select(view)`
        Its pool, labels, pack size and schedules are those of the wrapping teacher.
    """

    teacher: SelectsExamples
    pool: ArrayLike | None = field(init=False, default=None, repr=False)
    labels: AlternativeLabels | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        check_teacher(self.teacher)
        for name in ("pool", "labels"):
            object.__setattr__(self, name, getattr(self.teacher, name, None))
        super().__post_init__()

    @property
    def method(self) -> str:
        return str(getattr(self.teacher, "method", type(self.teacher).__name__))

    @property
    def k(self) -> int | float | PackSchedule | None:
        """The size of a pack, if the teacher says it."""
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

    @property
    def needs_one_output(self) -> bool:
        return bool(getattr(self.teacher, "needs_one_output", False))

    @property
    def per_output(self) -> bool:
        return bool(getattr(self.teacher, "per_output", False))

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

    def misled_by(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        teacher = self.teacher
        return teacher.misled_by(pool, target, candidates, loss) if isinstance(teacher, Teacher) else None

    def for_classes(self, loss: str) -> Self:
        teacher = self.teacher
        return dataclasses.replace(self, teacher=teacher.for_classes(loss)) if isinstance(teacher, Teacher) else self

    def settled(self, steps: int) -> Self:
        teacher = self.teacher
        return dataclasses.replace(self, teacher=teacher.settled(steps)) if isinstance(teacher, Teacher) else self

    def with_labels(self, labels: AlternativeLabels) -> Self:
        teacher = self.teacher
        return dataclasses.replace(self, teacher=teacher.with_labels(labels)) if isinstance(teacher, Teacher) else self

    def twin_of_teacher(self) -> CompiledTwin | None:
        """Return how compiled engines choose for the teacher itself, None if they cannot."""
        tell = getattr(self.teacher, "compiled_twin", None)
        twin: CompiledTwin | None = None if tell is None else tell()
        return twin

    def select(self, view: View) -> Selection:
        return self.teacher.select(view)

"""What is shared by teachers that wrap another one: all they do not change, they ask the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from numpy.typing import ArrayLike

from nimt.arrays import Array, Indices
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.adapter import as_teacher
from nimt.teachers.alternative_labels import AlternativeLabels
from nimt.teachers.teacher import Selection, SelectsExamples, Teacher, View


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
        object.__setattr__(self, "pool", self.inner.pool)
        object.__setattr__(self, "labels", self.inner.labels)
        for name in ("per_output", "communicates"):
            object.__setattr__(self, name, getattr(type(self), name) or getattr(self.inner, name))
        super().__post_init__()

    @cached_property
    def inner(self) -> Teacher:
        """The teacher that chooses."""
        return as_teacher(self.teacher)

    @property
    def method(self) -> str:
        return self.inner.method

    @property
    def k(self) -> int | float | PackSchedule | None:
        """The size of a pack, if the teacher says it."""
        return self.inner.size

    @property
    def look(self) -> LookSchedule | None:
        """At which steps the teacher looks at the learner, if it has a schedule for that."""
        return self.inner.looks

    @property
    def replace(self) -> bool:
        """Whether a pack may hold a point twice."""
        return self.inner.may_repeat

    @property
    def opens(self) -> tuple[str, ...]:
        return self.inner.opens

    @property
    def access(self) -> str:
        return self.inner.access

    @property
    def known_parts(self) -> dict[str, Any]:
        return self.inner.known_parts

    @property
    def draws(self) -> bool | None:
        return self.inner.draws

    @property
    def changes_by_step(self) -> bool:
        return super().changes_by_step or self.inner.changes_by_step

    @property
    def colour(self) -> str | None:
        return None  # not that of the teacher, which it is often compared with

    @property
    def shows_true_labels(self) -> bool:
        return self.inner.shows_true_labels

    @property
    def needs_one_output(self) -> bool:
        return self.inner.needs_one_output

    def next_mix(self, step: int) -> int | None:
        return self.inner.next_mix(step)

    def mix(self, predictions: Array, target: Array) -> Array:
        return self.inner.mix(predictions, target)

    def pack_size(self, n: int) -> int | None:
        return self.inner.pack_size(n)

    def check_on(self, n: int) -> None:
        self.inner.check_on(n)

    def check_loss(self, loss: Loss) -> None:
        self.inner.check_loss(loss)

    def looks_at(self, step: int) -> bool:
        return self.inner.looks_at(step)

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        return self.inner.find_misleading(pool, target, candidates, loss)

    def inform(self, known: Mapping[str, Any]) -> Self:
        return self._around(self.inner.inform(known))

    def check_known(self, known: Mapping[str, Any], learner: str) -> None:
        self.inner.check_known(known, learner)

    def for_classes(self, loss: str | Loss) -> Self:
        return self._around(self.inner.for_classes(loss))

    def fix_length(self, steps: int) -> Self:
        return self._around(self.inner.fix_length(steps))

    def with_labels(self, labels: AlternativeLabels) -> Self:
        return self._around(self.inner.with_labels(labels))

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        return self._around(self.inner.prepare_on(pool, target))

    def resolve_on(self, pool: Pool, outputs: tuple[int, ...] = ()) -> Self:
        return self._around(self.inner.resolve_on(pool, outputs))

    def _around(self, inner: Teacher) -> Self:
        """Return the same around another teacher; itself where that is the same."""
        return self if inner is self.inner else dataclasses.replace(self, teacher=inner.original)  # type: ignore[arg-type]

    def select(self, view: View) -> Selection:
        return self.inner.select(view)

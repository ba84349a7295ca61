"""A teacher of the caller that does not inherit `Teacher`: what it tells of itself is asked once, here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from nimt.errors import InvalidInput, name_thing
from nimt.learners.learner import PARTS
from nimt.losses import Loss
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.alternative_labels import AlternativeLabels
from nimt.teachers.teacher import Selection, SelectsExamples, Teacher, View


def as_teacher(teacher: object) -> Teacher:
    """Return a teacher that can be asked everything; an object without `select(view)` is refused.

    Examples
    --------
    >>> class First:
    ...     def select(self, view):
    ...         return view.show([0])
    >>> teacher = as_teacher(First())
    >>> teacher.name, teacher.draws, teacher.pack_size(10)
    ('First', None, None)
    """
    if isinstance(teacher, Teacher):
        return teacher
    if not callable(getattr(teacher, "select", None)) or isinstance(teacher, type):
        raise InvalidInput(
            f"a teacher needs select(view), for example nimt.GreedyTeacher(k=1); got {name_thing(teacher)}"
        )
    return AdaptedTeacher(teacher)


@dataclass(frozen=True, eq=False)
class AdaptedTeacher(Teacher):
    """Any object with `select(view)`; it may also have the attributes of `Teacher`, in part."""

    inner: Any
    pool: ArrayLike | None = field(init=False, default=None, repr=False)
    labels: AlternativeLabels | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("pool", "labels"):
            object.__setattr__(self, name, getattr(self.inner, name, None))
        object.__setattr__(self, "per_output", bool(getattr(self.inner, "per_output", False)))
        super().__post_init__()
        object.__setattr__(self, "select", self.inner.select)  # called at every step
        told = getattr(self.inner, "pack_size", None)
        if told is not None and not callable(told):
            object.__setattr__(self, "pack_size", told)  # which a task refuses

    @property
    def original(self) -> object:
        return self.inner

    @property
    def size(self) -> int | float | PackSchedule | None:
        k: int | float | PackSchedule | None = getattr(self.inner, "k", None)
        return k

    @property
    def looks(self) -> LookSchedule | None:
        look: LookSchedule | None = getattr(self.inner, "look", None)
        return look

    @property
    def opens(self) -> tuple[str, ...]:
        seen = tuple(getattr(self.inner, "sees", ()))
        if unknown := [part for part in seen if part not in PARTS]:
            raise InvalidInput(f"{self.kind} sees {unknown[0]!r}: a teacher may see {', '.join(PARTS)}")
        return seen

    @property
    def may_repeat(self) -> bool:
        return bool(getattr(self.inner, "replace", False))

    @property
    def name(self) -> str:
        name = getattr(self.inner, "name", None)
        return name if isinstance(name, str) and name else str(self.kind)

    @property
    def method(self) -> str:
        return str(getattr(self.inner, "method", self.kind))

    @property
    def draws(self) -> bool | None:
        draws = getattr(self.inner, "draws", None)
        return None if draws is None else bool(draws)

    @property
    def colour(self) -> str | None:
        colour = getattr(self.inner, "colour", None)
        return colour if isinstance(colour, str) else None

    @property
    def shows_true_labels(self) -> bool:
        return bool(getattr(self.inner, "shows_true_labels", False))

    @property
    def needs_one_output(self) -> bool:
        return bool(getattr(self.inner, "needs_one_output", False))

    def pack_size(self, n: int) -> int | None:
        tell = getattr(self.inner, "pack_size", None)
        size: int | None = None if tell is None else tell(n)
        return size

    def looks_at(self, step: int) -> bool:
        tell = getattr(self.inner, "looks_at", None)
        return tell is None or bool(tell(step))

    def check_on(self, n: int) -> None:
        check = getattr(self.inner, "check_on", None)
        if check is not None:
            check(n)

    def check_loss(self, loss: Loss) -> None:
        check = getattr(self.inner, "check_loss", None)
        if check is not None:
            check(loss)

    def with_labels(self, labels: AlternativeLabels) -> AdaptedTeacher:
        return self

    def resolve_on(self, pool: object, outputs: tuple[int, ...] = ()) -> AdaptedTeacher:
        return self  # it is stored as it describes itself

    def fix_length(self, steps: int) -> AdaptedTeacher:
        return self

    def select(self, view: View) -> Selection:
        chosen: SelectsExamples = self.inner
        return chosen.select(view)

"""The rule of INT, nonparametric teaching of implicit neural representations [Zhang24]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack, incremental, steps
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, residual_size

PUBLISHED_SIZES = steps(0.2, 0.92, stages=10)
PUBLISHED_LOOKS = incremental(50, stages=5, dense=0.25)


@dataclass(frozen=True, eq=False)
class INTTeacher(Teacher):
    """INT: the points with the largest sum of |f - f*| over channels, in growing packs that are kept between looks.

    As in the published code, with its defaults: a pack has 20 % of the points at first, 8 % more after every tenth of
    the steps, and is chosen anew only when the teacher looks: at every step in the first quarter, then after 10, 20,
    ..., 50 steps. Between two looks the same pack is shown again, whatever its size should be by then. It differs from
    `GreedyTeacher` in that, and in the norm.

    Parameters
    ----------
    k : int, float or schedule
        The size of a pack, at a look.
    look : schedule or None
        When a pack is chosen; None for every step, the published "dense".

    Examples
    --------
    >>> teacher = INTTeacher().fix_length(1000)
    >>> [round(teacher.k.at(step), 2) for step in (0, 100, 999)], teacher.look.gap_at(999)
    ([0.2, 0.28, 0.92], 50)
    """

    k: int | float | PackSchedule = PUBLISHED_SIZES
    look: LookSchedule | None = PUBLISHED_LOOKS

    own_colour: ClassVar[str | None] = "#B2182B"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)

    @property
    def method(self) -> str:
        return f"INT-{self.k}"

    def select(self, view: View) -> Selection:
        if view.memory is not None and not self.looks_at(view.step):
            return view.show(view.memory["pack"], memory=view.memory)
        scores = residual_size(view.predictions, view.target, norm=1)
        pack = largest(scores, count_of(self.k, len(view), view.step))
        return view.show(pack, scores, memory=None if self.look is None else {"pack": pack})

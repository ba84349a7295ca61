"""Uncertainty sampling: the examples at which a classifier is least sure, whatever their labels are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array
from nimt.schedules import LookSchedule, PackSchedule, check_look, check_pack
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest


@dataclass(frozen=True, eq=False)
class UncertaintyTeacher(Teacher):
    """Show the k points at which the learner is least sure of the class; the label is asked for only then.

    The margin is the largest output minus the second largest, for one output |f|; the smallest margins are shown, ties
    go to the lowest index. It never compares f with f*, so it is not misled by a wrong label, and needs no labels of
    points that it does not show (active learning).

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    look : schedule, optional
        At which steps the margins are computed anew; by default at every step.

    Examples
    --------
    >>> UncertaintyTeacher(k=16).name
    'uncertainty-16'
    """

    k: int | float | PackSchedule = 1
    look: LookSchedule | None = None

    own_colour: ClassVar[str | None] = "#999933"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"uncertainty": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)

    @property
    def method(self) -> str:
        return f"uncertainty-{self.k}"

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        scores = -margins(seen.predictions)
        chosen = largest(scores, count_of(self.k, len(view), view.step))
        return view.show(chosen, scores, memory=seen.to_remember(self.look))


def margins(values: Array) -> Array:
    """Return how far the first class is ahead of the second: |f| for one output.

    Examples
    --------
    >>> margins(np.array([[3.0, 1.0, 2.5]])), margins(np.array([-2.0]))
    (array([0.5]), array([2.]))
    """
    if values.ndim == 1:
        return np.abs(values)
    two = np.partition(values, values.shape[1] - 2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])

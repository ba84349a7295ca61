"""Teachers that show no point a second time: what is left to show, and the end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Indices
from nimt.errors import InvalidInput
from nimt.teachers.teacher import View


class NothingLeft(InvalidInput):
    """A teacher with `never_twice` has shown all it may show: the lesson ends with `Outcome.ALL_SHOWN`."""


def find_left(view: View, among: Indices | None = None) -> Indices:
    """Return the places that were not shown yet, of all or of those `among`; raise `NothingLeft` if there is none."""
    places = np.arange(len(view)) if among is None else among
    if view.memory is not None:
        places = places[~np.isin(view.candidates[places], view.memory["shown"])]
    if not places.size:
        raise NothingLeft(
            f"never_twice=True: all {0 if view.memory is None else len(view.memory['shown'])} points that the teacher "
            f"may show were shown, so nothing is left"
        )
    return places


def add_shown(view: View, places: Indices) -> NDArray[np.int64]:
    """Return the numbers of all points shown, with those of the pack to come: what `find_left` reads as "shown"."""
    before = np.empty(0, dtype=np.int64) if view.memory is None else view.memory["shown"]
    return np.concatenate([before, view.candidates[places]]).astype(np.int64)

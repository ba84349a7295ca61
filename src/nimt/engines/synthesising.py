"""What compiled engines keep of `SynthesisTeacher`: its estimate of the learner's responses, in their layout."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, stored_array, stored_indices
from nimt.engines.base import Task
from nimt.errors import CorruptLesson
from nimt.teachers.responses import AGREE, FORGET, FORGET_ERRORS, PROBES, SURE, TELLING
from nimt.teachers.synthesis import SynthesisTeacher, warn_that_movement_stopped_growing

# handed to compiled code as numbers: its cache on disk does not notice a change in another file
CONSTANTS = (FORGET, FORGET_ERRORS, AGREE**2, TELLING, SURE)

# places in the array `known`, the same as in `_compiled`, which is not loaded before it is needed
RADIUS, REACH, PROBES_LEFT, WARNED, NEAR, FAR, SEEN_AT, LOW, HIGH, PENDING = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
KNOWN = 18  # numbers in all; the rest are sums that only compiled code reads
MARKS = 5  # numbers per point
PACK = 6  # numbers per example of the latest pack


class LabelMaker:
    """The arrays from which `_compiled.make_labels` makes labels as `SynthesisTeacher.labelled` does.

    Parameters
    ----------
    task : Task
    slots : int
        Of the engine's layout.
    k : int
        Examples per pack.
    largest : float
        The largest |f0 - f*| of the points that may be shown.

    Attributes
    ----------
    known : array (18,)
        What holds for all points (`teachers.responses.Responses`), the limits of the labels, and how many examples of
        the latest pack have not been observed yet.
    marks : array (slots, 5)
        Of each point its two sums, and the latest distance, movement and step, side by side in memory.
    shown, pack : array (k,) of int, array (6, k)
        The latest pack, its predictions and offsets, and room to compute in.
    """

    def __init__(self, task: Task, slots: int, k: int, largest: float) -> None:
        teacher = cast(SynthesisTeacher, task.teacher)  # its twin says that it makes labels
        everywhere = task.target if task.candidates is None else task.target[task.candidates]
        self.known: Array = np.zeros(KNOWN)
        self.known[[RADIUS, REACH]] = teacher.radius or largest
        self.known[PROBES_LEFT] = PROBES
        self.known[[LOW, HIGH]] = teacher.limits(everywhere) or (-np.inf, np.inf)
        self.marks: Array = np.zeros((slots, MARKS))
        self.shown: NDArray[np.int64] = np.zeros(k, dtype=np.int64)
        self.pack: Array = np.zeros((PACK, k))

    @property
    def arrays(self) -> tuple[object, ...]:
        """What `_compiled.make_labels` takes."""
        return CONSTANTS, self.known, self.marks, self.shown, self.pack

    def warn(self) -> None:
        """Warn, once, that the movement stopped growing; compiled code returns after the step at which it saw that."""
        if self.known[WARNED] == 1.0:
            self.known[WARNED] = 2.0
            near, far, step = self.known[[NEAR, FAR, SEEN_AT]]
            warn_that_movement_stopped_growing(near, far, self.known[REACH], int(step))

    def state(self) -> dict[str, Any]:
        return {"known": self.known, "marks": self.marks, "shown": self.shown, "pack": self.pack}

    def restore(self, state: dict[str, Any]) -> None:
        self.known[:] = stored_array(state, "known", self.known.shape)
        self.marks[:] = stored_array(state, "marks", self.marks.shape)
        self.shown[:] = stored_indices(state, "shown", self.shown.shape, len(self.marks))
        self.pack[:] = stored_array(state, "pack", self.pack.shape)
        if self.known[PENDING] not in (0, len(self.shown)):
            raise CorruptLesson(f"the file was altered: {self.known[PENDING]} examples are to be observed")

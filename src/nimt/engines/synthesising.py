"""What compiled engines keep of `SynthesisTeacher`: its estimate of the learner's responses, in their layout."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_stored_array, check_stored_indices
from nimt.engines.codes import (
    FAR,
    HIGH,
    KNOWN,
    LOW,
    MARKS,
    NEAR,
    PACK,
    PENDING,
    PROBES_LEFT,
    RADIUS,
    REACH,
    SEEN_AT,
    USED,
    WARNED,
)
from nimt.errors import CorruptLesson
from nimt.task.task import Task
from nimt.teachers.responses import AGREE, FORGET, FORGET_ERRORS, PROBES, SURE, TELLING
from nimt.teachers.synthesis import SynthesisTeacher, warn_that_movement_stopped_growing

# handed to compiled code as numbers: its cache on disk does not notice a change in another folder
CONSTANTS = (FORGET, FORGET_ERRORS, AGREE**2, TELLING, SURE)


class LabelMaker:
    """The arrays from which `make_labels` makes labels as `SynthesisTeacher.label` does.

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
    known : array (19,)
        What holds for all points (`teachers.responses.Responses`), the limits of the labels, how many examples of the
        latest pack have not been observed yet, and how many rows of `marks` are in use.
    marks : array (rows, 5)
        Of each point that was shown its two sums, and the latest distance, movement and step, side by side in memory.
    rows : array (slots,) of int
        The row of each point, 0 before it is shown.
    shown, pack : array (k,) of int, array (6, k)
        The latest pack, its predictions and offsets, and room to compute in.
    """

    def __init__(self, task: Task, slots: int, k: int, largest: float) -> None:
        teacher = cast(SynthesisTeacher, task.teacher)  # its rule says that it makes labels
        everywhere = task.target if task.candidates is None else task.target[task.candidates]
        self.known: Array = np.zeros(KNOWN)
        self.known[[RADIUS, REACH]] = teacher.radius or largest
        self.known[PROBES_LEFT] = PROBES
        self.known[[LOW, HIGH]] = teacher.limits(everywhere) or (-np.inf, np.inf)
        self.marks: Array = np.zeros((1, MARKS))
        self.rows: NDArray[np.int32] = np.zeros(slots, dtype=np.int32)
        self.shown: NDArray[np.int64] = np.zeros(k, dtype=np.int64)
        self.pack: Array = np.zeros((PACK, k))

    @property
    def arrays(self) -> tuple[object, ...]:
        """What `make_labels` takes."""
        return CONSTANTS, self.known, self.marks, self.rows, self.shown, self.pack

    def make_room(self, steps: int) -> None:
        """Have a row for every point that so many steps may show for the first time; compiled code cannot make one."""
        used = int(self.known[USED]) + 1
        needed = min(used + steps * len(self.shown), len(self.rows) + 1)
        if needed > len(self.marks):
            rows = min(max(needed, 9 * len(self.marks) // 8), len(self.rows) + 1)
            # in place, so that there are never two; nothing else refers to its memory, because `state` makes a copy
            self.marks.resize((rows, MARKS), refcheck=False)

    @property
    def must_warn(self) -> bool:
        """Whether a warning is due before the next step."""
        return bool(self.known[WARNED] == 1.0)

    def warn(self) -> None:
        """Warn, once, that the movement stopped growing; compiled code returns after the step at which it saw that."""
        if self.must_warn:
            self.known[WARNED] = 2.0
            near, far, step = self.known[[NEAR, FAR, SEEN_AT]]
            warn_that_movement_stopped_growing(near, far, self.known[REACH], int(step))

    def state(self) -> dict[str, Any]:
        used = int(self.known[USED]) + 1
        marks = self.marks[:used].copy()
        return {"known": self.known, "marks": marks, "rows": self.rows, "shown": self.shown, "pack": self.pack}

    def restore(self, state: dict[str, Any]) -> None:
        self.known[:] = check_stored_array(state, "known", self.known.shape)
        self.marks = np.array(check_stored_array(state, "marks", (None, MARKS)))
        self.rows[:] = check_stored_indices(state, "rows", self.rows.shape, len(self.marks))
        self.shown[:] = check_stored_indices(state, "shown", self.shown.shape, len(self.rows))
        self.pack[:] = check_stored_array(state, "pack", self.pack.shape)
        if self.known[USED] != len(self.marks) - 1 or self.known[USED] > len(self.rows):
            raise CorruptLesson(f"the file was altered: {self.known[USED]} points were shown, of which it knows others")
        if self.known[PENDING] not in (0, len(self.shown)):
            raise CorruptLesson(f"the file was altered: {self.known[PENDING]} examples are to be observed")

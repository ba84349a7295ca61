"""What a teacher asked its learner, and what it heard: `lesson.asked`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, check_stored_array, check_stored_indices
from nimt.errors import CorruptLesson


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers that a teacher asked for, in the order of the steps; its length is how many they are.

    Attributes
    ----------
    steps : array (m,) of int
        Before which step each was asked for.
    indices : array (m,) of int
        At which point of the pool.
    answers : array (m,), or (m, q) for q outputs
        What the learner answered.
    """

    steps: NDArray[np.int64]
    indices: NDArray[np.int64]
    answers: Array

    @classmethod
    def none(cls, outputs: tuple[int, ...] = ()) -> Answers:
        """Return no answers."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, *outputs)))

    @classmethod
    def join(cls, parts: list[Answers]) -> Answers:
        """Return the answers of several parts of a lesson as one."""
        names = ("steps", "indices", "answers")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @classmethod
    def load(cls, stored: dict[str, Any] | None, steps: int, n: int, outputs: tuple[int, ...]) -> Answers:
        """Return the answers that a file of a lesson of so many steps holds; none where it has none."""
        if stored is None:
            return cls.none(outputs)
        answers = check_stored_array(stored, "answers", (None, *outputs))
        count = (len(answers),)
        found = cls(
            check_stored_indices(stored, "steps", count, max(1, steps)).astype(np.int64),
            check_stored_indices(stored, "indices", count, n).astype(np.int64),
            answers,
        )
        if (np.diff(found.steps) < 0).any():
            raise CorruptLesson("the file was altered: its answers are not in the order of the steps")
        return found

    def __len__(self) -> int:
        return len(self.steps)

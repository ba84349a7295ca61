"""What is kept of a greedy choice: the lesson of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.lesson.outcome import Outcome


@dataclass(frozen=True, eq=False)
class GreedyLesson:
    """The record of a greedy choice of m centres; its names are those of `nimt.Lesson`.

    Attributes
    ----------
    indices : array (m,) of int
        The rows of X that became centres, in the order in which they were chosen.
    scores : array (m,)
        The score of each of them when it was chosen.
    discrepancy : array (m + 1,)
        The RMS error on the training rows of the interpolant of the first t centres, for t = 0 .. m.
    outcome : nimt.lesson.Outcome
        Why it ended; STALLED if more centres did not help on rows held out.
    elapsed : float
        Seconds.
    held_out : dict of int to float
        The RMS error on rows held out by number of centres, by models of fewer rows with this rule; empty without any.

    Examples
    --------
    >>> import nimt
    >>> x = np.linspace(-1, 1, 41).reshape(-1, 1)
    >>> lesson = nimt.GreedyKernelRegressor(max_centers=3, cv=None, rule="f").fit(x, np.abs(x).ravel()).lesson_
    >>> lesson.indices
    array([20,  0, 40])
    """

    indices: NDArray[np.intp]
    scores: Array
    discrepancy: Array
    outcome: Outcome
    elapsed: float
    held_out: dict[int, float]

    def __getstate__(self) -> dict[str, Any]:
        # the outcome by its name: skops, which keeps estimators without pickle, cannot make a member of an enum again
        return vars(self) | {"outcome": self.outcome.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"outcome": Outcome[state["outcome"]]})

    def __len__(self) -> int:
        """Return m, the number of centres."""
        return len(self.indices)

    def steps_to(self, tolerance: float) -> int | None:
        """Return the first t with a discrepancy below a tolerance, or None."""
        below = np.flatnonzero(self.discrepancy < tolerance)
        return int(below[0]) if below.size else None

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return columns by step, ready for pandas.DataFrame, polars.DataFrame or CSV.

        Row t holds the error with t centres and what was chosen then; nothing was chosen in the last row (index -1,
        score NaN).
        """
        return {
            "step": np.arange(len(self.discrepancy)),
            "discrepancy": np.array(self.discrepancy),
            "index": np.append(self.indices, -1),
            "score": np.append(self.scores, np.nan),
        }

    def __repr__(self) -> str:
        return (
            f"<GreedyLesson of {len(self)} centres: {self.outcome}; training RMS {self.discrepancy[0]:.4g} -> "
            f"{self.discrepancy[-1]:.4g}>"
        )

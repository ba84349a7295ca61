"""How a lesson ended, as a sentence."""

from __future__ import annotations

import enum


class Outcome(enum.Enum):
    """How a lesson ended; the value is a sentence."""

    CONVERGED = "the discrepancy fell below the tolerance"
    REACHED = "the measure reached the tolerance"
    BUDGET = "the iteration budget ran out"
    DIVERGED = "the learner is moving away: lower the learning rate"
    STATIONARY = "the example shown no longer moves the learner"
    AT_REST = "no later step will move the learner: the loss has no slope at the example shown"
    ALL_SHOWN = "every point was shown, and the teacher shows none twice"
    STALLED = "the measure has not improved for as many steps as patience allows"
    CHOSEN = "the rows held out were predicted best at this step"
    TIME = "the time limit was reached"
    STOPPED = "the callback asked to stop"
    FAILED = "an error ended the lesson"
    INTERRUPTED = "the lesson was interrupted"
    UNFINISHED = "the lesson is still going on"

    def __str__(self) -> str:
        return str(self.value)

    @property
    def met_tolerance(self) -> bool:
        """Whether the lesson ended because its measure met the tolerance, from above or from below."""
        return self in (Outcome.CONVERGED, Outcome.REACHED)

    @property
    def brief(self) -> str:
        """The same in few words, as a finished progress bar says it.

        Examples
        --------
        >>> Outcome.CONVERGED.brief
        'tolerance reached'
        """
        return BRIEFLY.get(self.name, self.name.lower())


BRIEFLY = {
    "CONVERGED": "tolerance reached",
    "REACHED": "tolerance reached",
    "BUDGET": "all that were allowed",
    "STATIONARY": "no longer moving",
    "AT_REST": "no longer moving",
    "ALL_SHOWN": "every point was shown",
    "STALLED": "no longer improving",
    "CHOSEN": "best on the rows held out",
    "TIME": "time limit reached",
    "STOPPED": "stopped by the callback",
}

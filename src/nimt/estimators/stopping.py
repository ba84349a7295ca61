"""Early stopping: how many centres improve the error on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nimt.estimators.choosing import GreedyChoice
from nimt.lesson.outcome import Outcome

LEAST_GAIN = 0.01  # a larger model is taken only if its held-out error is lower by this share


def grow_until_stalled(
    choice: GreedyChoice, most: int, error_of: Callable[[int], float], patience: int
) -> tuple[Outcome, int, dict[int, float]]:
    """Grow by rounds, evaluate the held-out error after each, and stop after `patience` rounds without a gain.

    Returns
    -------
    outcome : Outcome
    best : int
        The smallest number of centres that no later round improved on.
    errors : dict of int to float
        The held-out error by number of centres.
    """
    errors: dict[int, float] = {}
    best, rounds_since = 0, 0
    for size in rounds(most):
        outcome = choice.grow(size)
        reached = len(choice.indices)
        errors[reached] = error_of(reached)
        if len(errors) == 1 or errors[reached] < (1.0 - LEAST_GAIN) * errors[best]:
            best, rounds_since = reached, 0
        else:
            rounds_since += 1
        if outcome is not None:
            return outcome, best, errors
        if rounds_since >= patience:
            return Outcome.STALLED, best, errors
    return Outcome.BUDGET, best, errors


def rounds(most: int) -> Iterator[int]:
    """Yield the sizes at which the error is evaluated: each a quarter larger than the one before, up to `most`.

    The first steps are of 5: one centre alone may gain nothing where the next ones do.

    Examples
    --------
    >>> list(rounds(100))
    [5, 10, 15, 20, 25, 31, 38, 47, 58, 72, 90, 100]
    """
    size = 5
    while size < most:
        yield size
        size += max(5, size // 4)
    yield most

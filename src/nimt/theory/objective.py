"""The length of a lesson that is best when every step has a price [Zhang23, Eq. 1]."""

from __future__ import annotations

import numpy as np

from nimt.arrays import is_number
from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.theory.forecasting import Forecast

LOOKED_AT = 1_000_000  # lengths evaluated one by one


def optimal_length(of: Lesson | Forecast, lam: float) -> int:
    r"""Return the t that minimises M(f^t, f*) + lam t, for a lesson that was given or one that is forecast.

    The paper minimises over all sequences of examples; this is the best length of one teacher's sequence, the whole of
    which decreases M. A forecast is looked at as far as its tolerance: beyond that no price is worth paying, if M falls
    by less than lam per step there.

    Examples
    --------
    >>> import numpy as np
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.01)
    >>> task = (learner, nimt.GreedyTeacher(k=1.0), nimt.Grid(np.arange(-3, 3, 0.1)), np.sin)
    >>> optimal_length(nimt.forecast(*task, tol=1e-3), lam=1e-5)
    1160
    >>> optimal_length(nimt.teach(*task, max_iterations=3000), lam=1e-5)
    1160
    """
    if not is_number(lam) or not 0 <= float(lam) < np.inf:
        raise InvalidInput(f"must be a finite number >= 0, got {lam!r}", parameter="lam")
    if isinstance(of, Lesson):
        return of.best_length(lam)
    if not isinstance(of, Forecast):
        raise InvalidInput(f"a length is best for a lesson or a forecast, got {of!r}")
    curve = of.curve
    coarse = curve.discrepancy + lam * curve.step
    place = int(np.argmin(coarse))
    low, high = int(curve.step[max(0, place - 2)]), int(curve.step[min(len(curve.step) - 1, place + 2)])
    steps = np.unique(np.linspace(low, high, min(high - low + 1, LOOKED_AT)).astype(np.int64))
    return int(steps[np.argmin(curve.at(steps) + lam * steps)])

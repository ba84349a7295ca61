"""How far the largest loss falls when the largest loss is shown: any convex loss, before the lesson."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, check_positive
from nimt.errors import InvalidInput


def largest_loss_bound(
    distance: float,
    learning_rate: float,
    steps: ArrayLike,
    *,
    smoothness: float | None = None,
    lipschitz: float | None = None,
    diagonal: float = 1.0,
) -> Array:
    r"""Return what min_{j < t} max_x L(f^j(x), y(x)) is at most, if every step shows the example of the largest loss.

    For a convex loss that is >= 0 and 0 at g: convexity gives s (f - g)(x) >= L, so by the expansion of the square a
    step changes |f - g|_H^2 by at most -2 eta L + eta^2 s^2 K(x, x). A smooth loss has s^2 <= 2 smoothness L, which
    gives D / (2 eta (1 - eta kappa smoothness) t); a Lipschitz one |s| <= G, which gives
    D / (2 eta t) + eta kappa G^2 / 2.

    Parameters
    ----------
    distance : float
        |f0 - g|_H for a function g with no loss on the pool; D is its square.
    learning_rate : float
    steps : int or array of int
        t >= 1.
    smoothness, lipschitz : float
        One of them: the Lipschitz constant of the slope (square 2, logistic 1/4, Huber 2) or of the loss (absolute 1,
        hinge the largest |y|).
    diagonal : float
        kappa, the largest K(x, x).

    Examples
    --------
    >>> largest_loss_bound(2.0, 0.5, [1, 10, 100], lipschitz=1.0)
    array([4.25, 0.65, 0.29])
    """
    for name, value in (("distance", distance), ("learning_rate", learning_rate), ("diagonal", diagonal)):
        check_positive(name, value)
    t = np.asarray(steps, dtype=np.float64)
    if (t < 1).any():
        raise InvalidInput(f"must be >= 1, got {steps!r}", parameter="steps")
    if (smoothness is None) == (lipschitz is None):
        raise InvalidInput("give smoothness= or lipschitz=, one of them: they lead to different bounds")
    square = distance**2
    if lipschitz is not None:
        check_positive("lipschitz", lipschitz)
        return np.asarray(square / (2.0 * learning_rate * t) + learning_rate * diagonal * lipschitz**2 / 2.0)
    assert smoothness is not None
    check_positive("smoothness", smoothness)
    room = 1.0 - learning_rate * diagonal * smoothness
    if room <= 0:
        raise InvalidInput(
            f"the bound needs learning_rate < 1 / (smoothness diagonal) = {1.0 / (smoothness * diagonal):g}, "
            f"got {learning_rate!r}"
        )
    return np.asarray(square / (2.0 * learning_rate * room * t))

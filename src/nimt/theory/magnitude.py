r"""How fast a greedy lesson goes in the end: its rate is a magnitude.

In the end GFT-1 alternates between points A whose errors are of one size rho, with signs sigma. If point i is shown n_i
times while rho falls by the factor e, all errors fall alike only if 2 eta K_AA (n sigma) = sigma, so that
sum n_i = sigma' K_AA^-1 sigma / (2 eta). For one sign that is the magnitude of A (Leinster) over 2 eta. Beyond the
limit of small rates -ln(1 - 2 eta kappa) / kappa stands for 2 eta, kappa = K(x, x), as in the rate law.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np

from nimt.arrays import Array, Indices, is_number
from nimt.errors import InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.losses import Square, as_loss
from nimt.theory.lesson_start import LessonStart
from nimt.theory.rate_law import FAST, SHORT_STEPS, speed

FEWEST = 3  # times that each of the last points was shown, so that all that alternate are among them
LARGEST = 5000  # points whose Gram matrix is solved with


@dataclass(frozen=True, eq=False)
class LateRate:
    """How many steps a greedy lesson takes in the end for a factor e of its discrepancy.

    Attributes
    ----------
    points : array (m,) of int
        Between which it alternates.
    magnitude : float
        sigma' K^-1 sigma there.
    predicted, measured : float
        Steps per factor e: from the magnitude, and of the lesson over its last steps.
    """

    points: Indices
    magnitude: float
    predicted: float
    measured: float


def late_rate(lesson: Lesson, steps: int | None = None) -> LateRate:
    r"""Return the rate of a greedy lesson over its last steps, predicted by sigma' K^-1 sigma and measured.

    Parameters
    ----------
    lesson : Lesson
        Of GFT-1, with the square loss and a constant learning rate, whose examples were kept.
    steps : int, optional
        How many of the last steps are looked at; by default the last tenth.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(width=1.0), learning_rate=0.01)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 1.0], tol=1e-6, engine="reference")
    >>> found = late_rate(lesson)
    >>> round(found.magnitude, 4), round(found.predicted), round(found.measured)
    (1.4621, 72, 72)
    """
    learner, rate = lesson.learner, getattr(lesson.learner, "learning_rate", None)
    if not isinstance(learner, KernelLearner) or not isinstance(as_loss(learner.loss), Square):
        raise InvalidInput("the rate of a greedy lesson in the end is known for a KernelLearner with the square loss")
    rate = getattr(learner, "learning_rate_", rate) if rate == "auto" else rate
    indices = lesson.indices
    if not is_number(rate) or indices is None or indices.ndim != 2 or indices.shape[1] != 1:
        raise InvalidInput("this is the rate of a lesson with a constant learning rate and one example per step")
    last = max(1, len(lesson) // 10) if steps is None else steps
    if not 1 <= last <= len(lesson):
        raise InvalidInput(f"must be from 1 to {len(lesson)}, the length of the lesson, got {last}", parameter="steps")
    shown, counts = np.unique(indices[-last:, 0], return_counts=True)
    if len(shown) > LARGEST or counts.min() < FEWEST:
        raise InvalidInput(
            f"in its last {last} steps it does not alternate between a few points yet: {len(shown)} were shown",
            way_out="teach it to a smaller tolerance, or look at more of its steps by steps=",
        )
    points = lesson.pool.take(shown)
    gram = np.asarray(learner.kernel(points, points), dtype=np.float64)
    signs: Array = np.sign(learner.predict(points) - lesson.target[shown])
    magnitude = float(signs @ np.linalg.solve(gram, signs))
    kappa = float(np.mean(np.diagonal(gram)))
    fallen = float(np.log(lesson.discrepancy[-1 - last] / lesson.discrepancy[-1]))
    return LateRate(shown, magnitude, magnitude * kappa / speed(float(rate), kappa, 1), last / fallen)


def find_late_rate(start: LessonStart, rate: float) -> LateRate | None:
    """Return the rate in the end, read off a shorter lesson at a larger learning rate; None where there is none."""
    fast = max(rate, FAST / float(start.diagonal[start.candidates].max()))
    lesson = start.teach_copy(SHORT_STEPS, rate=fast, record="all")
    found = None
    for share in (10, 2):  # a short lesson alternates often enough only in a longer part of it
        with contextlib.suppress(InvalidInput):
            found = found or late_rate(lesson, max(1, len(lesson) // share))
    if found is None:
        return None
    kappa = float(start.diagonal[found.points].mean())
    slower = speed(fast, kappa, 1) / speed(rate, kappa, 1)
    return replace(found, predicted=found.predicted * slower, measured=found.measured * slower)

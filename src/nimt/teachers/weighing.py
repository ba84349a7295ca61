"""Teachers that give every example a weight, by which the learner multiplies its step."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Indices, check_positive, is_number
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Loss, as_loss
from nimt.schedules import LookSchedule, PackSchedule, check_k, check_look, check_pack
from nimt.teachers.random import cumulative
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, residual_size

SINGULAR = 1e-12  # of the largest eigenvalue: directions in which the examples of a pack cannot be told apart


@dataclass(frozen=True, eq=False)
class RescalingTeacher(Teacher):
    r"""Show argmax |r| / sqrt(K(x, x)), r = f - f*, with the weight that makes its step the best: a rescalable pool.

    A step of weight w at x changes |f - f*|^2, in the norm of the kernel's space, by eta^2 w^2 g^2 K - 2 eta w g r, g =
    dL/df: least, -r^2 / K, for w = r / (eta g K), which takes the learner to f* at x. The weights of a pack are those
    that bring f nearest to f* together. The learner must take weights, as a `KernelLearner` does.

    Parameters
    ----------
    kernel, learning_rate, loss : optional
        Of the learner; the teacher sees them.
    largest_weight : float, optional
        No weight is larger. Points are then chosen by what such a step gains; weights of packs are cut.
    k : int or float
        A count from 1 to n, or a share in (0, 1].

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> lesson = nimt.teach(learner, RescalingTeacher(), x, np.sin, tol=1e-3, max_iterations=9000)
    >>> lesson.itd, lesson.weights[0].round(6)
    (81, array([50.]))
    """

    kernel: Kernel | None = None
    learning_rate: float | str | None = None
    loss: str | Loss | None = None
    largest_weight: float | None = None
    k: int | float = dataclasses.field(default=1, kw_only=True)

    own_colour: ClassVar[str | None] = "#BBCC33"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"rescaling": {}}
    sees: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if self.largest_weight is not None:
            check_positive("largest_weight", self.largest_weight)
        self.check_parts()

    @property
    def method(self) -> str:
        most = "" if self.largest_weight is None else f" (weights up to {self.largest_weight:g})"
        return f"rescaling-{self.k}{most}"

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        assert self.kernel is not None
        assert self.loss is not None
        assert self.learning_rate is not None
        loss, n = as_loss(self.loss), len(view)
        diagonal = self.kernel.diag(view.pool.points)
        auto = isinstance(self.learning_rate, str)
        rate = auto_rate(loss, diagonal) if auto else float(self.learning_rate)
        slopes = loss.slope(view.predictions, view.target).reshape(n, -1)
        errors = (view.predictions - view.target).reshape(n, -1)
        along = np.einsum("ij,ij->i", slopes, errors)  # g . r
        costs = np.einsum("ij,ij->i", slopes, slopes) * diagonal  # |g|^2 K
        weights = np.divide(along, rate * costs, out=np.zeros(n), where=costs > 0)
        weights = np.clip(weights, 0.0, self.largest_weight)
        scores = 2 * rate * weights * along - (rate * weights) ** 2 * costs
        chosen = largest(scores, count_of(self.k, n))
        if len(chosen) == 1:
            return view.show(chosen, scores, weights=weights[chosen])
        points = view.pool.take(chosen)
        gram = (slopes[chosen] @ slopes[chosen].T) * np.asarray(self.kernel(points))
        best = np.linalg.lstsq(gram, along[chosen], rcond=SINGULAR)[0]
        return view.show(chosen, scores, weights=np.clip(len(chosen) / rate * best, 0.0, self.largest_weight))


@dataclass(frozen=True, eq=False)
class ImportanceTeacher(Teacher):
    """Draw points with larger errors more often, and weigh each by 1 / (n p): the mean step is that of the whole pool.

    p = (1 - floor) |f - f*| / sum |f - f*| + floor / n. Points are drawn with replacement. In the mean over draws the
    learner's step is the step that it would take on the whole pool, whatever p: importance sampling is not biased.

    Parameters
    ----------
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    floor : float in (0, 1]
        The share that is drawn from all points equally: no weight is above 1 / floor.
    look : schedule, optional
        At which steps the errors are looked at; by default at every step.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
    >>> x = np.linspace(-2, 2, 20)
    >>> lesson = nimt.teach(learner, ImportanceTeacher(k=5), x, np.sign(x), max_iterations=3)
    >>> lesson.weights.shape, bool(lesson.weights.max() <= 1 / 0.3)
    ((3, 5), True)
    """

    k: int | float | PackSchedule = 1
    floor: float = dataclasses.field(default=0.3, kw_only=True)
    look: LookSchedule | None = dataclasses.field(default=None, kw_only=True)

    at_random: ClassVar[bool] = True
    own_colour: ClassVar[str | None] = "#DDCC77"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"importance": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_pack(self.k)
        check_look(self.look)
        if not is_number(self.floor) or not 0 < float(self.floor) <= 1:
            raise InvalidInput(f"must be a number above 0 and at most 1, got {self.floor!r}", parameter="floor")

    @property
    def method(self) -> str:
        return f"importance-{self.k}"

    @property
    def may_repeat(self) -> bool:
        return True

    def select(self, view: View) -> Selection:
        seen = view.as_last_seen(self.look)
        shares = self.shares(residual_size(seen.predictions, seen.target))
        drawn = draw_by(shares, count_of(self.k, len(view), view.step), view.rng)
        weights = 1.0 / (len(view) * shares[drawn])
        return view.show(drawn, shares, memory=seen.to_remember(self.look), weights=weights)

    def shares(self, errors: Array) -> Array:
        """Return p at every point."""
        n, total = len(errors), float(np.sum(errors))
        if not 0 < total < np.inf:  # nothing is left to teach, or the learner has diverged
            return np.full(n, 1.0 / n)
        return np.asarray((1.0 - self.floor) * errors / total + self.floor / n)


def draw_by(shares: Array, k: int, rng: np.random.Generator) -> Indices:
    """Draw k places with replacement."""
    return np.searchsorted(cumulative(shares), rng.random(k), side="right").astype(np.intp)

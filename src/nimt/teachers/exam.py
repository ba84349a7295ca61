"""The exam teacher: it hears only the answers that it asks for, and teaches by what it believes of the learner."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Indices, check_flag, check_positive, is_number
from nimt.errors import InvalidInput, name_thing
from nimt.kernels import Kernel
from nimt.learners.learner import auto_rate
from nimt.losses import Loss, Square, as_loss
from nimt.pools.pool import FunctionLike, Pool, values_on
from nimt.schedules import LookSchedule, check_k
from nimt.teachers.covariances import Covariance, begin_covariance, recall_covariance
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest
from nimt.wording import Wording

ASKS = ("shown", "never")
SMALL = 1e-6  # of the slope of a loss: a step over which its own slope is taken


@dataclass(frozen=True, eq=False)
class ExamTeacher(Teacher):
    r"""Show what the learner is believed not to know, and ask it now and then: a black box.

    The learner's values are not seen. The teacher believes f to be normal on the pool, with the mean m and the
    covariance C; before the first step m is `initial` and C = prior K. It knows how the learner learns: a step at x
    with the label y moves m as it would move f, and for the square loss, a = 2 eta,

        C <- (I - a K_x e_x') C (I - a K_x e_x')'.

    The answer s that it hears at x moves m by C_x (s - m(x)) / (C(x, x) + noise^2), and takes C_x C_x' / (C(x, x) +
    noise^2) from C. It shows argmax (m - f*)^2 + C(x, x): where the learner is wrong, or may be. `lesson.asked` are the
    answers. On more than 300 points a factor of C is kept for those that were shown, not n^2 numbers.

    For other losses the step is linearised: m moves by the slope of the loss at m, and a is eta times how fast that
    slope changes there. A lesson warns of it. Several outputs share C, with the mean of their a.

    Its lessons run in the plain loop, on a pool, not in a `Box`.

    Parameters
    ----------
    kernel, learning_rate, loss : optional
        Of the learner; the teacher sees them.
    prior : float
        How far the learner may be from `initial`: the variance there is prior K(x, x).
    ask : "shown", "never" or schedule
        Whether the learner answers at the examples after every step, never, or after the steps of a schedule, as
        `nimt.schedules.every(10)`.
    noise : float
        The standard deviation of the answers.
    explore : bool
        Whether C(x, x) counts; without it the teacher shows only where it believes the learner to be wrong.
    initial : array, number or callable, optional
        What the learner is believed to be before the first step; 0 by default.
    k : int or float
        A count from 1 to n, or a share in (0, 1].

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.05, initial=0.1)
    >>> for ask in ("shown", nimt.schedules.every(10), "never"):
    ...     lesson = nimt.teach(learner, ExamTeacher(ask=ask), x, np.sin, tol=0.01, max_iterations=2000)
    ...     print(lesson.itd, len(lesson.asked), lesson.access)
    126 125 black box
    142 15 black box
    146 0 black box
    """

    kernel: Kernel | None = None
    learning_rate: float | str | None = None
    loss: str | Loss | None = None
    prior: float = 0.05
    ask: str | LookSchedule = "shown"
    noise: float = 1e-6
    explore: bool = True
    initial: FunctionLike | None = None
    k: int | float = dataclasses.field(default=1, kw_only=True)

    own_colour: ClassVar[str | None] = "#44AA99"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"exam": {}}
    sees: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")
    hears_answers_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        check_positive("prior", self.prior)
        if self.labels is not None:
            problem = self.kind.embed(after=" follows the labels that it shows, which are the target's")
            raise InvalidInput(problem, way_out=Wording("leave labels= out", "leave --other-target out"))
        if not is_number(self.noise) or not 0 <= float(self.noise) < np.inf:
            raise InvalidInput(f"must be a number >= 0, got {self.noise!r}", parameter="noise")
        if not isinstance(self.ask, LookSchedule) and not (isinstance(self.ask, str) and self.ask in ASKS):
            raise InvalidInput(
                f"must be 'shown', 'never' or a schedule as nimt.schedules.every(10), got {self.ask!r}", parameter="ask"
            )
        check_flag("explore", self.explore)
        self.check_parts()

    @property
    def method(self) -> str:
        asks = f" (every {self.ask.gap})" if isinstance(self.ask, LookSchedule) else ""
        return f"exam-{self.k}{' (never)' if self.ask == 'never' else asks}"

    def asks_after(self, step: int) -> bool:
        """Say whether the learner answers at the examples of a step."""
        return self.ask.at(step) if isinstance(self.ask, LookSchedule) else self.ask == "shown"

    def looks_at(self, step: int) -> bool:
        return step > 0 and self.asks_after(step - 1)

    def fix_length(self, steps: int) -> Self:
        if not isinstance(self.ask, LookSchedule):
            return self
        return dataclasses.replace(self, ask=self.ask.fix_length(steps))

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        if self.initial is None:
            return self
        return dataclasses.replace(self, initial=values_on(pool, self.initial, "initial", target.shape[1:]))

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        known = loss if self.loss is None else as_loss(self.loss)
        if known is None or isinstance(known, Square):
            return None
        return (
            f"this teacher follows the learner by the slope of {name_thing(known)} at what it believes, and by how "
            f"fast that slope changes there: exact for the square loss only"
        )

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        belief = Belief.begin(self, view) if view.memory is None else Belief.recall(self, view)
        scores = belief.doubt(view.target, explores=self.explore)
        chosen = largest(scores, count_of(self.k, len(view)))
        belief.foresee(chosen, view.target[chosen])
        return view.show(chosen, scores, memory=belief.remember(chosen, view.candidates))


class Belief:
    """What the teacher believes of f on the pool: the mean m and the covariance C."""

    def __init__(self, teacher: ExamTeacher, points: Array, mean: Array, covariance: Covariance) -> None:
        assert teacher.kernel is not None
        assert teacher.loss is not None
        assert teacher.learning_rate is not None
        self.kernel: Kernel = teacher.kernel
        self.points = points
        self.mean = mean
        self.covariance = covariance
        self.loss: Loss = as_loss(teacher.loss)
        self.noise = float(teacher.noise)
        rate = teacher.learning_rate
        self.rate: float = auto_rate(self.loss, self.kernel.diag(points)) if isinstance(rate, str) else float(rate)

    @classmethod
    def begin(cls, teacher: ExamTeacher, view: View) -> Belief:
        """Return the belief before the first step."""
        assert teacher.kernel is not None
        mean = np.zeros(view.target.shape)
        if isinstance(teacher.initial, np.ndarray):
            mean = np.array(teacher.initial[view.candidates])
        elif teacher.initial is not None:
            mean = np.array(values_on(view.pool, teacher.initial, "initial", view.target.shape[1:]))
        if mean.shape != view.target.shape:
            raise InvalidInput(
                f"has shape {mean.shape}, and the teacher sees a target of shape {view.target.shape}",
                parameter="initial",
                way_out="PerOutput shows it one output at a time, leave PerOutput out",
            )
        points = view.pool.points
        return cls(teacher, points, mean, begin_covariance(teacher.kernel, points, float(teacher.prior)))

    @classmethod
    def recall(cls, teacher: ExamTeacher, view: View) -> Belief:
        """Return the belief of the step before, with the answers that were heard since."""
        assert teacher.kernel is not None
        assert view.memory is not None
        if not np.array_equal(view.memory["identity"], view.candidates):
            raise InvalidInput("ExamTeacher follows the same points at every step: teach on a pool, not in a Box")
        points = view.pool.points
        covariance = recall_covariance(teacher.kernel, points, float(teacher.prior), view.memory)
        belief = cls(teacher, points, np.array(view.memory["mean"]), covariance)
        if teacher.looks_at(view.step):
            shown = np.asarray(view.memory["shown"])
            for place, answer in zip(shown.tolist(), view.ask(shown), strict=True):
                gain = covariance.hear(place, belief.noise)
                belief.mean += np.multiply.outer(gain, answer - belief.mean[place])
        return belief

    def doubt(self, target: Array, *, explores: bool) -> Array:
        """Return |m - f*|^2 at every point, and if it explores the variance of all outputs."""
        squares = (self.mean - target) ** 2
        wrong = squares if squares.ndim == 1 else squares.sum(axis=1)
        return np.asarray(wrong + target[0].size * self.covariance.variance if explores else wrong)

    def foresee(self, shown: Indices, labels: Array) -> None:
        """Take the step that the learner will take with these examples."""
        columns = np.asarray(self.kernel(self.points, self.points[shown]), dtype=np.float64)
        rate = self.rate / len(shown)
        slopes, sizes = self.loss.slope(self.mean[shown], labels), rate * self._steepness(shown, labels)
        self.mean -= columns @ (rate * slopes)
        self.covariance.step(shown, sizes, columns)

    def _steepness(self, shown: Indices, labels: Array) -> Array:
        """Return how fast the slope of the loss changes with f at the examples, (k,); the mean over outputs."""
        if isinstance(self.loss, Square):
            return np.full(len(shown), 2.0)
        mean = self.mean[shown]
        step = SMALL * (1.0 + np.abs(mean))
        faster = (self.loss.slope(mean + step, labels) - self.loss.slope(mean - step, labels)) / (2 * step)
        return np.asarray(faster if faster.ndim == 1 else faster.mean(axis=1))

    def remember(self, shown: Indices, identity: Indices) -> dict[str, NDArray[Any]]:
        """Return what `recall` needs."""
        return {"mean": self.mean, "shown": shown, "identity": identity, **self.covariance.state()}

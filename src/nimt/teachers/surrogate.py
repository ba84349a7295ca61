"""The surrogate teacher: the examples at which the learner loses more than a reference does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Indices, check_flag
from nimt.errors import InvalidInput
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.learners.learner import PAPERS_RATE
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.by_reference import ByReference
from nimt.teachers.rule import Rule
from nimt.teachers.scores.surrogate_score import Surrogate


@dataclass(frozen=True, eq=False)
class SurrogateTeacher(ByReference):
    """Show the k points at which the learner loses most beyond the loss of a reference [Liu17, Mindermann22].

    The scores are L(f, y) - L(reference, y) - (eta / 2) K(x, x) |dL/df|^2. A wrong label costs the reference as much as
    the learner, so it is not shown; `GreedyTeacher` looks for it. The labels shown are those of the target. The
    reference is asked once, before the first step. Several outputs are added. A pack holds the k best points, each
    scored by itself; ties go to the lowest index.

    Parameters
    ----------
    reference : nimt.reference, array, callable or fitted estimator
        What is taken for f*, the target itself by default. A `nimt.reference` of the rows of the pool, in their order,
        answers by what it has stored (out of fold, if made so). An array holds outputs (n,) or (n, q) as the learner's,
        which are logits under the logistic and cross-entropy loss; or numbers of classes (n,) where the target has a
        column for each. A callable returns these. A classifier with `predict_proba` is asked for its shares, of which
        logits are made.
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    look : schedule, optional
        At which steps the scores are computed anew; by default at every step.
    difficulty : bool
        Whether to subtract the last term, which prefers easy examples. Without it the rule is that of RHO-LOSS.
    loss, kernel, learning_rate : optional
        Those of the learner by default, which this teacher sees. Of a learner that does not have them: the square loss,
        K(x, x) = 1, which is that of every radial kernel, and a rate of 0.01.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.linspace(-3, 3, 60))
    >>> labels = np.sin(x.points[:, 0])
    >>> labels[10] = 5.0
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.1)
    >>> teachers = nimt.GreedyTeacher(), SurrogateTeacher(reference=np.sin)
    >>> [int(nimt.teach(learner, one, x, labels, max_iterations=20).picks[10]) for one in teachers]
    [11, 0]
    """

    reference: Any = None
    loss: str | Loss | None = None
    k: int | float | PackSchedule = 1
    look: LookSchedule | None = None
    difficulty: bool = True
    kernel: Kernel | None = None
    learning_rate: float | str | None = None

    steepest: ClassVar[float] = 1.0
    does_without: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")
    fallbacks: ClassVar[Mapping[str, Any]] = {"loss": "square", "rate": PAPERS_RATE}
    own_colour: ClassVar[str | None] = "#882255"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"surrogate": {}}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag("difficulty", self.difficulty)
        if not self.difficulty and self.kernel is not None:
            raise InvalidInput("kernel= is used by difficulty=True only: leave it out")

    @property
    def opens(self) -> tuple[str, ...]:
        return self.sees if self.difficulty else ("loss",)

    @property
    def method(self) -> str:
        return f"{'surrogate' if self.difficulty else 'RHO'}-{self.k}"

    def cost(self, pool: Pool) -> Array:
        return super().cost(pool) if self.difficulty else np.zeros(len(pool))

    def make_score(self, reference: Any) -> Surrogate:
        return Surrogate(self.known_loss, reference, self.cost)

    def compiled_rule(self) -> Rule | None:
        return super().compiled_rule() if behaves_like(self, SurrogateTeacher, "cost", "make_score") else None

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        if not self.is_too_steep(pool):
            return None
        return (
            f"at the rate {self.rate_on(pool):g} this teacher does not prefer large errors, because eta K(x, x) "
            f"is not below 1 / {self.known_loss.smoothness:g}: lower the learning rate, or write difficulty=False"
        )

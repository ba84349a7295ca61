"""The omniscient teacher: the examples whose step brings the learner nearest to f*."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nimt.arrays import Array, Indices
from nimt.inheritance import behaves_like
from nimt.kernels import Kernel
from nimt.losses import Loss
from nimt.pools.pool import Pool
from nimt.schedules import LookSchedule, PackSchedule
from nimt.teachers.by_reference import ByReference
from nimt.teachers.rule import Rule
from nimt.teachers.scores.omniscient_score import Omniscient


@dataclass(frozen=True, eq=False)
class OmniscientTeacher(ByReference):
    """Show the k points whose step brings the learner nearest to f*, for a teacher who knows the learner [Liu17].

    A step at x changes |f - f*|^2, in the norm of the kernel's space, by eta^2 g^2 K(x, x) - 2 eta g (f(x) - f*(x)),
    g = dL/df: the smallest is shown. For the square loss, a constant K(x, x) and labels f*(x) that is `GreedyTeacher`.
    It differs where labels are not f*(x), as those of classes: give f* as `reference`. Several outputs are added. A
    pack holds the k best points, each scored by itself; ties go to the lowest index.

    Parameters
    ----------
    kernel, learning_rate, loss : optional
        Of the learner, which this teacher sees: give them for one that takes the learner for another. "auto" is the
        rate of a `KernelLearner` which is shown one example per step.
    reference : nimt.reference, array, callable or fitted estimator, optional
        f*, as in `SurrogateTeacher`; the target by default. The labels shown are those of the target.
    k : int, float or schedule
        A count from 1 to n, or a share in (0, 1]; a schedule (`nimt.schedules`) changes it with the step.
    look : schedule, optional
        At which steps the scores are computed anew; by default at every step.

    Examples
    --------
    >>> import nimt
    >>> import numpy as np
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> learner = nimt.KernelLearner(nimt.rbf(width=0.5), learning_rate=0.01)
    >>> teachers = nimt.GreedyTeacher(), OmniscientTeacher()
    >>> [nimt.teach(learner, one, x, np.sin, tol=1e-3, max_iterations=9000).itd for one in teachers]
    [1865, 1865]
    """

    kernel: Kernel | None = None
    learning_rate: float | str | None = None
    loss: str | Loss | None = None
    reference: Any = None
    k: int | float | PackSchedule = 1
    look: LookSchedule | None = None

    steepest: ClassVar[float] = 2.0
    own_colour: ClassVar[str | None] = "#332288"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"omniscient": {}}

    @property
    def method(self) -> str:
        return f"omniscient-{self.k}"

    def make_score(self, reference: Any) -> Omniscient:
        return Omniscient(self.known_loss, reference, self.cost)

    def compiled_rule(self) -> Rule | None:
        return super().compiled_rule() if behaves_like(self, OmniscientTeacher, "cost", "make_score") else None

    def find_misleading(self, pool: Pool, target: Array, candidates: Indices | None, loss: Loss | None) -> str | None:
        if not self.is_too_steep(pool):
            return None
        return (
            f"at the rate {self.rate_on(pool):g} a step overshoots so far that this teacher shows what the learner "
            f"knows, because eta K(x, x) is not below 2 / {self.known_loss.smoothness:g}: lower the learning rate"
        )

"""The classroom teacher: one example for learners with different starts, rates and kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.errors import InvalidInput
from nimt.losses import as_loss
from nimt.schedules import check_k
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest
from nimt.wording import Wording

AIMS = ("sum", "worst")


@dataclass(frozen=True, eq=False)
class ClassroomTeacher(Teacher):
    r"""Show a `Classroom` the example whose step brings its learners nearest to f*, for a teacher who knows them.

    The step of learner j at x takes 2 eta_j g_j r_j - eta_j^2 g_j^2 K_j(x, x) from |f_j - f*|^2, in the norm of its
    space, r = f - f* and g = dL/df: 4 eta_j (1 - eta_j K_j(x, x)) r_j^2 for the square loss and true labels.

    Parameters
    ----------
    aim : {"sum", "worst"}
        Show where the sum over the class is largest, or where that of one learner is: the one who is worst there.
    k : int or float
        A count from 1 to n, or a share in (0, 1].

    Examples
    --------
    >>> import nimt
    >>> from nimt.learners import Classroom
    >>> starts = (-1.0, 0.0, 2.0)
    >>> classroom = Classroom([nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=s) for s in starts])
    >>> x = np.linspace(-2, 2, 30)
    >>> target = classroom.repeat(np.sin(x))
    >>> for aim in ("sum", "worst"):
    ...     lesson = nimt.teach(classroom, ClassroomTeacher(aim), x, target, tol=0.01, max_iterations=2000)
    ...     print(lesson.itd, lesson.access)
    141 white box
    148 white box
    """

    aim: str = "sum"
    k: int | float = dataclasses.field(default=1, kw_only=True)

    own_colour: ClassVar[str | None] = "#661100"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"classroom": {}, "classroom-worst": {"aim": "worst"}}
    only_learner: ClassVar[str | None] = "classroom"
    sees: ClassVar[tuple[str, ...]] = ("kernel", "loss", "rate")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        if not isinstance(self.aim, str) or self.aim not in AIMS:
            raise InvalidInput(f"must be 'sum' or 'worst', got {self.aim!r}", parameter="aim")

    @property
    def method(self) -> str:
        return f"classroom-{self.k} ({self.aim})"

    def check_known(self, known: Mapping[str, Any], learner: str) -> None:
        if not isinstance(known.get("kernel"), tuple):
            raise InvalidInput(
                self.kind.embed(after=f" teaches a Classroom, and this is a {learner}"),
                way_out=Wording(
                    "use nimt.OmniscientTeacher()", "add --learner classroom, or take --teacher omniscient"
                ),
            )

    def select(self, view: View) -> Selection:
        self.check_known({"kernel": view.kernel}, "learner without others")
        kernels: Any = view.kernel
        rates = np.asarray(view.rate, dtype=np.float64)
        assert view.loss is not None
        diagonals = np.column_stack([kernel.diag(view.pool.points) for kernel in kernels])
        slopes = as_loss(view.loss).slope(view.predictions, view.target)
        errors = view.predictions - view.target
        gains = 2 * rates * slopes * errors - (rates * slopes) ** 2 * diagonals
        scores = np.asarray(gains.sum(axis=1) if self.aim == "sum" else gains.max(axis=1))
        return view.show(largest(scores, count_of(self.k, len(view))), scores)

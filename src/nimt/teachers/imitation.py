"""The imitation teacher: it sees the learner only at the examples that it showed, and teaches by a copy of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from nimt.arrays import Array, Indices
from nimt.errors import InvalidInput
from nimt.kernels import Kernel
from nimt.pools.pool import FunctionLike, Pool, values_on
from nimt.teachers.omniscient import OmniscientTeacher
from nimt.teachers.teacher import Selection, View, count_of, largest

SINGULAR = 1e-10  # of the largest singular value: directions in which the examples of a pack cannot be told apart


@dataclass(frozen=True, eq=False)
class ImitationTeacher(OmniscientTeacher):
    r"""Choose as `OmniscientTeacher` does, for a copy v of the learner that follows its answers [Liu17].

    After every step the learner answers at the pack P that it was shown, and nowhere else (`lesson.asked`). v is
    changed by as little as gives these answers, in the norm of the kernel's space:

        v <- v - sum_{j in P} c_j K(x_j, .),    K_PP c = v_P - f_P.

    A copy that begins as the learner does stays equal to it, and the lesson is that of `OmniscientTeacher`. Otherwise
    the teacher does not see errors where the copy happens to be right, and in the long run a `RandomTeacher` may need
    fewer steps. Its lessons run in the plain loop, on a pool, not in a `Box`.

    Parameters
    ----------
    kernel, learning_rate, loss, reference, k :
        As in `OmniscientTeacher`.
    look : schedule, optional
        At which steps the learner is asked; by default at every step. Between them the same pack is shown again.
    initial : array, number or callable, optional
        What the teacher takes for the learner before the first step, like the `initial` of a learner; 0 by default.

    Examples
    --------
    >>> import nimt
    >>> x = nimt.Grid(np.arange(-3, 3, 0.1))
    >>> kernel = nimt.rbf(width=0.5)
    >>> teacher = ImitationTeacher()
    >>> for start in (0.0, 0.1):
    ...     learner = nimt.KernelLearner(kernel, learning_rate=0.01, initial=start)
    ...     print(nimt.teach(learner, teacher, x, np.sin, tol=0.01, max_iterations=9000).itd)
    656
    674
    """

    initial: FunctionLike | None = None

    own_colour: ClassVar[str | None] = "#AA4499"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {"imitation": {}}

    @property
    def method(self) -> str:
        return f"imitation-{self.k}"

    def prepare_on(self, pool: Pool, target: Array) -> Self:
        prepared = super().prepare_on(pool, target)
        if self.initial is None:
            return prepared
        return dataclasses.replace(prepared, initial=values_on(pool, self.initial, "initial", target.shape[1:]))

    def select(self, view: View) -> Selection:
        if not self.is_informed:
            return self.inform_by(view).select(view)
        copy = self._follow(view)
        scores = self.scores(dataclasses.replace(view, predictions=copy))
        chosen = largest(scores, count_of(self.k, len(view), view.step))
        return view.show(chosen, scores, memory={"copy": copy, "shown": chosen, "identity": view.candidates})

    def _follow(self, view: View) -> Array:
        """Return the copy, with the answers at the examples that were shown last."""
        if view.memory is None:
            return self._begin(view)
        if not np.array_equal(view.memory["identity"], view.candidates):
            raise InvalidInput("ImitationTeacher follows the same points at every step: teach on a pool, not in a Box")
        copy, shown = np.asarray(view.memory["copy"]), np.asarray(view.memory["shown"])
        if not self.looks_at(view.step):
            return copy
        assert self.kernel is not None
        return take_answers(copy, self.kernel, view.pool, shown, view.ask(shown))

    def _begin(self, view: View) -> Array:
        if self.initial is None:
            return np.zeros(view.target.shape)
        if not isinstance(self.initial, np.ndarray):
            return values_on(view.pool, self.initial, "initial", view.target.shape[1:])
        known = self.initial[view.candidates]
        if known.shape != view.target.shape:
            raise InvalidInput(
                f"has shape {self.initial.shape}, and the teacher sees a target of shape {view.target.shape}",
                parameter="initial",
                way_out="PerOutput shows it one output at a time, leave PerOutput out",
            )
        return known


def take_answers(copy: Array, kernel: Kernel, pool: Pool, shown: Indices, answers: Array) -> Array:
    """Return the function nearest to the copy, in the norm of the kernel's space, that gives the answers.

    Examples
    --------
    >>> import nimt
    >>> pool = nimt.Points([0.0, 1.0, 2.0])
    >>> take_answers(np.zeros(3), nimt.rbf(1.0), pool, np.array([1]), np.array([2.0])).round(3)
    array([0.736, 2.   , 0.736])
    """
    columns = np.asarray(kernel(pool.points, pool.take(shown)), dtype=np.float64)
    coefficients = np.linalg.lstsq(columns[shown], copy[shown] - answers, rcond=SINGULAR)[0]
    return np.asarray(copy - columns @ coefficients)

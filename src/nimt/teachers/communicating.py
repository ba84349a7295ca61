"""Several outputs that help each other: before some steps they are mixed, to be nearer the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nimt.arrays import Array, check_count, check_positive
from nimt.errors import InvalidInput
from nimt.teachers.rule import Rule
from nimt.teachers.wrapping import Wrapping


@dataclass(frozen=True, eq=False)
class Communicating(Wrapping):
    r"""Let the outputs communicate: before some steps f <- A f, then teach as the teacher does [Zhang23b].

    A is q x q and is fitted to what the teacher sees, the values F and F* (n, q) of f and f* at the points it may
    show: the least squares fit of f*, kept near the identity where the values do not determine it,

        A = (F*' F + r I) (F' F + r I)^-1,    r = ridge * trace(F' F) / q.

    It minimises |F A' - F*|^2 + r |A - I|^2, so a mixture never increases the sum of squared errors at these points. A
    learner that is zero everywhere stays so.

    The outputs are mixed before the steps 0, every, 2 every, ... below `until`. f^t and the discrepancy at t are those
    after the mixture. `lesson.mix_steps` and `lesson.mixes` hold the steps and the matrices.

    Parameters
    ----------
    teacher : a teacher, with `select(view)`
        Chooses the examples; `PerOutput(GreedyTeacher())` for examples of each output.
    every : int
    until : int, optional
        No mixture at this step or later; by default they go on to the end.
    ridge : float

    Examples
    --------
    >>> import nimt
    >>> start = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), initial=start)
    >>> turned = start @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> lesson = nimt.teach(learner, nimt.teachers.Communicating(nimt.GreedyTeacher()), [0.0, 5.0, 9.0], turned,
    ...                     tol=1e-6, max_iterations=100)
    >>> lesson.itd, lesson.mixes.round(6) + 0.0
    (0, array([[[ 0., -1.],
            [ 1.,  0.]]]))
    """

    every: int = 1
    until: int | None = None
    ridge: float = 1e-9

    communicates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner.communicates:
            raise InvalidInput(f"{self.inner.kind} mixes the outputs already: leave Communicating out")
        check_count("every", self.every, at_least=1)
        if self.until is not None:
            check_count("until", self.until, at_least=1)
        check_positive("ridge", self.ridge)

    @property
    def method(self) -> str:
        return f"{super().method} communicating"

    def compiled_rule(self) -> Rule | None:
        return self.inner.compiled_rule()

    def next_mix(self, step: int) -> int | None:
        """Return the first step, this one or a later one, before which the outputs are mixed; None for none.

        Examples
        --------
        >>> import nimt
        >>> teacher = Communicating(nimt.GreedyTeacher(), every=10, until=25)
        >>> teacher.next_mix(0), teacher.next_mix(11), teacher.next_mix(21)
        (0, 20, None)
        """
        following = -(-step // self.every) * self.every
        return following if self.until is None or following < self.until else None

    def mix(self, predictions: Array, target: Array) -> Array:
        """Return A, from what the teacher sees of f and f*: arrays (n, q)."""
        return mixture(predictions, target, self.ridge)


def mixture(predictions: Array, target: Array, ridge: float) -> Array:
    """Return the A (q, q) that minimises |F A' - F*|^2 + r |A - I|^2, r being `ridge` times the mean square of F.

    Examples
    --------
    >>> mixture(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 2.0]]), 1e-12).round(6)
    array([[3., 0.],
           [0., 1.]])
    """
    q = predictions.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):  # a diverged learner is not mixed
        squares, products = predictions.T @ predictions, target.T @ predictions
        size = ridge * float(np.trace(squares)) / q
    if size <= 0 or not (np.isfinite(squares).all() and np.isfinite(products).all()):
        return np.eye(q)
    near = size * np.eye(q)
    return np.asarray(np.linalg.solve(squares + near, (products + near).T).T)

"""The greedy rules of kernel interpolation: by the residual, by the power function, and by both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.kernels import Kernel, as_kernel
from nimt.learners.newton_basis import NewtonBasis
from nimt.schedules import check_k
from nimt.teachers.teacher import Selection, Teacher, View, count_of, largest, residual_size

RULES = {"f": 1.0, "P": 0.0, "f*P": 0.5, "f/P": np.inf}


@dataclass(frozen=True, eq=False)
class InterpolationTeacher(Teacher):
    r"""Choose centres as kernel interpolation does: the largest |f - f*|^beta P^(1 - beta) [Wenzel23].

    P(x) is the power function of the points shown so far: the distance in H of K(x, .) from their span. The rules with
    names are members of that family, up to a power that changes no order:

    - "f" (beta 1): |f - f*|, by the residual alone; this is `GreedyTeacher`, and needs no kernel
    - "P" (beta 0): P, by the geometry alone; it does not use the target, so its centres serve any target
    - "f*P" (beta 1/2): |f - f*| P
    - "f/P" (beta infinity): |f - f*| / P, the largest gain in the norm of H

    Points where P is 0 up to rounding are not shown again while there are others. All points of a pack are chosen with
    the same P.

    Parameters
    ----------
    rule : {"f", "P", "f*P", "f/P"} or float
        A name, or beta from 0 to infinity.
    kernel : Kernel, or a kernel of scikit-learn, optional
        For every rule but "f"; the learner's by default, which this teacher sees.
    k : int or float
        A count from 1 to n, or a share in (0, 1].

    Examples
    --------
    >>> import nimt
    >>> lesson = nimt.teach(nimt.learners.OrthogonalLearner(nimt.rbf(width=0.5)), InterpolationTeacher("P"),
    ...                     np.linspace(-1, 1, 5), np.sin, max_iterations=5)
    >>> lesson.indices.ravel()
    array([0, 4, 2, 1, 3])
    """

    rule: str | float = "f"
    kernel: Kernel | None = None
    k: int | float = 1

    own_colour: ClassVar[str | None] = "#7F7F00"
    spellings: ClassVar[Mapping[str, Mapping[str, Any]]] = {rule: {"rule": rule} for rule in RULES}
    sees: ClassVar[tuple[str, ...]] = ("kernel",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)
        named = isinstance(self.rule, str) and self.rule in RULES
        if not named and not (is_number(self.rule) and float(self.rule) >= 0):
            raise InvalidInput(
                f"must be one of {', '.join(RULES)} or a number beta >= 0, got {self.rule!r}", parameter="rule"
            )
        if self.kernel is not None:
            object.__setattr__(self, "kernel", as_kernel(self.kernel))

    @property
    def beta(self) -> float:
        return RULES[self.rule] if isinstance(self.rule, str) else float(self.rule)

    @property
    def opens(self) -> tuple[str, ...]:
        return () if self.beta == 1 else self.sees

    @property
    def method(self) -> str:
        return f"interpolation-{self.k}"

    def select(self, view: View) -> Selection:
        residual = residual_size(view.predictions, view.target)
        k = count_of(self.k, len(view))
        if self.beta == 1:
            return view.show(largest(residual, k), residual)
        if self.kernel is None:
            return self.inform_by(view).select(view)
        basis = NewtonBasis(self.kernel, view.pool.points)
        if view.memory is not None:
            if not np.array_equal(view.memory["places"], view.candidates):
                raise InvalidInput(f"the rule {self.rule!r} needs a fixed pool; in a Box use rule 'f'")
            basis.restart(view.memory["columns"])
            basis.power_squared = np.array(view.memory["power_squared"])
        scores = score(residual, basis.power, self.beta)
        scores[basis.power_squared <= basis.least] = -1.0  # a centre already; all other scores are >= 0
        shown = largest(scores, k)
        for index in shown.tolist():
            basis.add(index)
        memory = {"columns": basis.columns, "power_squared": basis.power_squared, "places": view.candidates}
        return view.show(shown, scores, memory=memory)


def score(residual: Array, power: Array, beta: float) -> Array:
    """Return |r|^beta P^(1 - beta), and |r| / P for beta infinity; 0 where that is 0 / 0.

    Examples
    --------
    >>> score(np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.inf)
    array([2., 8.])
    """
    if np.isinf(beta):
        return np.divide(residual, power, out=np.zeros_like(residual), where=power > 0)
    if beta <= 1:
        return np.asarray(residual**beta * power ** (1.0 - beta))
    return np.divide(residual**beta, power ** (beta - 1.0), out=np.zeros_like(residual), where=power > 0)

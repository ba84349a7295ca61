"""The paper's functional calculus, held against numbers [Zhang23, Defs 1 and 2, Lemmas 3 and 4, Prop. 5]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.losses import as_loss
from nimt.theory.bounds_table import check_one_output

STEPS = 10.0 ** -np.arange(1.0, 5.0)  # epsilon


@dataclass(frozen=True, eq=False)
class CalculusCheck:
    """By how much each statement is off at one point, in one direction.

    Attributes
    ----------
    evaluation : float
        Definition 1: |<f, K_x>_H - f(x)|.
    evaluation_gradient : float
        Lemma 4: |(E_x[f + g] - E_x[f]) - <K_x, g>_H|, exact since evaluation is linear.
    step : array (4,)
        epsilon.
    remainder : array (4,)
        Definition 2: |L[f + epsilon g] - L[f] - epsilon <G, g>_H| / epsilon^2 with G = dL/df K_x of Lemma 3, bounded as
        epsilon falls if G is the derivative.
    bound : float
        smoothness g(x)^2 / 2, what the remainder is at most for a smooth loss.
    """

    evaluation: float
    evaluation_gradient: float
    step: Array
    remainder: Array
    bound: float


def check_calculus(learner: KernelLearner, point: ArrayLike, label: float, direction: KernelLearner) -> CalculusCheck:
    r"""Check evaluation, its gradient, the chain rule and the Frechet derivative of the loss, by inner products in H.

    Parameters
    ----------
    learner, direction : KernelLearner
        f and g: what both were taught, as combinations of kernel columns; their initial functions must be 0.
    point : array (d,)
    label : float

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> f = KernelLearner(rbf(1.0), learning_rate=0.25).partial_fit([[0.0], [0.4]], [1.0, -2.0])
    >>> g = KernelLearner(rbf(1.0), learning_rate=0.25).partial_fit([[0.3]], [4.0])
    >>> found = check_calculus(f, [0.1], 1.5, g)
    >>> found.evaluation < 1e-15, found.evaluation_gradient < 1e-15
    (True, True)
    >>> bool(np.allclose(found.remainder, found.bound))  # the square loss has no third derivative
    True
    """
    for name, one in (("learner", learner), ("direction", direction)):
        if not isinstance(one, KernelLearner) or not one.has_centers() or not _starts_at_zero(one):
            raise InvalidInput(
                f"must be a taught KernelLearner that started at 0, so that it lies in H; got {one!r}", parameter=name
            )
        check_one_output(one.coefficients_, f"the {name}")
    if direction.kernel != learner.kernel:
        raise InvalidInput(f"f and g lie in different spaces: {learner.kernel!r} and {direction.kernel!r}")
    x = np.atleast_2d(np.asarray(point, dtype=np.float64))
    column = KernelLearner(learner.kernel)
    column.absorb(x, np.ones(1), steps=1)
    value, slope_of_g = float(learner.predict(x)[0]), column.inner(direction)
    loss, y = as_loss(learner.loss), np.array([float(label)])
    slope = float(loss.slope(np.array([value]), y)[0])

    def loss_at(epsilon: float) -> float:
        return float(loss.value(np.array([value + epsilon * float(direction.predict(x)[0])]), y)[0])

    rest = [abs(loss_at(step) - loss_at(0.0) - step * slope * slope_of_g) / step**2 for step in STEPS.tolist()]
    return CalculusCheck(
        evaluation=abs(column.inner(learner) - value),
        evaluation_gradient=abs(float(direction.predict(x)[0]) - slope_of_g),
        step=STEPS.copy(),
        remainder=np.array(rest),
        bound=float(loss.smoothness) * slope_of_g**2 / 2.0,
    )


def _starts_at_zero(learner: Any) -> bool:
    return not callable(learner.initial) and bool(np.all(np.asarray(learner.initial) == 0.0))

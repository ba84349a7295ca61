"""One step seen in the kernel's space H: how much nearer it brings f to f*, at which rate, and by which example."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nimt.arrays import Array, check_positive, real_array
from nimt.errors import InvalidInput, name_thing
from nimt.kernels import as_kernel
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.kernel_pupils import KernelPupil
from nimt.learners.norms import root
from nimt.lesson.lesson import Lesson
from nimt.losses import Square, as_loss
from nimt.measures import as_measure
from nimt.pools.pool import Points, Pool, as_pool, values_on
from nimt.theory.bounds_table import check_one_output, table_of_one, to_json
from nimt.theory.replaying import replay


def distance_change(
    residual: ArrayLike, diagonal: ArrayLike, learning_rate: float, *, slope: ArrayLike | None = None
) -> Array:
    r"""Return by how much one step at x changes |f - f*|_H^2, exactly.

    The step is -eta s K_x with s = dL/df, and <K_x, f - f*>_H = f(x) - f*(x) = e, so the square changes by
    eta^2 s^2 K(x, x) - 2 eta s e. For the square loss and a true label s = 2 e, which gives
    -4 eta (1 - eta K(x, x)) e^2.

    Parameters
    ----------
    residual : array
        e = f(x) - f*(x).
    diagonal : array
        K(x, x).
    learning_rate : float
        eta.
    slope : array, optional
        s; that of the square loss with true labels by default.

    Examples
    --------
    >>> float(distance_change(residual=3.0, diagonal=1.0, learning_rate=0.5))
    -9.0
    """
    check_positive("learning_rate", learning_rate)
    e, kappa = np.asarray(residual, dtype=np.float64), np.asarray(diagonal, dtype=np.float64)
    if slope is None:
        return np.asarray(-4.0 * learning_rate * (1.0 - learning_rate * kappa) * e**2)
    s = np.asarray(slope, dtype=np.float64)
    return np.asarray(learning_rate * s * (learning_rate * s * kappa - 2.0 * e))


def best_learning_rate(kernel: Any, X: Pool | ArrayLike | None = None) -> float | Array:
    r"""Return 1 / (2 K(x, x)), the rate at which one square-loss step comes nearest to f* in H.

    The step then lands on the label exactly: f(x) = y after it. Without X the kernel must be stationary, so that
    K(x, x) is one number, and so is the answer; with X it is an array (n,).

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> best_learning_rate(rbf(width=0.5))
    0.5
    """
    return diverging_rate(kernel, X) / 2.0


def diverging_rate(kernel: Any, X: Pool | ArrayLike | None = None) -> float | Array:
    r"""Return 1 / K(x, x), the rate above which a square-loss step moves away from f* in H.

    Examples
    --------
    >>> from nimt.kernels import linear
    >>> diverging_rate(linear(1.0), [[0.0], [3.0]])
    array([1. , 0.1])
    """
    kernel = as_kernel(kernel)
    if X is not None:
        with np.errstate(divide="ignore"):  # no rate is too large where K(x, x) = 0: such a step does nothing
            return np.asarray(1.0 / np.asarray(kernel.diag(as_pool(X).points), dtype=np.float64))
    if not kernel.is_stationary():
        raise InvalidInput(f"K(x, x) of {kernel!r} depends on x: give the points as X")
    return 1.0 / float(kernel.diag(np.zeros((1, 1)))[0])


@dataclass(frozen=True)
class SteepestExample:
    """The example after which f is nearest to f* in H.

    Attributes
    ----------
    index : int
        Its place in the pool; of equals, the lowest.
    label : float
    change : float
        Of |f - f*|_H^2.
    value, value_after, target : float
        f at the point before and after the step, and f* there.
    """

    index: int
    label: float
    change: float
    value: float
    value_after: float
    target: float

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return one row, as columns."""
        return table_of_one(asdict(self))

    def to_json(self) -> str:
        return to_json(asdict(self))

    def sentences(self) -> list[str]:
        direction = "nearer to" if self.change < 0 else "no nearer to"
        return [
            f"The steepest example is point {self.index} with the label {self.label:.6g}: it takes f there from "
            f"{self.value:.6g} to {self.value_after:.6g} (f* is {self.target:.6g}) and brings f {direction} f*, "
            f"changing the squared distance in H by {self.change:.6g}."
        ]

    def __str__(self) -> str:
        return "\n".join(self.sentences())


def steepest_example(
    learner: KernelLearner, X: Pool | ArrayLike, target: Any, *, labels: str | ArrayLike = "true"
) -> SteepestExample:
    r"""Return the argmin of |f - eta G(x, y) - f*|_H^2 over the pool [Zhang23, Thm 6].

    With the true labels and the square loss it maximises e^2 (1 - eta K(x, x)): for a constant diagonal and
    eta K < 1 that is the largest |f - f*|, what the greedy teacher shows. With the label free it maximises
    e^2 / K(x, x), and the label f(x) - e / (2 eta K(x, x)) makes the step land on f*(x).

    Parameters
    ----------
    learner : KernelLearner
    X : pool or array (n, d)
    target : array (n,), number or callable
        f*.
    labels : {"true", "free"} or array
        The truth, any real number (square loss only), or one of these, such as [-1, 1].

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> learner = KernelLearner(rbf(width=0.5), learning_rate=0.1)
    >>> steepest_example(learner, [[0.0], [9.0]], [1.0, -2.0]).label
    -2.0
    >>> free = steepest_example(learner, [[0.0], [9.0]], [1.0, -2.0], labels="free")
    >>> free.label, free.value_after
    (-10.0, -2.0)
    """
    pool = as_pool(X)
    goal = values_on(pool, target, "the target")
    check_one_output(goal, "the target")
    values = learner.predict(pool)
    diagonal = np.asarray(learner.kernel.diag(pool.points), dtype=np.float64)
    rate = learner.rate(learner.steps_, diagonal)
    residual = values - goal
    loss = as_loss(learner.loss)
    given = _labels_to_try(labels, loss, values, goal, diagonal, rate)
    slopes = np.asarray(loss.slope(np.broadcast_to(values, given.shape), given))
    changes = distance_change(residual, diagonal, rate, slope=slopes)
    row, index = np.unravel_index(int(np.argmin(changes)), changes.shape)
    return SteepestExample(
        index=int(index),
        label=float(given[row, index]),
        change=float(changes[row, index]),
        value=float(values[index]),
        value_after=float(values[index] - rate * slopes[row, index] * diagonal[index]),
        target=float(goal[index]),
    )


def _labels_to_try(
    labels: str | ArrayLike, loss: Any, values: Array, target: Array, diagonal: Array, rate: float
) -> Array:
    """Return one row of labels for the whole pool per alternative."""
    if isinstance(labels, str):
        if labels == "true":
            return target[np.newaxis]
        if labels != "free":
            raise InvalidInput(f"must be 'true', 'free' or the labels allowed, got {labels!r}", parameter="labels")
        if not isinstance(loss, Square):
            raise InvalidInput(
                f"a free label has a closed form for the square loss only, and the learner's is {name_thing(loss)}: "
                f"name the labels allowed, for example labels=[-1, 1]"
            )
        acting = diagonal > 0  # where K(x, x) = 0 no label does anything
        overshoot = np.divide(values - target, 2.0 * rate * diagonal, out=np.zeros_like(values), where=acting)
        return np.asarray(values - overshoot)[np.newaxis]
    allowed = np.atleast_1d(real_array("labels", labels))
    return np.repeat(allowed[:, np.newaxis], len(values), axis=1)


def rkhs_distance(learner: KernelLearner, target: Any, X: Pool | ArrayLike | None = None) -> float:
    r"""Return |f - f*|_H.

    Exact by coefficients where the target is a `KernelLearner` over the same kernel that started from the same
    function: then f - f* = sum_j a_j K(z_j, .) and the square is a' K a. Otherwise the least norm among all
    functions of H that equal f - f* on the pool, r' K^-1 r, through a Cholesky solve; `IllConditioned` is raised
    where the Gram matrix is too near singular for the number to mean anything.

    Parameters
    ----------
    learner : KernelLearner
    target : KernelLearner, array (n,), number or callable
    X : pool or array (n, d), optional
        Needed unless both are expansions or the learner was taught on a pool.

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> zero = KernelLearner(rbf(width=0.5))
    >>> rkhs_distance(zero, [3.0, 4.0], [[0.0], [99.0]])
    5.0
    """
    if not isinstance(learner, KernelLearner):
        raise InvalidInput(f"only a KernelLearner lives in a kernel's space, got {learner!r}")
    pool = _pool_for(learner, target, X)
    goal = values_on(pool, target, "the target")
    return as_measure("rkhs").prepare(KernelPupil(learner, pool, goal.shape[1:]), goal, target)()


def _pool_for(learner: KernelLearner, target: Any, X: Pool | ArrayLike | None) -> Pool:
    if X is not None:
        return as_pool(X)
    bound: Pool | None = getattr(learner, "pool_", None)
    if bound is not None:
        return bound
    centers = [one.centers_ for one in (learner, target) if isinstance(one, KernelLearner) and one.has_centers()]
    if not centers or not isinstance(target, KernelLearner):
        raise InvalidInput("the learner has no pool yet: give the points as X")
    return Points(np.concatenate(centers))


def rkhs_distances(lesson: Lesson) -> Array:
    r"""Return |f^t - f*|_H for t = 0 .. T, as `rkhs_distance` would at each step, by one solve.

    With several outputs its square is the sum of theirs.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [3.0, 4.0], max_iterations=2)
    >>> rkhs_distances(lesson)
    array([5., 3., 0.])
    """
    again = replay(lesson, several_outputs=True)
    pupil = again.pupil()
    measure = as_measure("rkhs").prepare(pupil, lesson.target, again.target_function)
    found = [measure()]
    found.extend(measure() for _ in again.moments(pupil))
    return np.array(found)


def gaussian_norm(width: float, weights: ArrayLike, centers: ArrayLike, widths: ArrayLike) -> float:
    r"""Return the norm in the space H of `rbf(width)` of sum_i a_i exp(-|x - z_i|^2 / w_i^2), exactly.

    Where a function is known as a sum of Gaussians this needs no Gram matrix, however ill-conditioned that is:
    <g_i, g_j>_H = (w_i w_j / (w sqrt(q)))^d exp(-|z_i - z_j|^2 / q), with q = w_i^2 + w_j^2 - w^2.

    Parameters
    ----------
    width : float
        Of the kernel, w.
    weights, widths : arrays (m,)
        a and w_i; each w_i must exceed w / sqrt(2), or the Gaussian is too narrow to lie in H. A normal density of
        standard deviation s has the width sqrt(2) s and the weight (s sqrt(2 pi))^-d.
    centers : array (m,) or (m, d)

    Examples
    --------
    >>> gaussian_norm(0.5, weights=[3.0], centers=[0.0], widths=[0.5])
    3.0
    """
    check_positive("width", width)
    a, w, z = real_array("weights", weights), real_array("widths", widths), as_pool(centers).points
    if not a.shape == w.shape == (len(z),):
        raise InvalidInput(
            f"{len(z)} centers came with weights {a.shape} and widths {w.shape}: give one of each a bump"
        )
    q = w[:, np.newaxis] ** 2 + w**2 - width**2
    if (w <= 0).any() or (np.diag(q) <= 0).any():
        raise InvalidInput(f"a Gaussian lies in H only where its width exceeds {width / np.sqrt(2):g}, got {w.min():g}")
    apart = np.sum((z[:, np.newaxis] - z) ** 2, axis=2)
    inner = (w[:, np.newaxis] * w / (width * np.sqrt(q))) ** z.shape[1] * np.exp(-apart / q)
    return root(float(a @ inner @ a))

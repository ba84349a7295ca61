"""The discrepancy S of iterative teaching, the greedy ratio built from it, and its mean, the Fisher information."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nimt.arrays import Array, check_count, check_finite, real_array
from nimt.errors import InvalidInput
from nimt.learners.kernel_learner import KernelLearner
from nimt.lesson.lesson import Lesson
from nimt.losses import as_loss
from nimt.pools.pool import Pool, as_pool, values_on
from nimt.theory.bounds_table import check_one_output
from nimt.theory.replaying import Replay, replay

GRADIENTS = ("evaluated", "norm")
PART = 2**17  # values of f that are looked at together


def discrepancy_at(learner: KernelLearner, X: Pool | ArrayLike, y: Any) -> Array:
    r"""Return S_L(f; x) = |E_x grad_f L(f)|^2 = (dL/df K(x, x))^2 at the rows of X [Zhang23, Def. 10].

    The square of the gradient *evaluated* at x. Its squared norm in H is (dL/df)^2 K(x, x): the same for a diagonal
    of 1 only. Of a pack, the largest counts.

    Parameters
    ----------
    learner : KernelLearner
    X : pool or array (n, d)
    y : array (n,), number or callable
        The labels there.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> from nimt.kernels import rbf
    >>> discrepancy_at(KernelLearner(rbf(width=0.5)), [[0.0], [1.0]], [3.0, -0.5])  # (2 (0 - y))^2
    array([36.,  1.])
    """
    _, slopes, diagonal = _gradient(learner, X, y)
    return np.asarray((slopes * diagonal) ** 2)


def fisher_information(
    learner: KernelLearner,
    X: Pool | ArrayLike,
    y: Any,
    *,
    weights: ArrayLike | None = None,
    gradient: str = "evaluated",
    phi: Callable[[Array], ArrayLike] | None = None,
) -> float:
    r"""Return the nonparametric Fisher information I_phi = E_x phi(grad_f L(x; f)) over the pool [Zhang23, App. A].

    Parameters
    ----------
    learner, X, y : as in `discrepancy_at`
    weights : array (n,), optional
        The distribution over X, up to a factor; uniform by default.
    gradient : {"evaluated", "norm"}
        "evaluated" averages S = (dL/df K(x, x))^2, the paper's form. "norm" averages |grad|_H^2 = (dL/df)^2 K(x, x),
        which for a linear kernel is the trace of the parametric Fisher matrix. Both are the textbook information
        where f is one number and K = 1.
    phi : callable on arrays, optional
        The square by default; |g|^(4/3) and -log |g| are others the paper names.

    Examples
    --------
    A coin whose log-odds are 0 carries p (1 - p) = 1/4 about them:

    >>> from nimt.kernels import ConstantKernel
    >>> coin = KernelLearner(ConstantKernel(1.0), loss="logistic", initial=0.0)
    >>> fisher_information(coin, [[0.0], [0.0]], [1.0, -1.0], weights=[0.5, 0.5])
    0.25
    """
    if gradient not in GRADIENTS:
        raise InvalidInput(f"must be one of {', '.join(GRADIENTS)}, got {gradient!r}", parameter="gradient")
    pool, slopes, diagonal = _gradient(learner, X, y)
    sizes = slopes * (diagonal if gradient == "evaluated" else np.sqrt(diagonal))
    squares = sizes**2 if phi is None else real_array("what phi returned", phi(sizes))
    if squares.shape != sizes.shape:
        raise InvalidInput(f"phi was given an array {sizes.shape} and returned {squares.shape}: one number per point")
    if weights is None:
        return float(np.mean(squares))
    shares = real_array("weights", weights)
    if shares.shape != (len(pool),):
        raise InvalidInput(f"weights has shape {shares.shape} for {len(pool)} points: give one per point")
    check_finite("weights", shares)
    if (shares < 0).any() or shares.sum() <= 0:
        raise InvalidInput("must be >= 0 and not all zero", parameter="weights")
    return float(squares @ shares / shares.sum())


@dataclass(frozen=True, eq=False)
class Discrepancies:
    """S along a lesson of T steps; every array has shape (T,), entry t belongs to f^t.

    As in the definition the label is the truth f*(x), also where the teacher gave another one.

    Attributes
    ----------
    shown : array
        At what was shown; of a pack, the largest.
    largest, mean : array
        Over all that the teacher could have shown: what the greedy choice has, what a random one has on average.
    sampled : array or None
        At one example drawn at random, where a seed was given.
    """

    shown: Array
    largest: Array
    mean: Array
    sampled: Array | None = None


def discrepancies(lesson: Lesson, *, seed: int | None = None) -> Discrepancies:
    """Measure S along a lesson.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [1.0, 3.0], max_iterations=2)
    >>> s = discrepancies(lesson)
    >>> s.largest, s.mean
    (array([36.,  4.]), array([20.,  2.]))
    """
    return discrepancies_of(replay(lesson), seed=seed)


def discrepancies_of(again: Replay, *, seed: int | None = None) -> Discrepancies:
    """Measure S along a replay."""
    steps = len(again.lesson)
    shown, largest, mean, sampled = np.empty((4, steps))
    draws = np.zeros(steps, dtype=np.intp)
    if seed is not None:
        check_count("seed", seed, at_least=0, at_most=None)
        draws = np.random.default_rng(seed).integers(len(again.candidates), size=steps)
    is_free, moments = again.free, again.moments()
    while part := list(islice(moments, max(1, PART // len(again.lesson.target)))):
        t = slice(part[0].step, part[-1].step + 1)
        everywhere = pool_discrepancy(again, np.array([moment.values for moment in part]))
        possible = everywhere if is_free else everywhere[:, again.candidates]
        shown[t] = [row[moment.indices].max() for row, moment in zip(everywhere, part, strict=True)]
        largest[t], mean[t] = possible.max(axis=1), possible.mean(axis=1)
        sampled[t] = possible[np.arange(len(part)), draws[t]]
    return Discrepancies(shown, largest, mean, None if seed is None else sampled)


def pool_discrepancy(again: Replay, values: Array) -> Array:
    """Return S on the whole pool at some steps, (steps, n)."""
    target = np.tile(again.lesson.target, (len(values), 1))  # a loss of the user may not stretch it itself
    with np.errstate(over="ignore", invalid="ignore"):  # of a diverged lesson it is infinite
        return np.asarray((again.loss.slope(values, target) * again.diagonal) ** 2)


def greedy_ratio(lesson: Lesson, *, seed: int | None = None) -> Array:
    r"""Return gamma_t = S at a random example / S at the greedy one, for t = 0 .. T - 1 [Zhang23, Thm 14].

    The greedy one is the largest S among what the teacher could show. Where that is 0 nothing is left to teach and
    the ratio counts as 1.

    Parameters
    ----------
    lesson : Lesson
    seed : int, optional
        Draw one random example per step; the exact expectation over the pool by default.

    Returns
    -------
    array (T,)

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [1.0, 3.0], max_iterations=2)
    >>> greedy_ratio(lesson).round(4)  # (4 + 36) / 2 / 36, then (4 + 0) / 2 / 4
    array([0.5556, 0.5   ])
    """
    return ratio_of(discrepancies(lesson, seed=seed))


def ratio_of(measured: Discrepancies) -> Array:
    """Return the greedy ratio from measured S."""
    random = measured.mean if measured.sampled is None else measured.sampled
    something = measured.largest > 0
    ratio = np.ones_like(random)
    np.divide(random, measured.largest, out=ratio, where=something)
    return ratio


def psi(lesson: Lesson, *, seed: int | None = None) -> Array:
    r"""Return the running sum of the greedy ratio, sum_{j < t} gamma_j for t = 0 .. T [Zhang23, Thm 14].

    That is T + 1 numbers, the first of them 0.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [1.0, 3.0], max_iterations=2)
    >>> psi(lesson).round(4)
    array([0.    , 0.5556, 1.0556])
    """
    return running_sum(greedy_ratio(lesson, seed=seed))


def repair_psi(lesson: Lesson) -> Array:
    r"""Return Psi(t) = sum_{j < t} 1 / gamma_j for t = 0 .. T, at least t: what belongs in the bound of GFT.

    Where K(x, x) = 1 and the rate is constant, a greedy step lowers |f - f*|_H^2 by eta (1 - eta) times the *largest*
    S, which is mean S / gamma. So min mean S <= |f0 - f*|_H^2 / (eta (1 - eta) Psi(t)), where random teaching has t in
    the place of Psi(t). For other diagonals and schedules see `Bounds.by_distance_mean`.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [1.0, 3.0], max_iterations=2)
    >>> repair_psi(lesson)
    array([0. , 1.8, 3.8])
    """
    return inverse_sum(ratio_of(discrepancies(lesson)))


def inverse_sum(ratio: Array) -> Array:
    """Return the sums of the first t inverses; the ratio is positive wherever something is left to teach."""
    with np.errstate(divide="ignore"):
        return running_sum(1.0 / ratio)


def ratio_of_bounds(lesson: Lesson) -> float:
    r"""Return Psi(T) / T of a greedy lesson: the bound of random teaching on the mean S over that of greedy teaching.

    It says how far the bounds are apart, not how many times more steps a random teacher needs: a scattered 2-D lesson
    of docs/theory.md has 3.02, and random teaching takes 4.99 times as many steps. `nimt.forecast` of both teachers
    says that. For K(x, x) = 1 and a constant rate.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.5)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [1.0, 3.0], max_iterations=2)
    >>> round(ratio_of_bounds(lesson), 3)
    1.9
    """
    if len(lesson) == 0:
        raise InvalidInput("a lesson of no steps has no bounds to compare")
    return float(repair_psi(lesson)[-1] / len(lesson))


def running_sum(ratio: Array) -> Array:
    """Return the sums of the first t entries, t = 0 .. T."""
    return np.concatenate([[0.0], np.cumsum(ratio)])


def _gradient(learner: KernelLearner, X: Pool | ArrayLike, y: Any) -> tuple[Pool, Array, Array]:
    """Return the pool, dL/df and K(x, x) there."""
    if not isinstance(learner, KernelLearner):
        raise InvalidInput(f"the functional gradient is a KernelLearner's; got {learner!r}")
    pool = as_pool(X)
    labels = values_on(pool, y, "y")
    check_one_output(labels, "y")
    slopes = np.asarray(as_loss(learner.loss).slope(learner.predict(pool), labels))
    return pool, slopes, np.asarray(learner.kernel.diag(pool.points), dtype=np.float64)

"""What every score has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nimt.arrays import Array, Flags
from nimt.losses import Loss
from nimt.operators.dense import DenseOperator
from nimt.pools.pool import Pool

SCORES: dict[str, type[Score]] = {}  # by their names; `nimt.teachers.scores` imports them all


class Score(ABC):
    """A frozen dataclass whose fields are what the score needs to know; teachers have fields of the same names.

    A field `loss` or `norm` without a default is written `= field()`, or it would have the one here.

    A class of nimt gets its number, by which compiled code knows it, when it is made with a name; one of the user has
    none, and its lessons run in the reference loop. The score of a point is
    written twice: for all points at once (`of`), and for one output of one point, as plain numbers (`compile`).

    Attributes
    ----------
    name : str
        As in `GreedyTeacher(score=name)`.
    told : tuple of str
        Which of "loss" and "kernel" it needs to know of the learner.
    is_offered : bool
        Whether `GreedyTeacher` takes it; the others are of teachers of their own.
    is_compiled : bool
        Whether compiled engines know it.
    keeps_product : bool
        Whether it needs K r, r = f - f* at the points that may be shown and 0 elsewhere. Compiled engines then keep it
        up to date: every step adds a column of K K. `operator_on(pool)` says what K is, `constants_among` what else
        the score needs of each point, say m rows; in compiled code constants[m + o, s] is K r of output o at point s.
    loss : Loss or None
        Whose value or slope it uses.
    norm : {2, 1, "max"}
        Over outputs, where it takes one.
    """

    name: ClassVar[str]
    number: ClassVar[int]
    told: ClassVar[tuple[str, ...]] = ()
    is_offered: ClassVar[bool] = True
    is_compiled: ClassVar[bool] = True
    keeps_product: ClassVar[bool] = False

    loss: Loss | None = None
    norm: int | str = 2

    def __init_subclass__(cls, name: str | None = None) -> None:
        if name is not None:
            cls.name = name
            if cls.__module__.startswith("nimt."):  # what is compiled, and kept on disk, contains all of these
                cls.number = len(SCORES)
                SCORES[name] = cls

    @abstractmethod
    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        """Return the score of every point of a pool, from the values of f and f* there."""

    def constants(self, pool: Pool, target: Array) -> Array:
        """Return what compiled code needs of each point beside f and f*, an array (m, n): computed once per lesson."""
        return np.empty((0, len(pool)))

    def operator_on(self, pool: Pool) -> DenseOperator:
        """Return K, where the score needs K r."""
        raise NotImplementedError(f"the score {self.name} does not need K r")

    def constants_among(self, operator: DenseOperator, offered: Flags) -> Array:
        """Return what `constants` does, for a score that needs K r: (m, n), from K and the points that may be shown."""
        return np.empty((0, len(offered)))

    @staticmethod
    def compile(slope: Callable[..., Any], value: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a function (loss, own, f, y, constants, s, o) -> score of output o at point s, for numba to compile.

        `slope(loss, own, f, y)` and `value(loss, own, f, y)` are those of the teacher's loss. Scores of several outputs
        are added.
        """
        return None

    @staticmethod
    def compile_joined() -> Callable[..., Any] | None:
        """Return a function (f, y, first, q, constants, s) -> score of point s, whose q outputs begin at f[first].

        For a score that is not a sum over outputs.
        """
        return None


class LessCost(Score):
    """gain - cost |dL/df|^2, the cost being (eta / 2) K(x, x); `constants` are it and a row for each output."""

    loss: Loss

    def of(self, predictions: Array, target: Array, pool: Pool) -> Array:
        return self.at(predictions, target, self.constants(pool, target))

    def at(self, predictions: Array, target: Array, constants: Array) -> Array:
        """Return the scores, from `constants` that were computed once."""
        slopes = self.loss.slope(predictions, target)
        gain = self.gain(predictions, target, slopes, constants[1:].T.reshape(target.shape))
        costs = constants[0].reshape(-1, *[1] * (target.ndim - 1))
        return add_outputs(gain - costs * slopes * slopes)

    @abstractmethod
    def gain(self, predictions: Array, target: Array, slopes: Array, of_outputs: Array) -> Array:
        """Return what a step gains at each point and output, from the constants of the outputs."""


def add_outputs(scores: Array) -> Array:
    """Return the sum over outputs, the score itself for one."""
    return scores if scores.ndim == 1 else np.asarray(np.sum(scores, axis=1))


def rows_by_output(values: Array) -> Array:
    """Return values (n,) or (n, q) as constants: one row for each output."""
    return values.reshape(len(values), -1).T

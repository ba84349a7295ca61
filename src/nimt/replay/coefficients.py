"""The coefficients of a kernel learner's steps: what each example added to f, read off by taking the steps again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, outputs_of
from nimt.kernels import diagonal
from nimt.learners.kernel import KernelLearner
from nimt.losses import Loss, as_loss, couples_outputs
from nimt.operators.dense import DenseOperator
from nimt.operators.grid import GridOperator
from nimt.pools.base import Grid, Pool

Whole = NDArray[np.int64]

LARGE_PACK = 64  # examples per step from which the operator's way for packs is faster than one column at a time
FEW = 256  # examples for which compiled code need not be loaded


class Board(Protocol):
    """Values of f on a pool, to which columns of K are added."""

    def read(self, places: Whole) -> Array:
        """Return f at the given places."""
        ...

    def add(self, places: Whole, coefficients: Array) -> None:
        """Add c K(., x) for each place."""
        ...

    def places(self, indices: Whole) -> Whole:
        """Return where the points of these indices stand on the board."""
        ...

    def mix(self, matrix: Array) -> None:
        """Do f <- A f."""
        ...

    @property
    def values(self) -> Array: ...


class PaddedBoard:
    """A grid with a margin as wide as the kernel's reach, so that a window never has to be cut."""

    def __init__(self, operator: GridOperator, values: Array) -> None:
        shape, reach = np.array(operator.grid.shape), np.array(operator.reach)
        self.shape: tuple[int, ...] = operator.grid.shape
        self.inner: tuple[slice, ...] = tuple(slice(r, r + length) for r, length in zip(reach, shape, strict=True))
        outputs = values.shape[1:]  # none for one output, (q,) for several
        self.board: Array = np.zeros((*(shape + 2 * reach), *outputs))
        self.board[self.inner] = values.reshape(*self.shape, *outputs)
        self.flat: Array = self.board.reshape(-1, *outputs)
        self.reach: Whole = reach
        lengths = np.diff(operator.start)
        last = np.concatenate(
            [first + np.arange(length) for first, length in zip(operator.first, lengths, strict=True)]
        )
        offsets = np.column_stack([np.repeat(operator.lead, lengths, axis=0), last])
        self.strides: Whole = np.array(self.board.strides[: len(shape)]) // self.flat.strides[0]
        self.offsets: Whole = offsets @ self.strides
        self.weights: Array = operator.weights if not outputs else operator.weights[:, np.newaxis]

    def places(self, indices: Whole) -> Whole:
        cells = np.stack(np.unravel_index(indices, self.shape), axis=-1)
        return np.asarray((cells + self.reach) @ self.strides)

    def read(self, places: Whole) -> Array:
        return np.asarray(self.flat[places])

    def add(self, places: Whole, coefficients: Array) -> None:
        for place, coefficient in zip(places.tolist(), coefficients, strict=True):
            self.flat[self.offsets + place] += coefficient * self.weights

    def mix(self, matrix: Array) -> None:
        self.flat[:] = self.flat @ matrix.T

    @property
    def values(self) -> Array:
        return self.board[self.inner].reshape(-1, *self.flat.shape[1:])


class OperatorBoard:
    """Values in the order of the pool, moved by any operator."""

    def __init__(self, operator: Any, values: Array) -> None:
        self.operator = operator
        self._values = np.array(values)

    def places(self, indices: Whole) -> Whole:
        return indices

    def read(self, places: Whole) -> Array:
        return np.asarray(self._values[places])

    def add(self, places: Whole, coefficients: Array) -> None:
        self.operator.add(self._values, places, coefficients)

    def mix(self, matrix: Array) -> None:
        self._values = self._values @ matrix.T

    @property
    def values(self) -> Array:
        return self._values


class Coefficients:
    """Take the steps of a lesson again and say what each example added to f.

    Parameters
    ----------
    learner : KernelLearner
        As it was before the lesson, bound to the pool.
    pool : Pool
    pack : int
        Examples per step.
    outputs : () or (q,), optional
        Of the lesson, by default those of the learner; an untaught one that starts from a number does not know them.
    per_output : bool
        Whether every output is shown examples of its own.
    mixes : dict of step -> array (q, q)
        By what the outputs are mixed before a step.

    Examples
    --------
    >>> from nimt import KernelLearner, rbf
    >>> from nimt.pools import Points
    >>> learner = KernelLearner(rbf(1.0), learning_rate=0.25)
    >>> taken = Coefficients(learner, Points([0.0, 9.0]), 1).take(np.array([[0], [0]]), np.array([[1.0], [1.0]]))
    >>> taken.ravel()
    array([0.5 , 0.25])
    """

    def __init__(
        self,
        learner: KernelLearner,
        pool: Pool,
        pack: int,
        outputs: tuple[int, ...] | None = None,
        per_output: bool = False,
        mixes: Mapping[int, Array] | None = None,
    ) -> None:
        self.learner = learner
        self.loss: Loss = as_loss(learner.loss)
        self.before: int = learner.steps_so_far()
        self.diagonal: Array = diagonal(learner.kernel, pool)
        self.step: int = 0
        self.per_output = per_output
        self.mixes: Mapping[int, Array] = mixes or {}
        start = np.array(learner.values_on(pool, learner.outputs() if outputs is None else outputs))
        self.outputs: tuple[int, ...] = start.shape[1:]
        self.operator: GridOperator | DenseOperator
        self.board: Board
        if isinstance(pool, Grid) and learner.kernel.is_stationary():
            self.operator = GridOperator(learner.kernel, pool)
            self.board = (PaddedBoard if pack < LARGE_PACK else OperatorBoard)(self.operator, start)
        else:
            self.operator = DenseOperator(learner.kernel, pool)
            self.board = OperatorBoard(self.operator, start)
        self._mix_if_due()

    def _mix_if_due(self) -> None:
        if self.step in self.mixes:
            self.board.mix(self.mixes[self.step])

    @property
    def values(self) -> Array:
        """What f is on the pool after the steps taken so far."""
        return self.board.values

    def take(self, indices: Whole, labels: Array) -> Array:
        """Take steps, one per row of `indices` (m, k) and `labels` (m, k) or (m, k, q); return the coefficients.

        They are (m, k) for one output and (m, k, q) for several; where an example belongs to one output, those of
        the other outputs are 0.
        """
        taken = np.empty((*indices.shape, *self.outputs))
        places = self.board.places(np.asarray(indices, dtype=np.int64))
        twin = self._twin()
        if twin is not None and isinstance(self.board, PaddedBoard) and places.size >= FEW:
            self._take_compiled(self.board, twin, places, labels, taken)
            return taken
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged lesson is told as it was
            for row, (where, label) in enumerate(zip(places, labels, strict=True)):
                taken[row] = self._each(where, label) if self.per_output else self._together(where, label)
                self.board.add(where, taken[row])
                self.step += 1
                self._mix_if_due()
        return taken

    def _twin(self) -> tuple[int, float] | None:
        """Return by what compiled code knows the loss, None where steps are more than a pack for all outputs."""
        if self.per_output or self.mixes or couples_outputs(self.loss) or not hasattr(self.loss, "compiled_twin"):
            return None
        twin: tuple[int, float] | None = self.loss.compiled_twin()
        return twin

    def _take_compiled(
        self, board: PaddedBoard, twin: tuple[int, float], places: Whole, labels: Array, taken: Array
    ) -> None:
        from nimt.engines.compiled_steps.again import take_again  # here, so that a short lesson needs no compiler

        rates = np.array([self._rate(step) for step in range(len(places))])
        flat, shape = board.flat.reshape(-1), (*places.shape, -1)
        weights = np.ascontiguousarray(board.weights).ravel()
        shown = np.ascontiguousarray(labels, dtype=np.float64).reshape(shape)
        take_again(flat, board.offsets, weights, places, shown, rates, *twin, taken.reshape(shape))
        self.step += len(places)

    def _together(self, where: Whole, label: Array) -> Array:
        return np.asarray(-self._rate() / len(where) * self.loss.slope(self.board.read(where), label))

    def _each(self, where: Whole, label: Array) -> Array:
        (q,) = self.outputs
        own = np.arange(len(where)), outputs_of(len(where), q)
        moves = np.zeros((len(where), q))
        moves[own] = -self._rate() / (len(where) // q) * self.loss.slope(self.board.read(where)[own], label)
        return moves

    def _rate(self, ahead: int = 0) -> float:
        return self.learner.rate(self.before + self.step + ahead, self.diagonal)

"""What compiled engines share that keep the learner's arrays in a layout of their own, and how arrays are laid out.

The order of a pool is made in NumPy: it is needed once per lesson, which is faster than to compile it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, Flags, check_stored_array, lend
from nimt.engines.codes import CARRY, ERROR, EUCLIDEAN, MANHATTAN, ROUNDING, TOTAL, Values
from nimt.engines.compiled import CompiledEngine
from nimt.engines.synthesising import LabelMaker
from nimt.learners.kernel_pupils import KernelPupil
from nimt.measures import distance
from nimt.task.task import Task

T = TypeVar("T", bound=np.generic)
Order = NDArray[np.int32]  # the index in the pool of each slot; the size of the pool for slots that are padding

BLOCK = 2**16  # slots that are copied at once, so that nothing of the pool's size is needed beside the arrays
LINE = 64  # bytes of a line of cache
NOTHING: Array = np.empty(0)


class ArrangedEngine(CompiledEngine):
    """Keep f, f*, coefficients and flags flat and, if `order` is not empty, in another order than the pool's.

    Attributes
    ----------
    order : array (slots,) of int
        The index in the pool of each slot; its size for slots that are padding.
    lanes : int
        How many slots have their outputs one after the other instead of side by side (`gather`).
    f, y, other, c : array (slots q,)
        Values, target, the other target, coefficients.
    shown : array (slots,) of bool
    sums : array (3,)
        The sum of squares that is kept by changes, as `compiled_steps.discrepancy` keeps it.
    """

    maker: LabelMaker | None
    responses: dict[str, Any] | None

    def __init__(self, task: Task, pupil: KernelPupil) -> None:
        super().__init__(task, pupil)
        self.sums: Array = np.zeros(3)
        self.order: NDArray[np.int32] = np.empty(0, np.int32)
        self.lanes: int = 1
        self.places: dict[int, NDArray[np.intp]] = {}  # of a small pool, by the number of outputs
        self.f: Array
        self.y: Array
        self.c: Array
        self.other: Array | None
        self.shown: Flags

    @property
    @abstractmethod
    def largest_score(self) -> float:
        """The score of the point that would be shown next."""

    def place(self, array: NDArray[T], padding: float = 0.0) -> NDArray[T]:
        """Return a flat copy of an array over the pool, (n,) or (n, q), in the engine's layout."""
        rows: Any = [array]
        if self.copies[0] > 1:
            rows = array.T if array.ndim == 2 else np.broadcast_to(array, (self.copies[0], len(array)))
        parts = []
        for row in rows:
            if not len(self.order):
                parts.append(np.array(row, order="C").reshape(-1))
                continue
            flat = np.ascontiguousarray(row).reshape(-1)
            q = flat.size // len(self.task.pool)
            result = line_aligned(q * len(self.order), flat.dtype)
            result[:] = padding
            if len(self.order) <= BLOCK:
                places = self._places_of(q)
                result[places] = flat.reshape(places.shape)
            else:
                gather(self.order, flat, result, q, self.lanes)
            parts.append(result)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _places_of(self, q: int) -> NDArray[np.intp]:
        """Return where the values of a small pool lie: there may be a snapshot of it after every step."""
        if q not in self.places:
            self.places[q] = places_in(self.order, len(self.task.pool), q, self.lanes)
        return self.places[q]

    def place_target(self) -> Array:
        """Return f* in the engine's layout; where that is the pool's order, no copy is made."""
        if len(self.order) or self.copies[0] > 1:
            return self.place(self.task.target)
        return lend(self.task.target).reshape(-1)

    def place_forbidden(self) -> NDArray[np.int64] | None:
        """Return what makes a score the lowest at points that are no candidates, in the engine's layout."""
        if self.task.candidates is None:
            return None
        return self.place(-self.barred.astype(np.int64), padding=-1)

    def in_pool_order(self, flat: NDArray[T], shape: tuple[int, ...]) -> NDArray[T]:
        """Return an array over the pool from a flat one in the engine's layout; flags are those of any copy."""
        many, n = self.copies[0], len(self.task.pool)
        q = shape[1] if len(shape) > 1 and many == 1 else 1
        parts = []
        for part in flat.reshape(many, -1):
            if not len(self.order):
                parts.append(part)
            elif len(self.order) <= BLOCK:
                parts.append(part.take(self._places_of(q)))
            else:
                result = np.empty(n * q, dtype=flat.dtype)
                scatter(self.order, part, result, q, self.lanes)
                parts.append(result)
        if many == 1:
            return parts[0].reshape(shape)
        return np.stack(parts, axis=1) if len(shape) == 2 else np.asarray(np.any(parts, axis=0))

    def take_over(self) -> float:
        self._take_arrays()
        with np.errstate(over="ignore", invalid="ignore"):  # as in the reference loop
            root = distance(self.f, self.y)
        self.sums[TOTAL], self.sums[CARRY], self.sums[ERROR] = root * root, 0.0, ROUNDING * root * root
        return self.scale * root

    def _take_arrays(self) -> None:
        values, coefficients, shown = self.pupil.lend()
        if len(self.order) or self.copies[0] > 1:
            self.f, self.c, self.shown = self.place(values), self.place(coefficients), self.place(shown)
        else:
            self.f, self.c, self.shown = values.reshape(-1), coefficients.reshape(-1), shown
        self.find_scores()

    @property
    def functions(self) -> Values:
        """The arrays that compiled code works on."""
        return Values(self.f, self.y, self.y if self.other is None else self.other, self.c, self.shown)

    @property
    def closed(self) -> bool:
        """Whether the pupil has its arrays back and no step will follow."""
        return len(self.f) == 0

    @property
    def values(self) -> Array:
        return self.pupil.values if self.closed else np.asarray(self.in_pool_order(self.f, self.task.target.shape))

    def let_go(self) -> None:
        """Release the arrays that the learner does not need."""
        self.other, self.y = None, NOTHING
        if self.maker is not None:
            self.responses = self.maker.state()
            self.maker = None

    def close(self) -> None:
        self.let_go()
        shape = self.task.target.shape
        # one array at a time, so that no second copy of all of them is in memory
        values = self.in_pool_order(self.f, shape)
        self.f = NOTHING
        coefficients = self.in_pool_order(self.c, shape)
        self.c = NOTHING
        self.pupil.take_back(values, coefficients, self.in_pool_order(self.shown, (len(self.task.pool),)))
        self.order = np.empty(0, np.int32)

    def settle(self) -> None:
        if not self.closed:
            shape = self.task.target.shape
            self.pupil.take_back(
                self.in_pool_order(self.f, shape),
                self.in_pool_order(self.c, shape),
                self.in_pool_order(self.shown, (len(self.task.pool),)),
            )

    def state(self) -> dict[str, Any]:
        return super().state() | {"sums": self.sums}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self._take_arrays()
        self.sums[:] = check_stored_array(state, "sums", (3,))


def tournament_levels(leaves: int, fan: int, trees: int = 1) -> NDArray[np.int64]:
    """Return where each level of a tournament begins, from the leaves to the root, and the number of nodes.

    With several trees of so many leaves, every level holds one tree after another. The leaves of each are filled up to
    a power of the fan, so that the parent of a node is the same as in one tree; the roots are the last level.

    Examples
    --------
    >>> tournament_levels(9, 8)
    array([ 0, 16, 24, 32])
    >>> tournament_levels(9, 8, trees=3)
    array([  0, 192, 216, 224])
    """
    if trees > 1:
        full = fan
        while full < leaves:
            full *= fan
        sizes = [trees * full]
        while full > 1:
            full //= fan
            sizes.append(trees * full if full > 1 else -(-trees // fan) * fan)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    starts, size = [0], max(1, leaves)
    while True:
        padded = -(-size // fan) * fan
        starts.append(starts[-1] + padded)
        if size == 1:
            return np.array(starts, dtype=np.int64)
        size = padded // fan


def grid_order(shape: tuple[int, ...], tables: NDArray[np.int64], slots: int) -> Order:
    """Return the order of a grid in which the slot of a cell is the sum of one number per axis, from its tables.

    Examples
    --------
    >>> grid_order((2, 2), np.array([0, 1, 0, 2]), 5)
    array([0, 2, 1, 3, 4], dtype=int32)
    """
    n = int(np.prod(shape))
    slot, begin = np.zeros((), dtype=np.int32), 0
    for length in shape:
        slot = np.add.outer(slot, tables[begin : begin + length].astype(np.int32))
        begin += length
    order = np.full(slots, n, dtype=np.int32)
    order[slot.reshape(-1)] = np.arange(n, dtype=np.int32)
    return order


def gather(order: Order, source: NDArray[T], result: NDArray[T], q: int, lanes: int) -> None:
    """Write result[slot] = source[index], q numbers each; padding is left alone.

    The outputs of `lanes` slots lie one after the other; with one lane, those of a slot side by side.

    Examples
    --------
    >>> result = np.zeros(4)
    >>> gather(np.array([1, 2, 0, 3], np.int32), np.array([5.0, 6.0, 7.0]), result, 1, 1)
    >>> result
    array([6., 7., 5., 0.])
    """
    rows, into = source.reshape(-1, q), result.reshape(-1, q, lanes)
    for slots, indices in _blocks(order, len(rows)):
        into[slots // lanes, :, slots % lanes] = rows[indices]


def scatter(order: Order, source: NDArray[T], result: NDArray[T], q: int, lanes: int) -> None:
    """Write result[index] = source[slot], the inverse of `gather`."""
    rows, into = source.reshape(-1, q, lanes), result.reshape(-1, q)
    for slots, indices in _blocks(order, len(into)):
        into[indices] = rows[slots // lanes, :, slots % lanes]


def places_in(order: Order, n: int, q: int, lanes: int) -> NDArray[np.intp]:
    """Return where each value of a pool of n lies in a flat array in the layout: result = source[places].

    Examples
    --------
    >>> places_in(np.array([1, 2, 0, 3], np.int32), 3, 1, 1)
    array([2, 0, 1])
    """
    slot = np.empty(n, dtype=np.intp)
    for slots, indices in _blocks(order, n):
        slot[indices] = slots
    first = slot // lanes * (lanes * q) + slot % lanes
    return first if q == 1 else first[:, np.newaxis] + lanes * np.arange(q)


def _blocks(order: Order, n: int) -> Iterator[tuple[NDArray[np.intp], Order]]:
    """Yield the slots that hold a point, and their indices in a pool of n, block by block."""
    for low in range(0, len(order), BLOCK):
        part = order[low : low + BLOCK]
        filled = np.flatnonzero(part < n)
        yield low + filled, part[filled]


def norm_of_outputs(difference: Array, norm: int) -> Array:
    """Return the norms (rows, lanes) over the outputs of an array (rows, q, lanes), added in their order.

    Examples
    --------
    >>> norm_of_outputs(np.array([[[3.0, 0.0], [-4.0, 1.0]]]), EUCLIDEAN)
    array([[5., 1.]])
    """
    sizes = np.abs(difference)
    if sizes.shape[1] == 1:
        return np.asarray(sizes[:, 0])
    result = np.zeros((len(sizes), sizes.shape[2]))
    for size in np.moveaxis(sizes, 1, 0):
        if norm == EUCLIDEAN:
            result += size * size
        elif norm == MANHATTAN:
            result += size
        else:
            result = np.where(size > result, size, result)
    return np.asarray(np.sqrt(result)) if norm == EUCLIDEAN else result


def line_aligned(size: int, dtype: np.dtype[T]) -> NDArray[T]:
    """Return an array without values that begins at the beginning of a line of cache.

    Examples
    --------
    >>> line_aligned(10, np.dtype(np.float64)).ctypes.data % 64
    0
    """
    raw = np.empty(size * dtype.itemsize + LINE, dtype=np.uint8)
    skip = -raw.__array_interface__["data"][0] % LINE
    return raw[skip : skip + size * dtype.itemsize].view(dtype)

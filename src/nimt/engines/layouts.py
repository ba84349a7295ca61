"""The pool in another order, and its errors, in NumPy: needed once per lesson, which is faster than to compile it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.engines.codes import EUCLIDEAN, MANHATTAN

T = TypeVar("T", bound=np.generic)
Order = NDArray[np.int32]  # the index in the pool of each slot; the size of the pool for slots that are padding

BLOCK = 2**16  # slots that are copied at once, so that nothing of the pool's size is needed beside the arrays
LINE = 64  # bytes of a line of cache


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

"""Other ways to write an array, without loss, that compress better than its bytes in order.

*Planes*: the first bytes of all numbers, then the second bytes, and so on. The signs and exponents of numbers of one
size are alike and compress; most other bytes do not, and are written as they are. *Palette*: of a few different values,
as a picture of 8 bits has, the place of each value among them.
"""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nimt.errors import CorruptLesson

AnyArray = NDArray[Any]

SMALL = 1 << 10  # bytes: smaller arrays are written as they are
SAMPLES, SAMPLE = 16, 1 << 12  # pieces, and bytes of each, that tell how small an array becomes
GAIN = 0.95  # what another coding must make of the compressed bytes to be taken
COLOURS = 256  # different values in a palette, at most
IN_PLANES = ("<f8", "<u8", "<i8", "<u4", "<i4", "<u2", "<i2")
IN_PALETTES = ("<f8", "<u8")


class Coded(NamedTuple):
    """An array as it is written: `array`, compressed or not, and `rest`, which is not compressed, if there is any."""

    array: AnyArray
    how: dict[str, Any]
    compress: bool
    rest: AnyArray | None = None


def encode(array: AnyArray, worth: float) -> Coded:
    """Return an array as it is to be written, and how that is undone.

    Parameters
    ----------
    array : array
    worth : float
        It is compressed, and coded, if that makes it this many times smaller, as far as a few pieces of it tell;
        infinite to look at none, which is faster.

    Examples
    --------
    >>> levels = np.repeat([0.1, 0.3], 500)
    >>> found = encode(levels, worth=1.1)
    >>> found.array.dtype, list(found.how), np.array_equal(decode(found.array, found.how), levels)
    (dtype('uint8'), ['palette'], True)
    """
    if array.nbytes < SMALL or worth == np.inf:
        return Coded(array, {}, False)
    pieces = _pieces(array)
    palette = _palette(array, pieces) if array.itemsize >= worth else None
    if palette is not None:
        return palette
    plain = _count_compressed(pieces)
    if array.dtype.str in IN_PLANES:
        sizes = [_count_compressed(plane) for plane in _planes(pieces, array.itemsize)]
        whole = len(pieces) // array.itemsize
        pay = [place for place, size in enumerate(sizes) if size < GAIN * whole]
        planes = sum(size if place in pay else whole for place, size in enumerate(sizes))
        if planes < GAIN * plain and len(pieces) >= worth * planes:
            rest = [place for place in range(array.itemsize) if place not in pay]
            every = _planes(_bytes(array), array.itemsize)
            how = {"dtype": array.dtype.str, "shape": list(array.shape), "compressed": pay}
            return Coded(every[pay], {"planes": how}, True, every[rest] if rest else None)
    return Coded(array, {}, len(pieces) >= worth * plain)


def count_decoded_bytes(array: AnyArray, how: dict[str, Any]) -> int:
    """Return how many bytes an array takes when `encode` is undone, without its rest."""
    return array.size * np.dtype(np.uint64).itemsize if "palette" in how else array.nbytes


def decode(array: AnyArray, how: dict[str, Any], rest: AnyArray | None = None) -> AnyArray:
    """Undo `encode`, or raise `CorruptLesson`."""
    try:
        if "planes" in how:
            return _out_of_planes(array, rest, **how["planes"])
        if "palette" in how:
            return _out_of_palette(array, **how["palette"])
    except (IndexError, TypeError, ValueError, OverflowError) as problem:
        raise CorruptLesson(f"the file was altered: an array is not coded as it says ({problem})") from None
    return array


def _out_of_planes(array: AnyArray, rest: AnyArray | None, *, dtype: Any, shape: Any, compressed: Any) -> AnyArray:
    parts = [part for part in (array, rest) if part is not None]
    if dtype not in IN_PLANES or any(part.dtype != np.uint8 or part.ndim != 2 for part in parts):
        raise ValueError(f"{dtype!r:.40}")
    itemsize = np.dtype(dtype).itemsize
    pay = [_size(place) for place in compressed]
    order = [*pay, *(place for place in range(itemsize) if place not in pay)]
    if sorted(order) != list(range(itemsize)) or len(array) != len(pay) or sum(map(len, parts)) != itemsize:
        raise ValueError(f"{compressed!r:.40}")
    found: AnyArray = np.empty((array.shape[1], itemsize), np.uint8)
    for place, plane in zip(order, (plane for part in parts for plane in part), strict=True):
        found[:, place] = plane
    numbers: AnyArray = found.reshape(-1).view(dtype)
    return numbers.reshape([_size(length) for length in shape])


def _out_of_palette(array: AnyArray, *, dtype: Any, bits: Any) -> AnyArray:
    if dtype not in IN_PALETTES or array.dtype != np.uint8:
        raise ValueError(f"{dtype!r:.40}")
    found: AnyArray = np.array([_size(value) for value in bits], np.uint64)[array]
    return found.view(dtype)


def _size(given: object) -> int:
    """Return a whole number that is not negative; reshape would take -1 for any length."""
    if type(given) is not int or given < 0:
        raise ValueError(f"{given!r:.40}")
    return given


def _bytes(array: AnyArray) -> AnyArray:
    kept = np.ascontiguousarray(array)
    return kept.reshape(-1).view(np.uint8)


def _pieces(array: AnyArray) -> AnyArray:
    """Return the bytes of an array, of a large one a few pieces."""
    data = _bytes(array)
    if len(data) <= SAMPLES * SAMPLE:
        return data
    starts = np.linspace(0, len(data) - SAMPLE, SAMPLES).astype(int) // array.itemsize * array.itemsize
    return np.concatenate([data[start : start + SAMPLE] for start in starts])


def _planes(data: AnyArray, itemsize: int) -> AnyArray:
    return np.ascontiguousarray(data.reshape(-1, itemsize).T)


def _count_compressed(data: AnyArray) -> int:
    return len(zlib.compress(data.tobytes(), 1))


def _palette(array: AnyArray, pieces: AnyArray) -> Coded | None:
    """Return the places of the values and how they are undone; None if there are too many values."""
    if array.dtype.str not in IN_PALETTES or len(np.unique(pieces.view(np.uint64))) > COLOURS:
        return None
    bits = np.ascontiguousarray(array).view(np.uint64)
    known = np.unique(bits)
    if len(known) > COLOURS:
        return None
    places = np.searchsorted(known, bits).astype(np.uint8)
    return Coded(places, {"palette": {"dtype": array.dtype.str, "bits": known.tolist()}}, True)

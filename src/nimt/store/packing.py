"""The arrays of a record, made small without loss.

Equal arrays are kept once, whole numbers by their range, a series by its changes. A *series* is a dictionary of float64
arrays of one shape, such as the snapshots of a lesson. Each is written as the bits in which it differs from the one
before: these are mostly zero, which compresses well. A long series of short arrays is written as one array, because
thousands of small ones take far longer to write and to read.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from nimt.errors import CorruptLesson
from nimt.store.codings import SMALL, AnyArray, count_decoded_bytes, decode

ARRAY = "array"  # a dictionary with this one key stands for the array of that name
SERIES, KEYS = "series", "keys"  # a dictionary with these two stands for a long series in the array of that name
REST = "_rest"  # after the name of an array: the bytes of it that are not compressed
LONG = 32  # arrays in a long series, at least
SHORT = 1 << 16  # bytes of each, at most
WHOLE_NUMBERS = ("<i8", "<i4", "<i2", "<u8", "<u4", "<u2")  # that may be written in fewer bytes
SMALLEST_LIMIT, MOST_PER_BYTE = 1 << 26, 100  # bytes that a file may become in memory


def most_unpacked(size: int) -> int:
    """Return how many bytes of arrays a file of this size may hold, so that a small file never fills the memory.

    Examples
    --------
    >>> most_unpacked(10), most_unpacked(10_000_000)
    (67108864, 1000000000)
    """
    return max(SMALLEST_LIMIT, MOST_PER_BYTE * size)


class Packer:
    """Take the arrays out of a record.

    Parameters
    ----------
    small : bool
        Whether to make them small; otherwise each is kept as it is.

    Attributes
    ----------
    arrays : dict of name -> array, as they are written
    steps : dict of name -> dict
        How each packed array is unpacked: its "dtype", or the name of the array it comes "after" in a series.
    unpacked : int
        Bytes of all arrays when they are back in their places.
    """

    def __init__(self, *, small: bool = True) -> None:
        self.arrays: dict[str, AnyArray] = {}
        self.steps: dict[str, dict[str, Any]] = {}
        self.unpacked: int = 0
        self._small = small
        self._given: dict[str, AnyArray] = {}  # by name, as they were given
        self._alike: dict[tuple[str, tuple[int, ...], int], list[str]] = {}  # names by type, shape and checksum

    def without_arrays(self, content: Any) -> Any:
        """Return the content with a reference in the place of each array."""
        if isinstance(content, np.ndarray):
            return {ARRAY: self._name(content)}
        if isinstance(content, dict):
            return self._without_series(content) if self._small and _is_series(content) else {
                str(key): self.without_arrays(value) for key, value in content.items()
            }  # fmt: skip
        if isinstance(content, list | tuple):
            return [self.without_arrays(value) for value in content]
        return content

    def _without_series(self, series: dict[str, AnyArray]) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        if len(series) >= LONG and next(iter(series.values())).nbytes <= SHORT:
            bits = np.stack([_bits(values) for values in series.values()])
            self.unpacked += bits.nbytes
            bits[1:] ^= bits[:-1].copy()
            name = f"array_{len(self.arrays)}"
            self.arrays[name] = bits
            return {SERIES: name, KEYS: [str(key) for key in series]}
        before: str | None = None
        for key, values in series.items():
            before = self._name(values, before)
            plain[str(key)] = {ARRAY: before}
        return plain

    def _name(self, given: AnyArray, before: str | None = None) -> str:
        """Keep an array, packed, unless an equal one is kept already; return its name."""
        self.unpacked += given.nbytes
        if self._small:
            # by a checksum, because a lesson may hold thousands of snapshots of one shape
            alike = self._alike.setdefault((given.dtype.str, given.shape, zlib.crc32(given.tobytes())), [])
            known = next((name for name in alike if _is_same(given, self._given[name])), None)
            if known is not None:
                return known
            alike.append(f"array_{len(self.arrays)}")
        name = f"array_{len(self.arrays)}"
        if before is not None:
            self.arrays[name] = _bits(given) ^ _bits(self._given[before])
            self.steps[name] = {"after": before}
        else:
            self.arrays[name] = _by_range(given) if self._small else given
            if self.arrays[name].dtype != given.dtype:
                self.steps[name] = {"dtype": given.dtype.str}
        self._given[name] = given
        return name


def with_arrays(plain: Any, arrays: dict[str, AnyArray], steps: Any, limit: int) -> Any:
    """Return what `Packer.without_arrays` was given, or raise `CorruptLesson`.

    Parameters
    ----------
    plain : what `without_arrays` returned
    arrays, steps : as the packer had them
    limit : int
        The most bytes of all arrays in their places.
    """
    arrays = _decode(arrays, steps, limit)
    unpacked = _unpack(arrays, steps)
    left = limit

    def place(part: Any) -> Any:
        nonlocal left
        if isinstance(part, dict):
            if set(part) == {ARRAY} and isinstance(part[ARRAY], str):  # a teacher may call what it remembers "array"
                found = unpacked[part[ARRAY]]
                left -= found.nbytes
                if left < 0:
                    raise CorruptLesson(f"the file was altered: its arrays take more than {limit:,} bytes")
                return found
            if set(part) == {SERIES, KEYS} and isinstance(part[SERIES], str):
                left -= arrays[part[SERIES]].nbytes
                if left < 0:
                    raise CorruptLesson(f"the file was altered: its arrays take more than {limit:,} bytes")
                return _long_series(arrays[part[SERIES]], part[KEYS])
            return {key: place(value) for key, value in part.items()}
        if isinstance(part, list):
            return [place(value) for value in part]
        return part

    return place(plain)


def _decode(arrays: dict[str, AnyArray], steps: Any, limit: int) -> dict[str, AnyArray]:
    """Return the arrays as the packer had them before they were coded."""
    if not isinstance(steps, dict) or not set(steps) <= set(arrays):
        raise CorruptLesson("the file was altered: it does not say how its arrays are unpacked")
    for name, step in steps.items():
        if not isinstance(step, dict):
            raise CorruptLesson(f"the file was altered: it does not say how its array {name!r} is unpacked")
    if sum(count_decoded_bytes(array, steps.get(name, {})) for name, array in arrays.items()) > limit:
        raise CorruptLesson(f"the file was altered: its arrays take more than {limit:,} bytes")
    rests = {name + REST for name in steps if name + REST in arrays}
    return {
        name: decode(array, steps.get(name, {}), arrays.get(name + REST))
        for name, array in arrays.items()
        if name not in rests
    }


def _unpack(arrays: dict[str, AnyArray], steps: dict[str, Any]) -> dict[str, AnyArray]:
    """Return the arrays as they were given to the packer."""
    unpacked: dict[str, AnyArray] = {}
    for name, array in arrays.items():  # an array comes after the one it differs from
        step = steps.get(name, {})
        if "after" in step:
            before = unpacked.get(step["after"]) if isinstance(step["after"], str) else None
            kinds = None if before is None else (before.dtype.str, array.dtype.str)
            if before is None or kinds != ("<f8", "<u8") or before.shape != array.shape:
                raise CorruptLesson(f"the file was altered: its array {name!r} continues no series")
            unpacked[name] = (array ^ _bits(before)).view(np.float64)
        elif "dtype" in step:
            if step["dtype"] not in WHOLE_NUMBERS or array.dtype.kind not in "iu":
                raise CorruptLesson(f"the file was altered: its array {name!r} is unpacked to {step['dtype']!r}")
            unpacked[name] = array.astype(step["dtype"])
        else:
            unpacked[name] = array
    return unpacked


def _long_series(changes: AnyArray, keys: Any) -> dict[str, AnyArray]:
    """Return the arrays of a long series by their keys."""
    named = isinstance(keys, list) and all(isinstance(key, str) for key in keys) and len(set(keys)) == len(keys)
    if not named or changes.dtype.str != "<u8" or changes.ndim < 2 or len(changes) != len(keys):
        raise CorruptLesson("the file was altered: its series does not have an array for every key")
    values = np.bitwise_xor.accumulate(changes, axis=0).view(np.float64)
    return dict(zip(keys, values, strict=True))


def _is_series(content: dict[str, Any]) -> bool:
    first: Any = next(iter(content.values()), None)
    return len(content) > 1 and all(
        isinstance(part, np.ndarray) and part.dtype == np.float64 and part.ndim > 0 and part.shape == first.shape
        for part in content.values()
    )


def _is_same(one: AnyArray, other: AnyArray) -> bool:
    """Say whether two arrays of one dtype and shape hold the same bits."""
    if one is other:
        return True
    if one.dtype.kind not in "biuf" or one.dtype.itemsize > 8:
        return False
    a, b = _bits(one).reshape(-1), _bits(other).reshape(-1)
    stride = max(1, len(a) // 64)  # a look at a few values tells most arrays apart
    return np.array_equal(a[::stride], b[::stride]) and np.array_equal(a, b)


def _bits(array: AnyArray) -> AnyArray:
    kept = np.ascontiguousarray(array).reshape(array.shape)
    return kept.view(f"u{array.dtype.itemsize}")


def _by_range(array: AnyArray) -> AnyArray:
    """Return whole numbers in the fewest bytes that hold them all."""
    if array.dtype.str not in WHOLE_NUMBERS or array.nbytes < SMALL:
        return array
    low, high = int(array.min()), int(array.max())
    kinds = ("u1", "u2", "u4") if low >= 0 else ("i1", "i2", "i4")
    for kind in kinds:
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max and np.dtype(kind).itemsize < array.dtype.itemsize:
            return array.astype(kind)
    return array

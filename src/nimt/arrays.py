"""Arrays and numbers: their types, and the checks that every input goes through."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.errors import InvalidInput

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


def is_number(value: object) -> bool:
    """Say whether `value` is a real number (numpy scalars included); True and False do not count as numbers."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: object) -> bool:
    """Say whether `value` is an integer; True, False and 1.0 do not count as integers."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, *, at_least: int) -> None:
    """Refuse a value that is not a whole number >= `at_least`."""
    if not is_whole(value) or int(value) < at_least:
        raise InvalidInput(f"{name} must be a whole number >= {at_least}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse a value that is not a positive finite number."""
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(f"{name} must be a positive number, got {value!r}")


def real_array(name: str, values: Any) -> Array:
    """Return a float64 array; refuse complex, text, ragged and masked values."""
    if np.ma.is_masked(values):
        raise InvalidInput(f"{name} has masked values, which are missing: leave these points out or fill them")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInput(f"{name} is not a rectangular array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"{name} must hold real numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):  # what is too large for a float64 becomes inf, and is refused as such
        return array.astype(np.float64, copy=False)


def check_finite(name: str, array: Array, point: Callable[[int], object] | None = None) -> None:
    """Refuse NaN and infinities, and say where the first one is; `point` tells the coordinates at an index."""
    bad = ~np.isfinite(array)
    if not bad.any():
        return
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    index = where[0] if len(where) == 1 else where
    at = f" (x = {point(where[0])})" if point is not None else ""
    more = f", and {int(bad.sum()) - 1} more like it" if bad.sum() > 1 else ""
    raise InvalidInput(f"{name} has {array[where]!s} at index {index}{at}{more}: every value must be finite")


def frozen(array: Array) -> Array:
    """Return a read-only copy that shares no memory with its source."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def read_only(array: Array) -> Array:
    """Return a view through which the array cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view

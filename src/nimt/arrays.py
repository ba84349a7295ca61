"""Arrays and numbers: their types, and the checks that every input goes through."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nimt.errors import CorruptLesson, InvalidInput

LARGEST_INTEGER = 2**1023
LARGEST_COUNT = 2**63 - 1
FLOAT = np.dtype(np.float64)
LARGEST, SMALLEST = 1e120, 1e-120  # beyond, a sum of squares is infinite or 0

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


def is_number(value: object) -> TypeGuard[float]:
    """Say whether `value` is a real number (numpy scalars included); True and False do not count as numbers."""
    if (
        type(value) is float or type(value) is np.float64
    ):  # at every step of a lesson: checking for an abstract class takes ten times longer
        return True
    if type(value) is int:
        return -LARGEST_INTEGER < value < LARGEST_INTEGER
    if isinstance(value, Integral) and not -LARGEST_INTEGER < int(value) < LARGEST_INTEGER:
        return False  # too large for a float
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: object) -> TypeGuard[int]:
    """Say whether `value` is an integer; True, False and 1.0 do not count as integers."""
    if type(value) is int:
        return True
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: object, *, at_least: int, at_most: int | None = LARGEST_COUNT) -> None:
    """Refuse a value that is not a whole number >= `at_least`, or that no array could count."""
    if not is_whole(value) or int(value) < at_least:
        raise InvalidInput(f"must be a whole number >= {at_least}, got {value!r}", parameter=name)
    if at_most is not None and int(value) > at_most:
        raise InvalidInput(f"must be at most {at_most}, got a number of {int(value).bit_length()} bits", parameter=name)


def check_positive(name: str, value: object) -> None:
    """Refuse a value that is not a positive finite number."""
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(f"must be a positive number, got {value!r}", parameter=name)


def check_flag(name: str, value: object) -> None:
    """Refuse a value that is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"must be True or False, got {value!r}", parameter=name)


def outputs_of(examples: int, q: int) -> Indices:
    """Return the output of each example of a step that shows every output its own: the first k belong to the first.

    Examples
    --------
    >>> outputs_of(6, 3)
    array([0, 0, 1, 1, 2, 2])
    """
    return np.repeat(np.arange(q), examples // q)


def real_array(name: str, values: object) -> Array:
    """Return a float64 array; refuse complex, text, ragged and masked values."""
    if type(values) is np.ndarray and values.dtype == FLOAT:
        return values
    if np.ma.is_masked(values):
        raise InvalidInput(
            "has masked values, which are missing", parameter=name, way_out="leave these points out or fill them"
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInput(f"is not a rectangular array of numbers: {error}", parameter=name) from None
    if array.dtype.kind not in "biuf":
        words = (
            "turn words into numbers: nimt.classes.one_hot(labels) of classes, pool.numbers(names) of names in a pool"
        )
        way_out = words if array.dtype.kind == "U" else None
        raise InvalidInput(f"must hold real numbers, got dtype {array.dtype}", parameter=name, way_out=way_out)
    with np.errstate(over="ignore"):  # a number too large for float64 becomes inf, which `check_finite` refuses
        return array.astype(np.float64, copy=False)


def check_finite(name: str, array: Array, point: Callable[[int], object] | None = None) -> None:
    """Refuse NaN and infinities, and say where the first one is; `point` returns the coordinates at an index."""
    if array.size == 1 and math.isfinite(array.item()):  # the label of one example, at every step
        return
    finite = np.isfinite(array)
    if finite.all():
        return
    bad = ~finite
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    index = where[0] if len(where) == 1 else where
    at = f" (x = {point(where[0])})" if point is not None else ""
    more = f", and {int(bad.sum()) - 1} more like it" if bad.sum() > 1 else ""
    problem = f"has {array[where]!s} at index {index}{at}{more}"
    raise InvalidInput(problem, parameter=name, way_out="every value must be finite")


def freeze(array: Array) -> Array:
    """Return a read-only copy that shares no memory with its source."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def read_only(array: Array) -> Array:
    """Return a view through which the array cannot be changed."""
    view = array.view()
    view.flags.writeable = False
    return view


def lend(array: Array) -> Array:
    """Return a view of an array from `freeze`, for code compiled for arrays that can be written to; it must not write.

    A copy would take as much memory again.

    Examples
    --------
    >>> kept = freeze(np.ones(3))
    >>> lend(kept).flags.writeable, kept.flags.writeable, np.shares_memory(lend(kept), kept)
    (True, False, True)
    """
    if not array.flags.owndata:
        return np.array(array, order="C")
    array.flags.writeable = True
    view = array.view()
    array.flags.writeable = False
    return view


def power_of_two(values: NDArray[np.floating[Any]]) -> float:
    """Return the power of two next to the largest |value|; dividing by it is exact, and leaves numbers near 1.

    Examples
    --------
    >>> power_of_two(np.array([3.0, -5.0])), power_of_two(np.zeros(2))
    (8.0, 1.0)
    """
    largest = float(np.max(np.abs(values), initial=0.0))
    return 2.0 ** min(max(math.frexp(largest)[1], -1000), 1000) if largest > 0 and math.isfinite(largest) else 1.0


def check_squares(name: str, values: NDArray[np.floating[Any]]) -> None:
    """Refuse finite numbers (n,) or (n, q) whose differences have squares that are infinite, or all 0.

    Examples
    --------
    >>> check_squares("y", np.array([0.0, 1e300]))
    Traceback (most recent call last):
    nimt.errors.InvalidInput: y runs from 0 to 1e+300, and squares of such numbers are lost: give it in other units
    """
    if not values.size:
        return
    runs = np.ptp(values / 2, axis=0)  # halved, since a difference may be infinite
    if not (np.max(runs) == 0 or np.max(runs) > SMALLEST) or not np.max(np.abs(values)) < LARGEST:
        raise InvalidInput(
            f"{name} runs from {np.min(values):g} to {np.max(values):g}, and squares of such numbers are lost: give it "
            f"in other units"
        )


def check_stored_array(
    state: Mapping[str, Any], name: str, shape: tuple[int | None, ...], kinds: str = "f"
) -> NDArray[Any]:
    """Return a copy of an array read from a file, or refuse one that is not of this shape and kind.

    A checksum does not prevent forgery, so whatever compiled code will index is checked here first.

    Parameters
    ----------
    state : mapping
        What the file holds.
    name : str
    shape : tuple
        None stands for any length.
    kinds : str
        Of numpy's dtype: "f" for floats, "i" for integers, "b" for truth values.
    """
    found = state.get(name)
    if not isinstance(found, np.ndarray):
        raise CorruptLesson(f"the file was altered: {name!r} is not an array")
    fits = len(found.shape) == len(shape) and all(
        want is None or have == want for have, want in zip(found.shape, shape, strict=True)
    )
    if not fits or found.dtype.kind not in kinds:
        raise CorruptLesson(
            f"the file was altered: {name!r} has shape {found.shape} and dtype {found.dtype}, where shape {shape} is "
            f"needed"
        )
    return np.array(found)


def check_stored_indices(
    state: Mapping[str, Any], name: str, shape: tuple[int | None, ...], below: int, at_least: int = 0
) -> NDArray[np.int64]:
    """Return indices read from a file, or refuse any outside the range."""
    found = check_stored_array(state, name, shape, "iu").astype(np.int64)
    if found.size and (found.min() < at_least or found.max() >= below):
        raise CorruptLesson(f"the file was altered: {name!r} holds an index outside 0 to {below - 1}")
    return found


def check_stored_count(state: Mapping[str, Any], name: str) -> int:
    """Return a count read from a file, or refuse any other value."""
    found: Any = state.get(name)
    if isinstance(found, np.ndarray) and found.shape == ():
        found = found.item()
    if not is_whole(found) or not 0 <= int(found) < 2**62:
        raise CorruptLesson(f"the file was altered: {name!r} is {found!r}, where a count is needed")
    return int(found)

"""Numbers that one thread appends and others read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingColumn:
    """Numbers appended by one thread and read by others: what was once readable never moves from under a reader.

    Examples
    --------
    >>> numbers = GrowingColumn(np.float64)
    >>> numbers.append(np.array([1.0, 2.0, 3.0]))
    >>> numbers.part(1, 9)
    array([2., 3.])
    """

    def __init__(self, kind: Any) -> None:
        self._data = np.empty(1024, dtype=kind)
        self._length = 0

    def append(self, values: NDArray[Any]) -> None:
        end = self._length + len(values)
        if end > len(self._data):
            larger = np.empty(max(end, 2 * len(self._data)), dtype=self._data.dtype)
            larger[: self._length] = self._data[: self._length]
            self._data = larger
        self._data[self._length : end] = values
        self._length = end  # last, so that a reader never sees what is not there yet

    def part(self, begin: int, end: int) -> NDArray[Any]:
        return self._data[begin : min(end, self._length)]

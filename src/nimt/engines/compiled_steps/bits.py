"""Numbers as their bits: those of numbers >= 0 order like the numbers, and maxima of integers are vectorised."""

from __future__ import annotations

import numpy as np

from nimt.engines._numba.chosen import inlined


@inlined
def bits_of(number):
    """The bits of a floating-point number, as a whole one."""
    return np.float64(number).view(np.int64)


@inlined
def number_with(bits):
    """The floating-point number that has these bits."""
    return np.int64(bits).view(np.float64)

"""Is it a number? Python's tower of numbers, numpy's scalars included, True and False left out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from nimt.errors import InvalidInput


def is_number(value: Any) -> bool:
    """Say whether it is a real number; a bool is none."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_whole(value: Any) -> bool:
    """Say whether it is an integer; a bool is none, nor is 1.0."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_count(name: str, value: Any, *, at_least: int) -> None:
    """Refuse what is no whole number of at least so much."""
    if not is_whole(value) or int(value) < at_least:
        raise InvalidInput(f"{name} must be a whole number >= {at_least}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no positive finite number."""
    if not is_number(value) or not 0 < float(value) < np.inf:
        raise InvalidInput(f"{name} must be a positive number, got {value!r}")

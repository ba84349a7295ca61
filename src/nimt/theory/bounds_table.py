"""How the theory's results leave the library: columns, JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.errors import InvalidInput


def to_json(content: Any) -> str:
    """Return JSON text; what JSON cannot hold (NaN, infinities) becomes null.

    Examples
    --------
    >>> to_json({"rates": np.array([0.5, np.inf]), "held": True})
    '{"rates": [0.5, null], "held": true}'
    """
    return json.dumps(_plain(content), allow_nan=False)


def _plain(content: Any) -> Any:
    if isinstance(content, np.ndarray | np.generic):
        content = content.tolist()
    if isinstance(content, float) and not math.isfinite(content):
        return None
    if isinstance(content, Mapping):
        return {str(name): _plain(part) for name, part in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(part) for part in content]
    return content


def check_one_output(values: NDArray[Any], what: str) -> None:
    """Refuse values (n, q) of several outputs, for which the theory is not stated.

    Examples
    --------
    >>> check_one_output(np.zeros((4, 3)), "the target")
    Traceback (most recent call last):
    nimt.errors.InvalidInput: the theory is stated for one output, and the target has 3: take each output by itself
    """
    if values.ndim > 1:
        raise InvalidInput(
            f"the theory is stated for one output, and {what} has {values.shape[1]}: take each output by itself"
        )


def table_of_one(row: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return one row as columns of length 1."""
    return {name: np.array([value]) for name, value in row.items()}

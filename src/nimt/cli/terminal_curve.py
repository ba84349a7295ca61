"""A curve in letters: eight heights per line."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nimt.measures import Measure

BLOCKS = " ▁▂▃▄▅▆▇█"
ASCII = str.maketrans("▁▂▃▄▅▆▇█│└─", "..::==##|+-")  # for a terminal without these letters


def terminal_curve(
    values: NDArray[np.float64], *, measure: Measure | None = None, width: int = 64, height: int = 10
) -> list[str]:
    r"""Return the lines of a picture of a measure over the steps; on a linear axis if higher values are better.

    Each column shows the value at one step, the first column at the first and the last at the last, so that the numbers
    at the side are values of the lesson. What is not finite, or not positive on a logarithmic axis, is left out.

    Parameters
    ----------
    values : array (T + 1,)
    measure : Measure, optional
        What the values are; the axis is logarithmic by default.
    width, height : int
        Of the picture, in letters.

    Examples
    --------
    >>> print("\n".join(terminal_curve(np.array([1.0, 0.1, 0.01]), width=3, height=2)))
      1.0e+00 │█▁
      1.0e-02 │██▁
              └───
               0 2
    """
    logarithmic = measure is None or not measure.higher_is_better
    count = min(width, len(values))
    shown = values[np.linspace(0, len(values) - 1, count).round().astype(int)]
    columns = [_height_of(float(value), logarithmic) for value in shown]
    known = [value for value in columns if value is not None]
    if not known:
        return [f"there is no {'positive ' if logarithmic else ''}finite value to draw"]
    low, high = min(known), max(known)
    span = high - low or 1.0
    eighths = [None if v is None else 1 + round((8 * height - 1) * (v - low) / span) for v in columns]
    lines = []
    for row in range(height - 1, -1, -1):
        cells = "".join(" " if e is None else BLOCKS[min(8, max(0, e - 8 * row))] for e in eighths)
        label = {0: low, height - 1: high}.get(row)
        number = "" if label is None else f"{10**label:.1e}" if measure is None or logarithmic else measure.text(label)
        lines.append(f"{number:>9} │{cells}".rstrip())
    last = f"{len(values) - 1:,}"
    lines.append(" " * 10 + "└" + "─" * count)
    lines.append(" " * 11 + "0" + last.rjust(count - 1))
    return lines


def _height_of(value: float, logarithmic: bool) -> float | None:
    if not math.isfinite(value) or (logarithmic and value <= 0):
        return None
    return math.log10(value) if logarithmic else value

"""A curve in letters: eight heights a line, logarithmic."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

BLOCKS = " ▁▂▃▄▅▆▇█"
ASCII = str.maketrans("▁▂▃▄▅▆▇█│└─", "..::==##|+-")  # for a terminal without these letters


def terminal_curve(
    discrepancy: NDArray[np.float64], tol: float | None = None, *, width: int = 64, height: int = 10
) -> list[str]:
    r"""Return the lines of a picture of log10 of the discrepancy over the steps.

    Each column shows the mean of its steps in logarithm; what is zero or not finite is left out.

    Parameters
    ----------
    discrepancy : array (T + 1,)
    tol : float, optional
        Its line is marked at the side.
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
    count = min(width, len(discrepancy))
    edges = np.linspace(0, len(discrepancy), count + 1).round().astype(int)
    columns = [_log_mean(discrepancy[a:b]) for a, b in itertools.pairwise(edges)]
    known = [value for value in columns if value is not None]
    if not known:
        return ["the discrepancy has no positive finite value to draw"]
    low, high = min(known), max(known)
    if tol and math.log10(tol) < low:
        low = max(math.log10(tol), low - (high - low))
    span = high - low or 1.0
    eighths = [None if v is None else 1 + round((8 * height - 1) * (v - low) / span) for v in columns]
    lines = []
    for row in range(height - 1, -1, -1):
        cells = "".join(" " if e is None else BLOCKS[min(8, max(0, e - 8 * row))] for e in eighths)
        label = (
            f"{10 ** (low + span * (row / (height - 1) if height > 1 else 0)):.1e}" if row in (0, height - 1) else ""
        )
        lines.append(f"{label:>9} │{cells}".rstrip())
    last = f"{len(discrepancy) - 1:,}"
    lines.append(" " * 10 + "└" + "─" * count)
    lines.append(" " * 11 + "0" + last.rjust(count - 1))
    return lines


def _log_mean(part: NDArray[np.float64]) -> float | None:
    usable = part[np.isfinite(part) & (part > 0)]
    return float(np.log10(usable).mean()) if usable.size else None

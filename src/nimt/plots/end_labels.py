"""The names of curves at their ends, which need no legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes

from nimt.display import spread

GAP = 12.0  # points between the names of two curves
LETTER = 0.075  # inches


def room_for_names(names: Iterable[str]) -> float:
    """Return the inches that the names take at the right of the axes."""
    return LETTER * max(len(name) for name in names)


def write_names(ax: Axes, ends: Mapping[str, float], colours: Mapping[str, str]) -> None:
    """Write the name of each curve to the right of the axes, at the height of its end, names apart."""
    low, high = ax.get_ylim()
    within = np.clip(np.nan_to_num(list(ends.values()), nan=high, posinf=high, neginf=low), low, high)
    heights = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([within * 0, within])))[:, 1]
    inches = ax.bbox.height / ax.figure.dpi
    places = spread(heights.tolist(), GAP / 72 / inches, 0.0, 1.0)
    for name, place in zip(ends, places, strict=True):
        ax.annotate(
            name, (1, place), (5, 0), xycoords="axes fraction", textcoords="offset points", ha="left", va="center",
            color=colours[name], fontsize=8.5, parse_math=False,
        )  # fmt: skip

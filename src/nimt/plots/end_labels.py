"""The names of curves at their ends, which need no legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import BboxTransformTo, ScaledTranslation

from nimt.display import spread
from nimt.plots.style import Ink

GAP = 12.0  # points between the names of two curves
ALIKE = 0.02  # of the height of the axes: ends that are nearer to each other are one height
LETTER = 0.075  # inches
SAMPLE = (4.0, 24.0)  # points from the axes, of the piece of a curve before its name


def room_for_names(names: Iterable[str]) -> float:
    """Return the inches that the names take at the right of the axes."""
    return SAMPLE[1] / 72 + LETTER * max(len(name) for name in names)


def write_names(
    ax: Axes, ends: Mapping[str, float], looks: Mapping[str, Ink], steps: Mapping[str, float] | None = None
) -> None:
    """Write the name of each curve to the right of the axes, at the height of its end, names apart.

    Of curves that end at about one height, as all do that reach the tolerance, the one with most `steps` stands
    highest.

    A piece of the curve stands before the name, so that its dashes say whose it is where colours do not.
    """
    low, high = ax.get_ylim()
    within = np.clip(np.nan_to_num(list(ends.values()), nan=high, posinf=high, neginf=low), low, high)
    heights = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([within * 0, within])))[:, 1]
    if steps:
        most = max(*steps.values(), 1)
        heights = heights + np.array([ALIKE * steps[name] / most for name in ends])
    inches = ax.bbox.height / ax.figure.dpi
    places = spread(heights.tolist(), GAP / 72 / inches, 0.0, 1.0)
    figure = ax.figure
    for name, place in zip(ends, places, strict=True):
        ax.annotate(
            name, (1, place), (SAMPLE[1] + 4, 0), xycoords="axes fraction", textcoords="offset points", ha="left",
            va="center", color=looks[name].colour, fontsize=8.5, parse_math=False,
        )  # fmt: skip
        beside = figure.dpi_scale_trans + ScaledTranslation(1, place, BboxTransformTo(ax.bbox))
        across = [points / 72 for points in SAMPLE]
        dashes: Any = looks[name].dashes
        # of the figure, because the lines of the axes are its curves
        figure.add_artist(Line2D(across, [0, 0], color=looks[name].colour, linestyle=dashes, transform=beside))

"""A comparison as curves with bands, each named at its end."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nimt.display import spread
from nimt.plots.curves import BAND_INK, lay_out, thin_curve
from nimt.plots.figures import draw_on
from nimt.plots.style import QUIET, inks
from nimt.runs.bands import BandKind, say_band
from nimt.runs.comparison import Comparison

LABEL_GAP = 12.0  # points between the names of two curves
LETTER = 0.075  # inches


def draw_comparison(compared: Comparison, ax: Axes | None = None, band: BandKind = "range") -> Figure | Axes:
    """Draw the bands of a comparison; see `Comparison.plot`."""
    longest = max(len(name) for name in compared.lessons)
    return draw_on(lambda ax: _draw(compared, ax, band), ax, 5.4 + LETTER * longest, 3.6)


def _draw(compared: Comparison, ax: Axes, kind: BandKind) -> None:
    bands = compared.bands(kind)
    ready = inks((band.colour for band in bands), (band.name for band in bands), shades=True)
    for band, ink in zip(bands, ready, strict=True):
        step, mean, low, high = thin_curve(band.step.astype(float), band.mean, band.low, band.high)
        ax.plot(step, mean, color=ink.colour, linestyle=ink.dashes, label=band.name)
        if not np.array_equal(low, high):
            ax.fill_between(step, low, high, color=ink.colour, alpha=BAND_INK, linewidth=0)
    if not compared.measure.higher_is_better and any((band.mean > 0).any() for band in bands):
        ax.set_yscale("log")
    if compared.tol:
        ax.axhline(compared.tol, color=QUIET, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    said = "" if kind == "range" else f"\nband: {say_band(kind)}"  # the usual one is said by the documentation
    lay_out(ax, (compared.measure.axis or compared.measure.name) + said)
    _name(ax, [band.name for band in bands], [float(band.mean[-1]) for band in bands], [ink.colour for ink in ready])


def _name(ax: Axes, names: list[str], ends: list[float], colours: list[str]) -> None:
    """Write the name of each curve to the right of the axes, at the height of its end, names apart."""
    low, high = ax.get_ylim()
    within = np.clip(np.nan_to_num(ends, nan=high, posinf=high, neginf=low), low, high)
    heights = ax.transAxes.inverted().transform(ax.transData.transform(np.column_stack([within * 0, within])))[:, 1]
    inches = ax.bbox.height / ax.figure.dpi
    places = spread(heights.tolist(), LABEL_GAP / 72 / inches, 0.0, 1.0)
    for name, place, colour in zip(names, places, colours, strict=True):
        ax.annotate(
            name, (1, place), (5, 0), xycoords="axes fraction", textcoords="offset points", ha="left", va="center",
            color=colour, fontsize=8.5, parse_math=False,
        )  # fmt: skip

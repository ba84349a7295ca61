"""A comparison as curves with bands, each named at its end."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nimt.display import FigureStyle, FigureWidth
from nimt.plots.curves import BAND_INK, lay_out, thin_curve
from nimt.plots.end_labels import room_for_names, write_names
from nimt.plots.figures import draw_on, wrap_label
from nimt.plots.style import QUIET, inks
from nimt.runs.bands import BandKind, say_band
from nimt.runs.comparison import Comparison


def draw_comparison(
    compared: Comparison,
    ax: Axes | None = None,
    band: BandKind = "range",
    width: FigureWidth | None = None,
    style: FigureStyle = "light",
) -> Figure | Axes:
    """Draw the bands of a comparison; see `Comparison.plot`."""
    wide = 5.4 + room_for_names(compared.lessons)
    return draw_on(lambda ax: _draw(compared, ax, band), ax, wide, 3.6, width, style)


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
    said = "" if kind == "range" else f"band: {say_band(kind)}"  # the usual one is said by the documentation
    lay_out(ax, wrap_label(ax, (compared.measure.axis or compared.measure.name, said)))
    write_names(
        ax,
        {band.name: float(band.mean[-1]) for band in bands},
        {band.name: ink for band, ink in zip(bands, ready, strict=True)},
        {band.name: float(band.step[-1]) for band in bands},
    )

"""A comparison as curves with bands, each named at its end."""

from __future__ import annotations

from typing import overload

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from nimt.display import spread
from nimt.errors import InvalidInput
from nimt.plots.curves import BAND_INK, thin_curve
from nimt.plots.figures import draw_on
from nimt.plots.style import QUIET, inks
from nimt.teaching.comparison import Comparison

LABEL_GAP = 12.0  # points between the names of two curves
LETTER = 0.075  # inches


@overload
def comparison(compared: Comparison, ax: None = None) -> Figure: ...
@overload
def comparison(compared: Comparison, ax: Axes) -> Axes: ...
def comparison(compared: Comparison, ax: Axes | None = None) -> Figure | Axes:
    """Draw every teacher's discrepancy: the mean over its seeds, in a band from the lowest to the highest value.

    Curves of more than 600 steps are drawn at 300, as the median of the steps around each.

    Parameters
    ----------
    compared : Comparison
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Figure, or the Axes given

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0))
    >>> compared = nimt.compare(learner, [nimt.GreedyTeacher(), nimt.RandomTeacher()], [0.0, 1.0], [1.0, 2.0],
    ...                         max_iterations=9, seeds=3)
    >>> [text.get_text() for text in nimt.plots.comparison(compared).axes[0].texts]
    ['GFT-1', 'RFT-1']
    """
    if not isinstance(compared, Comparison):
        raise InvalidInput(f"comparison draws what nimt.compare returns, got {type(compared).__name__}: use curve")
    longest = max(len(name) for name in compared.lessons)
    return draw_on(lambda ax: _draw(compared, ax), ax, 5.4 + LETTER * longest, 3.6)


def _draw(compared: Comparison, ax: Axes) -> None:
    bands = compared.bands()
    ready = inks((band.colour for band in bands), (band.name for band in bands))
    for band, ink in zip(bands, ready, strict=True):
        step, mean, low, high = thin_curve(band.step.astype(float), band.mean, band.low, band.high)
        ax.plot(step, mean, color=ink.colour, linestyle=ink.dashes, label=band.name)
        if not np.array_equal(low, high):
            ax.fill_between(step, low, high, color=ink.colour, alpha=BAND_INK, linewidth=0)
    if not compared.measure.higher_is_better and any((band.mean > 0).any() for band in bands):
        ax.set_yscale("log")
    if compared.tol:
        ax.axhline(compared.tol, color=QUIET, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
    ax.grid(axis="y")
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    measure = compared.measure
    ax.set(xlabel="step", ylabel=measure.axis or measure.name)
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

"""The curve of a lesson: its discrepancy over the steps."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import overload

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.display import FigureStyle, FigureWidth
from nimt.lesson.lesson import Lesson
from nimt.measures import decibels
from nimt.plots.figures import PowersOfTen, draw_on
from nimt.plots.looks import has_decibels
from nimt.plots.style import QUIET, inks

SIZE = (5.4, 3.2)  # inches
HELD_OUT = "#555555"
BAND_INK = 0.18
MOST_STEPS = 300  # at which a long curve is drawn


@dataclass(frozen=True, eq=False)
class Curve:
    """What `curve` draws: the discrepancy (T + 1,) after each step (T + 1,), the tolerance, and where it was met.

    For a picture `decibels_at_one` is its peak signal-to-noise ratio where the discrepancy is 1; None otherwise.
    `held_out` has the steps and errors on points that were held out, in the same unit.
    """

    method: str
    colour: str | None
    step: NDArray[np.int64]
    discrepancy: Array
    tolerance: float | None
    itd: int | None
    measure: str
    axis: str
    decibels_at_one: float | None = None
    is_logarithmic: bool = True
    held_out: tuple[tuple[int, float], ...] = ()


def curve_table(lesson: Lesson) -> Curve:
    """Return the numbers that `curve` draws."""
    return Curve(
        method=lesson.method,
        colour=lesson.colour,
        step=np.arange(len(lesson.discrepancy)),
        discrepancy=lesson.discrepancy,
        tolerance=lesson.tol,
        itd=lesson.itd,
        measure=lesson.measure.name,
        axis=lesson.measure.axis or lesson.measure.name,
        decibels_at_one=_decibels_at_one(lesson),
        is_logarithmic=not lesson.measure.higher_is_better,
        held_out=_list_held_out(lesson),
    )


def _list_held_out(lesson: Lesson) -> tuple[tuple[int, float], ...]:
    """Return the steps and errors on held-out points in the unit of the curve, none where they have another.

    A root mean square error is drawn as what the measure would be, were it the error on the points that are taught.
    """
    found = lesson.held_out
    if found is None:
        return ()
    name, per_root = found.main[0], lesson.measure.scale(lesson.target)
    if lesson.measure.name == name:
        multiple = 1.0
    elif name == "rms" and per_root is not None:
        multiple = per_root * float(np.sqrt(lesson.target.size))
    else:
        return ()
    return tuple((step, multiple * error) for step, error in sorted(lesson.held_out_curve.items()))


def _decibels_at_one(lesson: Lesson) -> float | None:
    if not has_decibels(lesson):
        return None
    scale = lesson.measure.scale(lesson.target)
    assert scale is not None
    return float(decibels(1.0 / (scale * np.sqrt(lesson.target.size)), lesson.target))


@overload
def curve(
    lesson: Lesson, ax: None = None, *, width: FigureWidth | None = None, style: FigureStyle = "light"
) -> Figure: ...
@overload
def curve(lesson: Lesson, ax: Axes) -> Axes: ...
def curve(
    lesson: Lesson, ax: Axes | None = None, *, width: FigureWidth | None = None, style: FigureStyle = "light"
) -> Figure | Axes:
    """Draw the discrepancy of a lesson, step by step; a long one that goes up and down is a line in a band.

    Parameters
    ----------
    lesson : Lesson
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    width : {"column", "page"}, optional
        Of a new figure, in a paper with two columns: 3.25 or 6.75 inches.
    style : {"light", "dark"}
        Of a new figure: dark for slides.

    Returns
    -------
    Figure, or the Axes given
        A notebook shows the figure; a file is written by `figure.savefig("curve.png")`.

    Examples
    --------
    >>> import nimt
    >>> lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0, 1.0], [1.0, 2.0],
    ...                     max_iterations=3)
    >>> len(nimt.plots.curve(lesson).axes[0].lines[0].get_xdata())
    4
    """
    return draw_on(lambda ax: _draw(curve_table(lesson), ax), ax, *SIZE, width, style)


def _draw(one: Curve, ax: Axes) -> None:
    (ink,) = inks([one.colour], [one.method])
    step, values = one.step.astype(float), one.discrepancy
    if _is_restless(values):
        step, values, low, high = thin_curve(step, values, values, values)
        ax.fill_between(step, low, high, color=ink.colour, alpha=BAND_INK, linewidth=0)
    label = one.method if one.itd is None else f"{one.method}, ITD {one.itd:,}"
    ax.plot(step, values, color=ink.colour, linestyle=ink.dashes, label=label)
    if one.held_out:
        steps, errors = zip(*one.held_out, strict=True)
        ax.plot(steps, errors, "o:", color=HELD_OUT, markersize=2.5, linewidth=1.0, label="held-out rows")
    if one.itd is not None:
        ax.plot(one.itd, one.discrepancy[one.itd], "o", color=ink.colour, markersize=5, clip_on=False)
    if one.is_logarithmic and (one.discrepancy > 0).any():
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(PowersOfTen())
        ax.yaxis.set_minor_formatter(PowersOfTen(labelOnlyBase=False))
    in_decibels = _draw_decibels(ax, one.decibels_at_one)
    if one.tolerance:
        ax.axhline(one.tolerance, color=QUIET, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        _name_tolerance(ax, one.tolerance, inside=in_decibels)
    lay_out(ax, one.axis)
    # outside the axes, as the tolerance is, because curves may be anywhere inside
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.3, borderpad=0.2, handlelength=2.0,
        columnspacing=1.6,
    )  # fmt: skip


def lay_out(ax: Axes, measure: str) -> None:
    """Lay out the axes of curves over the steps."""
    ax.grid(axis="y")
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10], integer=True))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set(xlabel="step", ylabel=measure)


def thin_curve(step: Array, mean: Array, low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Return a long curve at 300 steps: there the median of the steps around it, the lowest and the highest value.

    A curve that goes up and down at every step would otherwise be a block of ink that hides the others.

    Examples
    --------
    >>> up_and_down = np.tile([1.0, 3.0], 3000)
    >>> steps, middle, low, high = thin_curve(np.arange(6000), up_and_down, up_and_down, up_and_down)
    >>> len(steps), float(middle[1]), float(low[1]), float(high[1])
    (302, 2.0, 1.0, 3.0)
    """
    if len(step) <= 2 * MOST_STEPS:
        return step, mean, low, high
    edges = np.linspace(0, len(step), MOST_STEPS + 1).astype(int)
    parts = [slice(first, last) for first, last in itertools.pairwise(edges)]
    places = [int((first + last) // 2) for first, last in itertools.pairwise(edges)]

    def with_ends(middle: list[float], column: Array) -> Array:
        return np.array([column[0], *middle, column[-1]])

    return (
        with_ends([float(step[place]) for place in places], step),
        with_ends([float(np.median(mean[part])) for part in parts], mean),
        with_ends([float(np.min(low[part])) for part in parts], low),
        with_ends([float(np.max(high[part])) for part in parts], high),
    )


def _is_restless(curve: Array) -> bool:
    """Say whether a long curve turns at one step of twenty or more, so that it would be drawn as a block of ink."""
    moves = np.sign(np.diff(curve))
    turns = int(np.count_nonzero(moves[1:] * moves[:-1] < 0))
    return len(curve) > 2 * MOST_STEPS and 20 * turns > len(curve) and bool(np.isfinite(curve).all())


def _name_tolerance(ax: Axes, tolerance: float, *, inside: bool) -> None:
    """Write the tolerance at the right end of its line, or above the left end where the right side is taken."""
    text, x, shift, align = ("tolerance ", 0, (3, 2), "bottom") if inside else ("tolerance\n", 1, (4, 0), "center")
    ax.annotate(
        f"{text}{tolerance:g}", (x, tolerance), xycoords=("axes fraction", "data"), xytext=shift,
        textcoords="offset points", ha="left", va=align, color=QUIET, fontsize=7.5,
    )  # fmt: skip


def _draw_decibels(ax: Axes, offset: float | None) -> bool:
    """Add an axis in decibels at the right of the curve of a picture: the same curve, read otherwise."""
    if offset is None or ax.get_yscale() != "log":
        return False
    right = ax.twinx()
    right.spines["right"].set_visible(True)
    right.set_ylabel("PSNR (dB)")

    def follow(axes: Axes) -> None:
        # decibels are linear in log M, so that both axes agree everywhere if they do at the ends
        bottom, top = offset - 20.0 * np.log10(np.array(axes.get_ylim()))
        right.set_ylim(bottom, top)

    ax.callbacks.connect("ylim_changed", follow)
    follow(ax)
    return True

"""The figure of a sweep: lines with bands, in one panel or in several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nimt.display import FigureStyle, FigureWidth
from nimt.errors import InvalidInput
from nimt.measures import MEASURES
from nimt.plots.curves import BAND_INK
from nimt.plots.end_labels import room_for_names, write_names
from nimt.plots.figures import check_form, draw_on, drawing, finish_inks, new_figure, wrap_label
from nimt.plots.style import WIDTHS, Ink, inks
from nimt.plots.swept_lines import (
    SHORT,
    STEP,
    CurveLine,
    choose_lessons,
    facets_of,
    say_what_is_averaged,
    sweep_lines,
)
from nimt.runs.bands import BandKind, say_band
from nimt.runs.entries import Entry
from nimt.runs.sweep_table import Sweep, Where

WORDS = {"itd": "steps to the tolerance", "end": "discrepancy at the end", "seconds": "seconds per lesson"}
NARROW = 2.1  # inches, of a panel beside others
NOTE = (8.0, 8.0)  # points from a mark to the note above it, and from one note to the next


@dataclass(frozen=True, eq=False)
class _Panel:
    title: str
    entries: Sequence[Entry]
    lines: Sequence[CurveLine]


@dataclass(frozen=True, eq=False)
class _Ask:
    """What all panels of a figure have in common."""

    x: str
    y: str | None
    hue: str
    band: BandKind
    looks: Mapping[str, Ink]
    lines: Sequence[CurveLine]


def draw_sweep(
    sweep: Sweep,
    x: str = STEP,
    y: str | None = None,
    hue: str = "teacher",
    ax: Axes | None = None,
    *,
    where: Where | None = None,
    facet: str | None = None,
    band: BandKind = "range",
    width: FigureWidth | None = None,
    style: FigureStyle = "light",
) -> Figure | Axes:
    """Draw the lines with their bands; see `Sweep.plot`."""
    check_form(width, style, is_new=ax is None)
    if ax is not None and facet is not None:
        raise InvalidInput("facets are panels of a new figure: leave out ax, or facet", parameter="facet")
    entries = choose_lessons(sweep, where, [name for name in (x, hue, facet) if name is not None])
    parts = {"": entries} if facet is None else facets_of(entries, facet)
    panels = [_Panel(title, part, sweep_lines(part, x, y, hue, band, entries)) for title, part in parts.items()]
    lines = [line for panel in panels for line in panel.lines]
    every = {line.name: line.colour for line in lines}
    looks = dict(zip(every, inks(every.values(), every), strict=True))
    ask = _Ask(x, y, hue, band, looks, lines)
    if facet is None:
        (panel,) = panels

        def ink(ax: Axes) -> None:
            _draw(panel, ask, ax)
            _leave_room(ask, ax)
            _note_unmet(panel, ask, ax)
            ends = {line.name: float(line.middle[-1]) for line in panel.lines if len(line.middle)}
            write_names(ax, ends, looks)

        return draw_on(ink, ax, 5.4 + room_for_names(every), 3.6, width, style)
    return _draw_facets(panels, facet, ask, width, style)


def _draw_facets(
    panels: Sequence[_Panel], facet: str, ask: _Ask, width: FigureWidth | None, style: FigureStyle
) -> Figure:
    """Draw panels of one scale, the names of the lines above all of them."""
    room = WIDTHS["page" if width is None else width]
    rows = -(-len(panels) // max(1, int(room / NARROW)))
    columns = -(-len(panels) // rows)  # as even as can be: four panels are two and two
    with drawing(style):
        figure = new_figure(room, 0.5 + rows * max(1.9, 0.72 * room / max(columns, 1.2)))
        grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for ax, panel in zip(grid.ravel(), panels, strict=False):
            _draw(panel, ask, ax)
            ax.set_title(
                panel.title if facet == "problem" else f"{facet.replace('_', ' ')} = {panel.title}", loc="left"
            )
            ax.label_outer()
        _leave_room(ask, grid[0, 0])  # whose scale is that of all panels
        for ax, panel in zip(grid.ravel(), panels, strict=False):
            _note_unmet(panel, ask, ax)
        for place, ax in enumerate(grid.ravel()):
            ax.set_visible(place < len(panels))
            if place + columns >= len(panels):  # the lowest panel of its column
                ax.tick_params(labelbottom=True)
                ax.set_xlabel(grid[-1, 0].get_xlabel())
        named = {label: line for ax in figure.axes for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(
            named.values(), named, loc="outside upper left", ncols=max(1, int(room / 1.3)), handlelength=2.6,
            borderpad=0.2,
        )  # fmt: skip
        return finish_inks(figure, style)


def _draw(panel: _Panel, ask: _Ask, ax: Axes) -> None:
    entries, x = panel.entries, ask.x
    for line in panel.lines:
        ink = ask.looks[line.name]
        marker = "" if x == STEP else "o"
        ax.plot(
            line.x, line.middle, color=ink.colour, linestyle=ink.dashes, marker=marker, markersize=4, label=line.name
        )
        if not np.array_equal(line.low, line.high, equal_nan=True):
            ax.fill_between(line.x, line.low, line.high, color=ink.colour, alpha=BAND_INK, linewidth=0)
    measures = {entry.measure for entry in entries}
    measure = next(iter(measures)) if len(measures) == 1 else None
    if _is_logarithmic(ask.lines, measure if x == STEP else None):
        ax.set_yscale("log")
    if x != STEP and _spans_decades([value for line in ask.lines for value in line.x]):
        ax.set_xscale("log")
    ax.grid(axis="y")
    ax.set_xlabel(WORDS.get(x, x.replace("_", " ")))
    up = SHORT.get(ask.y or "itd", ask.y or "itd")
    label = _name_measure(measure) if x == STEP else WORDS.get(up, up.replace("_", " "))
    said = "" if ask.band == "range" else f"band: {say_band(ask.band)}"  # the usual one is said by the documentation
    averaged = say_what_is_averaged(entries, x, ask.hue, medians=any(line.is_median for line in ask.lines))
    ax.set_ylabel(wrap_label(ax, (label, averaged, said)))


def _name_measure(name: str | None) -> str:
    """Say what is drawn over the steps as `Comparison.plot` does; a measure of the reader's own by its name."""
    if name is None:
        return "discrepancy"
    return MEASURES[name].axis if name in MEASURES else f"discrepancy ({name})"


def _leave_room(ask: _Ask, ax: Axes) -> None:
    """Make the axes higher by the notes that may stand above their highest point."""
    notes = len({line.name for line in ask.lines if any(line.unmet)})
    if notes:
        share = min(0.4, (NOTE[0] + NOTE[1] * notes) / (72 * ax.bbox.height / ax.figure.dpi))
        scale = ax.yaxis.get_transform()
        low, high = scale.transform(np.array(ax.get_ylim()))
        ax.set_ylim(top=float(scale.inverted().transform(low + (high - low) / (1 - share))))


def _note_unmet(panel: _Panel, ask: _Ask, ax: Axes) -> None:
    """Write at each point how many of its lessons did not meet the tolerance; a triangle says that it is a bound.

    Lines that meet at a point have their notes one above the other.
    """
    if not any(line.is_median for line in ask.lines):
        return
    found: dict[float | str, list[tuple[float, str, str]]] = {}
    for line in panel.lines:
        colour = ask.looks[line.name].colour
        for place, height, unmet, lessons, beyond in zip(
            line.x, line.middle, line.unmet, line.lessons, line.beyond, strict=True
        ):
            if beyond:
                paper = mpl.rcParams["axes.facecolor"]
                ax.plot(place, height, "^", color=colour, markersize=9, markerfacecolor=paper, zorder=3)
            if unmet:
                found.setdefault(place, []).append((float(height), f"{unmet}/{lessons}", colour))
    points_per_pixel = 72 / ax.figure.dpi
    for place, notes in found.items():
        free = -np.inf  # from here upwards, in points
        for height, text, colour in sorted(notes):
            mark = points_per_pixel * ax.transData.transform((0, height))[1]
            free = max(free, mark + NOTE[0])
            ax.annotate(
                text, (place, height), xytext=(0, free - mark), textcoords="offset points", ha="center", fontsize=6.5,
                color=colour,
            )  # fmt: skip
            free += NOTE[1]


def _is_logarithmic(lines: Sequence[CurveLine], measure: str | None) -> bool:
    """Say whether y is drawn on a logarithmic axis: a known measure as in other figures, else what spans decades."""
    values = np.concatenate([line.middle for line in lines])
    if measure is not None and measure in MEASURES:
        return not MEASURES[measure].higher_is_better and bool((values > 0).any())
    values = np.concatenate([line.low for line in lines])
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() > 0 and values.max() > 20 * values.min())


def _spans_decades(values: Sequence[float | str]) -> bool:
    numbers = [value for value in values if not isinstance(value, str)]
    return len(numbers) == len(values) > 0 and min(numbers) > 0 and max(numbers) >= 20 * min(numbers)

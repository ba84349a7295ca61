"""New figures that a notebook shows by itself, without pyplot and without magic words."""

from __future__ import annotations

import difflib
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.text import Text
from matplotlib.ticker import LogFormatterSciNotation

from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.style import STYLE, STYLES, TRUETYPE, WIDTHS, lighten

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LETTERS_PER_INCH = 15  # of the labels of axes, at most
SHARPNESS = 2  # pixels per pixel of the page, for displays with a high resolution


class PowersOfTen(LogFormatterSciNotation):
    """The labels of a logarithmic axis, 10⁻³ in plain letters: to set formulas takes a tenth of a second to begin."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a value; empty where it has none."""
        text: str = super().__call__(x, pos)
        found = re.fullmatch(r"\$\\mathdefault\{(-?)(?:([0-9.]+)\\times)?10\^\{(-?[0-9]+)\}\}\$", text)
        if found is None:
            return text
        sign, times, power = found.groups()
        return f"{'−' if sign else ''}{f'{times}×' if times else ''}10{power.translate(RAISED)}"


class NotebookFigure(Figure):
    """A matplotlib Figure that a notebook shows as a picture, and whose PDF holds TrueType fonts."""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure to a file, as matplotlib does; its text can be read and searched in a PDF."""
        with mpl.rc_context(TRUETYPE):  # looked at when it is written, not when it is drawn
            super().savefig(fname, **options)

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        drawn = io.BytesIO()
        FigureCanvasAgg(self)
        with mpl.rc_context({"savefig.bbox": "standard"}):
            self.savefig(drawn, format="png", dpi=SHARPNESS * self.dpi)
        width, height = self.get_size_inches() * self.dpi
        return drawn.getvalue(), {"width": round(width), "height": round(height)}


def write_png(figure: Figure, path: Any, dpi: float) -> None:
    """Write a figure as a PNG; it is drawn once, where savefig draws it twice, the first time to lay it out."""
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    from PIL import Image

    Image.fromarray(np.asarray(canvas.buffer_rgba())).save(path, format="png", dpi=(dpi, dpi))


def check_cmap(cmap: str | None) -> None:
    """Refuse a name that is not one of matplotlib's colour maps."""
    if cmap is not None and (not isinstance(cmap, str) or cmap not in mpl.colormaps):
        near = difflib.get_close_matches(str(cmap), list(mpl.colormaps), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "take for example gray, viridis, magma or coolwarm"
        raise InvalidInput(f"must name a colour map of matplotlib, got {cmap!r}", parameter="cmap", way_out=hint)


def check_form(width: str | None, style: str, *, is_new: bool = True) -> None:
    """Refuse a width or a style that there is not, and both where the axes are the caller's own."""
    if width is not None and width not in WIDTHS:
        raise InvalidInput(f"must be {' or '.join(map(repr, WIDTHS))}, got {width!r}", parameter="width")
    if style not in STYLES:
        raise InvalidInput(f"must be {' or '.join(map(repr, STYLES))}, got {style!r}", parameter="style")
    if not is_new and (width is not None or style != "light"):
        raise InvalidInput("width and style are those of a new figure: leave them out, or leave out where to draw")


@contextmanager
def drawing(style: str = "light", **settings: Any) -> Iterator[None]:
    """Draw in one of the styles, and leave matplotlib's settings as they were."""
    with mpl.rc_context(STYLES[style] | settings):
        yield


def choose_style(lesson: Lesson, cmap: str | None = None, style: str = "light") -> AbstractContextManager[None]:
    """Return the style to draw a lesson in: a picture in grey, as pictures are, unless a colour map is named."""
    if cmap is None:
        is_grey = lesson.pool.view == "picture" and lesson.target.ndim == 1
        cmap = "gray" if is_grey else str(STYLE["image.cmap"])
    check_cmap(cmap)
    return drawing(style, **{"image.cmap": cmap})


def draw_on(
    ink: Callable[[Axes], object],
    ax: Axes | None,
    width: float,
    height: float,
    form: str | None = None,
    style: str = "light",
) -> Figure | Axes:
    """Let `ink` draw on the axes given, and return them; without any, on a new figure of this size, and return that.

    With `form`, a word of `WIDTHS`, the figure is so wide instead, and as high as suits it.
    """
    check_form(form, style, is_new=ax is None)
    with drawing(style):
        if ax is not None:
            ink(ax)
            return ax
        figure = new_figure(*fit(width, height, form))
        ink(figure.subplots())
        return finish_inks(figure, style)


def fit(width: float, height: float, form: str | None) -> tuple[float, float]:
    """Return the size of a figure, in inches, where its width is named: a narrow one is less flat.

    Examples
    --------
    >>> fit(6.0, 3.6, None), fit(6.0, 3.6, "column")
    ((6.0, 3.6), (3.25, 2.4375))
    """
    if form is None:
        return width, height
    return WIDTHS[form], WIDTHS[form] * max(height / width, 0.75 if form == "column" else 0.0)


def finish_inks(figure: NotebookFigure, style: str) -> NotebookFigure:
    """Return the figure with the colours of its lines and words as the style needs them: lighter on a dark page."""
    if style == "light":
        return figure
    pages = {figure.patch, *(ax.patch for ax in figure.axes)}
    grid = to_rgba(mpl.rcParams["grid.color"])  # which is to be faint
    for artist in figure.findobj():
        if isinstance(artist, Line2D | Text) and to_rgba(artist.get_color()) != grid:
            artist.set_color(_lighter(artist.get_color()))
        if isinstance(artist, Line2D) and artist.get_marker() not in ("", "None", None):
            artist.set_markeredgecolor(_lighter(artist.get_markeredgecolor()))
        is_mark = isinstance(artist, PathCollection)  # rings in black and white are seen on any map
        if isinstance(artist, Collection) and artist.get_array() is None and not is_mark:
            artist.set_facecolor([_lighter(colour) for colour in artist.get_facecolor()])
            artist.set_edgecolor([_lighter(colour) for colour in artist.get_edgecolor()])
        if isinstance(artist, Rectangle | FancyBboxPatch) and artist not in pages and artist.get_fill():
            artist.set_facecolor(_lighter(artist.get_facecolor()))
    return figure


def _lighter(colour: Any) -> Any:
    red, green, blue, opacity = to_rgba(colour)
    return (*to_rgba(lighten(to_hex((red, green, blue)).upper()))[:3], opacity)


def wrap_label(ax: Axes, lines: Iterable[str]) -> str:
    """Return the label of the y axis, its lines broken where they are longer than the axis is high."""
    most = max(16, int(LETTERS_PER_INCH * ax.bbox.height / ax.figure.dpi))
    return "\n".join(part for line in lines if line for part in textwrap.wrap(line, most))


def new_figure(width: float, height: float) -> NotebookFigure:
    """Return an empty figure of this size in inches."""
    return NotebookFigure(figsize=(width, height), layout="constrained")

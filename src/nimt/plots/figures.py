"""New figures that a notebook shows by itself, without pyplot and without magic words."""

from __future__ import annotations

import difflib
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from nimt.errors import InvalidInput
from nimt.lesson.lesson import Lesson
from nimt.plots.style import STYLE, TRUETYPE

SHARPNESS = 2  # pixels per pixel of the page, for displays with a high resolution


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


def check_cmap(cmap: str | None) -> None:
    """Refuse a name that is not one of matplotlib's colour maps."""
    if cmap is not None and (not isinstance(cmap, str) or cmap not in mpl.colormaps):
        near = difflib.get_close_matches(str(cmap), list(mpl.colormaps), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "take for example gray, viridis, magma or coolwarm"
        raise InvalidInput(f"must name a colour map of matplotlib, got {cmap!r}", parameter="cmap", way_out=hint)


def choose_style(lesson: Lesson, cmap: str | None = None) -> AbstractContextManager[None]:
    """Return the style to draw a lesson in: a picture in grey, as pictures are, unless a colour map is named."""
    if cmap is None:
        is_grey = lesson.pool.view == "picture" and lesson.target.ndim == 1
        cmap = "gray" if is_grey else str(STYLE["image.cmap"])
    check_cmap(cmap)
    return mpl.rc_context(STYLE | {"image.cmap": cmap})


def draw_on(ink: Callable[[Axes], object], ax: Axes | None, width: float, height: float) -> Figure | Axes:
    """Let `ink` draw on the axes given, and return them; without any, on a new figure of this size, and return that."""
    with mpl.rc_context(STYLE):
        if ax is not None:
            ink(ax)
            return ax
        figure = new_figure(width, height)
        ink(figure.subplots())
        return figure


def new_figure(width: float, height: float) -> NotebookFigure:
    """Return an empty figure of this size in inches."""
    return NotebookFigure(figsize=(width, height), layout="constrained")

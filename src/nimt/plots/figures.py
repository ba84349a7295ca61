"""New figures that a notebook shows by itself, without pyplot and without magic words."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from nimt.plots.style import STYLE

SHARPNESS = 2  # pixels per pixel of the page, for displays with a high resolution


class NotebookFigure(Figure):
    """A matplotlib Figure that a notebook shows as a picture."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        drawn = io.BytesIO()
        FigureCanvasAgg(self)
        with mpl.rc_context({"savefig.bbox": "standard"}):
            self.savefig(drawn, format="png", dpi=SHARPNESS * self.dpi)
        width, height = self.get_size_inches() * self.dpi
        return drawn.getvalue(), {"width": round(width), "height": round(height)}


def drawn(ink: Callable[[Axes], object], ax: Axes | None, width: float, height: float) -> Figure | Axes:
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

"""How pictures of the project look: one colour for one method everywhere, and a small style. Loads no matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Okabe and Ito's colours, which people with any colour vision can tell apart.
COLOURS: dict[str, str] = {
    "GFT-1": "#D55E00",
    "GFT-k": "#E69F00",
    "RFT": "#0072B2",
    "whole": "#56B4E9",
    "pool": "#009E73",
    "alternative": "#CC79A7",
    "synthesis": "#6A3D9A",
}
OURS = {"SynthesisTeacher": "synthesis", "SoftTeacher": "soft", "InterpolationTeacher": "interpolation"}
OTHER = "#5F5F5F"  # a method of the reader's own
TARGET = "#000000"  # f*
QUIET = "#8A8A8A"  # tolerances, notes

LINE_STYLES = ("-", (0, (3, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (1, 1.2)))

STYLE: dict[Any, Any] = {
    "figure.dpi": 120,
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": "#4D4D4D",
    "axes.labelcolor": "#262626",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.color": "#4D4D4D",
    "ytick.color": "#4D4D4D",
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "image.cmap": "viridis",
    "text.usetex": False,
}


def method_name(teacher: Mapping[str, Any]) -> str:
    """Return what the paper calls a teacher, from its description in `lesson.settings["teacher"]`.

    Examples
    --------
    >>> method_name({"type": "GreedyTeacher", "k": 0.05, "pool": 0.8})
    'pool GFT-0.05'
    >>> method_name({"type": "GreedyTeacher", "k": 1.0})
    'whole'
    >>> method_name({"type": "SynthesisTeacher", "k": 1})
    'synthesis-1'
    """
    kind = str(teacher.get("type"))
    k = teacher.get("k", 1)
    everything = isinstance(k, float) and k == 1.0
    if kind == "GreedyTeacher":
        name = "whole" if everything else f"GFT-{k}"
        if teacher.get("score") == "gradient" and not everything:
            name += " (gradient)"
        if teacher.get("diverse"):
            name += " (diverse)"
    elif kind == "RandomTeacher":
        name = "whole" if everything and not teacher.get("replace", True) else f"RFT-{k}"
    elif kind in OURS:
        name = f"{OURS[kind]}-{k}"
    else:
        name = str(teacher.get("name", kind)).rpartition(".")[2]  # a teacher that is not ours is known by its class
    if teacher.get("labels") is not None:
        name = f"alternative {name}"
    return name if teacher.get("pool") is None else f"pool {name}"


def colour_of(method: str) -> str:
    """Return the colour of a method, whatever its pack size.

    Examples
    --------
    >>> colour_of("GFT-0.5") == colour_of("GFT-0.05") == COLOURS["GFT-k"]
    True
    """
    first, _, _ = method.partition(" ")
    if first in COLOURS:
        return COLOURS[first]
    family, _, pack = method.partition("-")
    if family == "GFT" and pack:
        return COLOURS["GFT-k"]
    return COLOURS.get(family, OTHER)


def line_style(colour: str, before: int) -> Any:
    """Return the line style of a lesson, given how many of its colour were drawn before it.

    Lessons of one method differ by it. GFT with packs starts dashed, since it often runs exactly along GFT-1.
    """
    first = 1 if colour == COLOURS["GFT-k"] else 0
    return LINE_STYLES[(first + before) % len(LINE_STYLES)]

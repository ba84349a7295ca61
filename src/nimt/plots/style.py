"""How figures look: one colour per method everywhere, and a small style. Does not load matplotlib."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

FREE = ("#117733", "#882255", "#44AA99", "#332288", "#999933", "#AA4499")  # for teachers without a colour of their own
GREEDY = "#D55E00"  # the colour of GFT-1, and of the learner in figures with one teacher
OTHER = "#5F5F5F"  # stems, and curves that belong to no teacher
TARGET = "#000000"  # f*
QUIET = "#8A8A8A"  # tolerances, notes

# of classes and of outputs: Okabe and Ito's, then lighter ones, each told apart from its neighbours in grey too
SEVERAL = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#332288", "#999999", "#882255",
)  # fmt: skip

Dashes = str | tuple[int, tuple[float, ...]]

LINE_STYLES: tuple[Dashes, ...] = (
    "-",
    (0, (3, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (1, 1.2)),
    (0, (8, 1.5)),
    (0, (5, 1.2, 1, 1.2, 1, 1.2)),
)

TRUETYPE: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}  # venues refuse Type 3, matplotlib's default

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
    **TRUETYPE,
}

PAPER = "#16191D"  # the background of dark figures
DARK: dict[Any, Any] = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": "auto",
    "text.color": "#E8E8E8",
    "axes.titlecolor": "#E8E8E8",
    "axes.labelcolor": "#E8E8E8",
    "axes.edgecolor": "#A0A0A0",
    "xtick.color": "#C4C4C4",
    "ytick.color": "#C4C4C4",
    "grid.color": "#3A3F45",
}
STYLES: dict[str, dict[Any, Any]] = {"light": STYLE, "dark": STYLE | DARK}
WIDTHS = {"column": 3.25, "page": 6.75}  # inches, of a paper with two columns
READABLE = 4.5  # the least contrast of text, by WCAG


def class_colours(count: int) -> list[str]:
    """Return a colour for each of several classes or outputs; beyond ten they repeat.

    Examples
    --------
    >>> class_colours(2)
    ['#0072B2', '#E69F00']
    """
    return [SEVERAL[place % len(SEVERAL)] for place in range(count)]


@dataclass(frozen=True)
class Ink:
    """The colour and the dashes of one curve."""

    colour: str
    dashes: Dashes

    @property
    def lengths(self) -> tuple[float, ...]:
        """The lengths of its dashes and gaps in widths of the line; none for a solid one."""
        return () if isinstance(self.dashes, str) else self.dashes[1]


def inks(colours: Iterable[str | None], names: Iterable[str] = (), *, shades: bool = False) -> list[Ink]:
    """Return an ink for each curve of a figure from the colours of its teachers, so that no two are equal.

    Each curve has dashes of its own, up to six; with `shades`, curves of one colour differ by how dark they are, too.
    A teacher without a colour (None) gets one that no other curve has, while there is one; teachers with the same name
    share it.

    Examples
    --------
    >>> [ink.colour for ink in inks([None, None], ["mine", "yours"])]
    ['#117733', '#882255']
    >>> [ink.colour for ink in inks([None, "#117733"], ["mine", "responsive"])]
    ['#882255', '#117733']
    """
    given = list(colours)
    labels = list(names) or [str(place) for place in range(len(given))]
    own: dict[str, int] = {}
    free = [colour for colour in FREE if colour not in given] or list(FREE)
    used: Counter[str] = Counter()
    result = []
    for place, (colour, label) in enumerate(zip(given, labels, strict=True)):
        if colour is None:
            colour = free[own.setdefault(label, len(own)) % len(free)]
        ink = darken(colour, used[colour]) if shades else colour
        result.append(Ink(ink, LINE_STYLES[place % len(LINE_STYLES)]))  # told apart in print without colours, too
        used[colour] += 1
    return result


def darken(colour: str, times: int) -> str:
    """Return a colour nearer to black: each time 0.6 of what it was.

    Examples
    --------
    >>> darken("#D55E00", 0), darken("#D55E00", 1)
    ('#D55E00', '#803800')
    """
    parts = (round(int(colour[place : place + 2], 16) * 0.6**times) for place in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in parts)


def lighten(colour: str) -> str:
    """Return the colour as it is read on a dark page: mixed with white until it stands out enough; dark grey mirrored.

    Examples
    --------
    >>> lighten("#D55E00"), lighten("#332288"), lighten("#000000")
    ('#D55E00', '#857AB8', '#FFFFFF')
    """
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    if max(parts) == min(parts) < 128:
        parts = [255 - part for part in parts]
    for share in range(0, 101, 4):
        mixed = "#" + "".join(f"{round(part + (255 - part) * share / 100):02X}" for part in parts)
        if contrast(mixed, PAPER) >= READABLE:
            return mixed
    return "#FFFFFF"


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21, as WCAG defines it.

    Examples
    --------
    >>> round(contrast("#000000", "#FFFFFF"), 6)
    21.0
    """
    low, high = sorted(_luminance(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

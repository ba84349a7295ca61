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
DASHED = "#E69F00"  # the colour of greedy packs, whose curves often coincide with that of GFT-1

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

    Curves of one colour differ by their dashes, with `shades` by how dark they are, too. A teacher without a colour
    (None) gets a free one; teachers with the same name share it.

    Examples
    --------
    >>> [ink.colour for ink in inks([None, None], ["mine", "yours"])]
    ['#117733', '#882255']
    """
    given = list(colours)
    labels = list(names) or [str(place) for place in range(len(given))]
    own: dict[str, int] = {}
    used: Counter[str] = Counter()
    result = []
    for colour, label in zip(given, labels, strict=True):
        first = 1 if colour == DASHED else 0
        if colour is None:
            first = own.setdefault(label, len(own))  # dashes distinguish them in print without colours
            colour = FREE[first % len(FREE)]
        ink = darken(colour, used[colour]) if shades else colour
        result.append(Ink(ink, LINE_STYLES[(first + used[colour]) % len(LINE_STYLES)]))
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

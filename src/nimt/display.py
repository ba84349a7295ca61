"""What a notebook shows of an object: small tables and curves as HTML and SVG. All text is escaped here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array
from nimt.counting import say_count

FigureWidth = Literal["column", "page"]
FigureStyle = Literal["light", "dark"]

# Colours are those of the notebook's theme (currentColor), so that a cell is readable on light and dark pages.
STYLE = """
.nimt { font-size: 13px; line-height: 1.45; margin: .2em 0; }
.nimt b.title { font-weight: 600; }
.nimt p { margin: .25em 0; max-width: 46em; }
.nimt table { border-collapse: collapse; font-size: inherit; margin: .4em 0; font-variant-numeric: tabular-nums; }
.nimt th, .nimt td { text-align: left !important; padding: .1em .9em .1em 0; vertical-align: top;
  border: 0; background: none; }
.nimt tbody tr, .nimt tbody tr:hover { background: none !important; }
.nimt th { font-weight: 500; opacity: .75; white-space: nowrap; }
.nimt td.number, .nimt th.number { text-align: right !important; white-space: nowrap; }
.nimt td.value { overflow-wrap: anywhere; max-width: 46em; }
.nimt .box { display: inline-block; border: 1px solid; border-left-width: 5px; border-radius: 4px; padding: .2em .8em; }
.nimt summary { cursor: pointer; }
.nimt svg { display: block; max-width: 100%; }
"""

WIDTH, HEIGHT = 400, 132  # of a curve, in pixels
TOP, BOTTOM, LEFT = 10, 20, 52
STROKE = 1.6  # pixels, the width of a curve; dashes are lengths in this unit
LETTER = 6.2  # pixels of a letter in a label
LABEL_GAP = 12.0
MOST_POINTS = 160  # of a curve: more cannot be seen at this width


def below(value: float | None, tol: float | None, digits: int = 6) -> str:
    """Return a value with at least so many digits that it is seen to be below the tolerance, if it is.

    Examples
    --------
    >>> below(9.99999e-5, 1e-4), below(0.0123456, 0.01)
    ('9.99999e-05', '0.0123456')
    """
    if value is None:
        return "not finite"
    for places in range(digits, 17):
        text = f"{value:.{places}g}"
        if tol is None or (float(text) < tol) == (value < tol):
            break
    return text


def per_cent(value: float, tol: float | None = None) -> str:
    """Return a share in per cent, with so many digits that it is seen on which side of the tolerance it is.

    Examples
    --------
    >>> per_cent(0.5), per_cent(0.9996), per_cent(0.9996, 1.0)
    ('50.0%', '100.0%', '99.96%')
    """
    for places in range(1, 15):
        text = f"{value:.{places}%}"
        if tol is None or (float(text[:-1]) < 100 * tol) == (value < tol):
            break
    return text


def cell(title: str, *parts: str) -> str:
    """Return what a notebook shows: a title and parts made by the functions below.

    Examples
    --------
    >>> cell("<script>").endswith('<b class="title">&lt;script&gt;</b></div>')
    True
    """
    return f'<div class="nimt"><style>{STYLE}</style><b class="title">{escape(title)}</b>{"".join(parts)}</div>'


def sentences(said: Iterable[str]) -> str:
    """Return sentences, each in a paragraph."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in said)


def pairs(values: Mapping[str, object]) -> str:
    """Return a table of names and values; values that are None are left out."""
    rows = "".join(
        f'<tr><th>{escape(name)}</th><td class="value">{escape(str(value))}</td></tr>'
        for name, value in values.items()
        if value is not None
    )
    return f'<div class="scroll" tabindex="0"><table>{rows}</table></div>'


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Sequence[int] = (),
    groups: Sequence[int] = (),
) -> str:
    """Return a table of text: the first column aligned left, the others, which hold numbers, aligned right.

    Parameters
    ----------
    header : sequence of str
    rows : iterable of sequences of str
    words : sequence of int
        Columns after the first that hold words: aligned left, and wrapped if they are long.
    groups : sequence of int
        Rows that begin a group: lines are drawn between groups only.
    """
    kinds = ["words" if column == 0 or column in words else "number" for column in range(len(header))]

    def line(cells: Sequence[str], tag: str) -> str:
        pairs = zip(kinds, cells, strict=True)
        return "".join(f'<{tag} class="{kind}">{escape(cell)}</{tag}>' for kind, cell in pairs)

    begins = dict.fromkeys(groups, ' class="group"')
    inside = "".join(f"<tr{begins.get(place, '')}>{line(row, 'td')}</tr>" for place, row in enumerate(rows))
    head = f"<thead><tr>{line(header, 'th')}</tr></thead>"
    kind = ' class="grouped"' if groups else ""
    return f'<div class="scroll" tabindex="0"><table{kind}>{head}<tbody>{inside}</tbody></table></div>'


def is_colour(text: str) -> bool:
    """Say whether a text is a colour that figures and pages both understand.

    Examples
    --------
    >>> is_colour("#D55E00"), is_colour("red; background: url(x)")
    (True, False)
    """
    return re.fullmatch("#[0-9a-fA-F]{6}", text) is not None


def diagram(name: str, parameters: Mapping[str, object], colour: str | None = None) -> str:
    """Return an object as a framed name that opens to its parameters, as scikit-learn shows its estimators."""
    edge = f' style="border-left-color: {escape(colour)}"' if colour else ""
    inside = {parameter: _short(value) for parameter, value in parameters.items()}
    return (
        f'<div class="nimt"><style>{STYLE}</style><div class="box"{edge}><details><summary>'
        f'<b class="title">{escape(name)}</b></summary>{pairs(inside)}</details></div></div>'
    )


def _short(value: object) -> str:
    text = f"array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


@dataclass(frozen=True, eq=False)
class Line:
    """A curve to draw: its name (empty for none), colour, steps (T,), values (T,), and lengths of dashes and gaps."""

    name: str
    colour: str
    step: NDArray[np.int64]
    values: Array
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True)
class _Scale:
    """Where steps and heights (values, or their logarithms) are drawn."""

    low: float
    high: float
    last: int
    span: float
    logarithmic: bool

    def across(self, step: Array) -> Array:
        return np.asarray(LEFT + self.span * step / self.last)

    def down(self, height: Array | float) -> Array:
        share = 0.5 if self.high == self.low else (self.high - np.asarray(height)) / (self.high - self.low)
        return np.asarray(TOP + (HEIGHT - TOP - BOTTOM) * share)

    def number(self, height: float) -> str:
        return f"{10**height:.2g}" if self.logarithmic else f"{height:.3g}"

    def frame(self) -> list[str]:
        """Return the two axes, with the numbers at their ends."""
        end = LEFT + self.span
        heights = [self.high] if self.high == self.low else [self.high, self.low]
        return [
            *(_text(LEFT - 6, float(self.down(at)) + 4, self.number(at), "end") for at in heights),
            _text(LEFT, HEIGHT - 5, "0", "start"),
            _text(LEFT + self.span / 2, HEIGHT - 5, "step", "middle"),
            _text(end, HEIGHT - 5, f"{self.last:,}", "end"),
            f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{end:.0f}" fill="none" stroke="currentColor" '
            f'stroke-opacity=".35"/>',
        ]


def curves(lines: Sequence[Line], axis: str, tolerance: float | None = None, *, logarithmic: bool = True) -> str:
    """Return curves over the steps as SVG, named at their ends; on a logarithmic axis unless told otherwise.

    Values that cannot be drawn (NaN, infinity, zero on a logarithmic axis) are left out.
    """
    logarithmic = logarithmic and any((line.values > 0).any() for line in lines)
    drawn = [_heights(line, logarithmic) for line in lines]
    seen = [end for _, heights in drawn if heights.size for end in (float(heights.min()), float(heights.max()))]
    if not seen:
        return ""
    if tolerance is not None and logarithmic:
        tolerance = math.log10(tolerance) if tolerance > 0 else None
    if tolerance is not None:
        seen.append(tolerance)
    last = max(1, *(int(line.step[-1]) for line in lines))
    span = WIDTH - LEFT - 8 - LETTER * max(len(line.name) for line in lines)
    scale = _Scale(min(seen), max(seen), last, span, logarithmic)
    parts = scale.frame()
    if tolerance is not None:
        path = f"M{LEFT} {float(scale.down(tolerance)):.1f}H{LEFT + span:.0f}"
        parts.append(f'<path d="{path}" stroke="currentColor" stroke-opacity=".5" stroke-dasharray="3 3"/>')
    ends = [float(scale.down(heights[-1])) if heights.size else HEIGHT / 2 for _, heights in drawn]
    names = spread(ends, LABEL_GAP, TOP, HEIGHT - BOTTOM)
    for line, (steps, heights), place in zip(lines, drawn, names, strict=True):
        places = zip(scale.across(steps), scale.down(heights), strict=True)
        points, colour = " ".join(f"{x:.1f},{y:.1f}" for x, y in places), escape(line.colour)
        dashes = f' stroke-dasharray="{" ".join(f"{STROKE * one:g}" for one in line.dashes)}"' if line.dashes else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{STROKE}"{dashes}/>')
        parts.append(_text(LEFT + span + 6, place + 4, line.name, "start", colour) if line.name else "")
    said = escape(f"{axis} over {say_count(last, 'step')}")
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}" '
        f'font-family="sans-serif" font-size="11"><title>{said}</title>{"".join(parts)}</svg>'
    )


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return the places moved apart, at least `gap` between two, in their order and within the limits if they fit.

    Examples
    --------
    >>> spread([50.0, 52.0, 10.0], 12.0, 0.0, 100.0)
    [45.0, 57.0, 10.0]
    """
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups: list[list[int]] = []  # places that touch are one group, centred on their mean

    def middle(group: list[int]) -> float:
        half = gap * (len(group) - 1) / 2
        mean = sum(places[i] for i in group) / len(group)
        return max(low + half, min(high - half, mean)) if high - low >= 2 * half else (low + high) / 2

    for place in order:
        groups.append([place])
        while len(groups) > 1:
            before, after = groups[-2:]
            reach = gap * (len(before) + len(after)) / 2
            if middle(after) - middle(before) >= reach:
                break
            groups[-2:] = [before + after]
    result = [0.0] * len(places)
    for group in groups:
        first = middle(group) - gap * (len(group) - 1) / 2
        for rank, i in enumerate(group):
            result[i] = first + gap * rank
    return result


def _heights(line: Line, logarithmic: bool) -> tuple[Array, Array]:
    """Return the steps and heights that are drawn: evenly spaced ones of those that can be."""
    seen = np.isfinite(line.values) & ((line.values > 0) | (not logarithmic))
    steps, values = line.step[seen].astype(float), line.values[seen]
    if len(steps) > MOST_POINTS:
        kept = np.unique(np.linspace(0, len(steps) - 1, MOST_POINTS).round().astype(int))
        steps, values = steps[kept], values[kept]
    return steps, np.log10(values) if logarithmic else values


def _text(x: float, y: float, text: str, anchor: str, colour: str = "currentColor") -> str:
    # mixed with the colour of the page's own text, so that dark colours can be read on dark pages, bright ones on white
    style = "" if colour == "currentColor" else f' style="fill: color-mix(in srgb, {colour} 60%, currentColor)"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{style}>{escape(text)}</text>'

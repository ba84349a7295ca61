"""The figure of a sweep: a table of lines with bands, then the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.measures import MEASURES
from nimt.plots.curves import BAND_INK
from nimt.plots.figures import draw_on, new_figure
from nimt.plots.style import LINE_STYLES, STYLE, Dashes, inks
from nimt.runs.entries import Entry, Scalar
from nimt.runs.sweep_table import Sweep

Places = list[float | str]
STEP = "step"
WORDS = {"itd": "steps to the tolerance", "end": "discrepancy at the end", "seconds": "seconds per lesson"}


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One line of the figure: at each x the middle, the lowest and the highest y of its lessons.

    The middle is the mean. Of the steps to the tolerance it is the median, if any lesson of the figure did not meet the
    tolerance: such a lesson counts as longer than all others, and where it would be the middle or the highest, the most
    steps that were taken stand for it, a lower bound.

    Attributes
    ----------
    x : tuple
        Numbers, or words if the values are not numbers.
    unmet, lessons : tuple of int
        At each x, how many lessons did not meet the tolerance, and how many there are.
    beyond : array of bool
        Where the middle is such a lower bound.
    """

    name: str
    colour: str | None
    x: tuple[float | str, ...]
    middle: Array
    low: Array
    high: Array
    unmet: tuple[int, ...]
    lessons: tuple[int, ...]
    beyond: NDArray[np.bool_]


def sweep_lines(
    sweep: Sweep, x: str = STEP, y: str | None = None, hue: str = "teacher", problem: str | None = None
) -> list[CurveLine]:
    """Return the numbers that `Sweep.plot` draws."""
    entries = _choose_lessons(sweep, x, hue, problem)
    hue = _column(entries, hue)
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_word(entry.row.get(hue)), []).append(entry)
    if x == STEP:
        if y not in (None, "discrepancy"):
            raise InvalidInput(
                f"over the steps only the discrepancy is known: leave y out, or give another x; got y={y!r}"
            )
        return [_curve(name, group) for name, group in groups.items()]
    across, up = _column(entries, x), _column(entries, "itd" if y is None else y)
    numbers = [entry.row.get(up) for entry in entries]
    if not all(value is None or is_number(value) for value in numbers):
        raise InvalidInput(f"must be a column of numbers, and {up} holds {numbers[0]!r}", parameter="y")
    places = _places([entry.row.get(across) for entry in entries])
    if up == "itd" and any(value is None for value in numbers):
        return [_line_of_medians(name, group, across, places) for name, group in groups.items()]
    return [_line_of_means(name, group, across, up, places) for name, group in groups.items()]


def _choose_lessons(sweep: Sweep, x: str, hue: str, problem: str | None) -> Sequence[Entry]:
    """Return the lessons to draw; a mean over different problems would mean nothing."""
    names = sweep.problems
    if not names:
        raise InvalidInput("no lesson of this sweep could be given, so that there is nothing to draw: .failed says why")
    if problem is not None:
        return [entry for entry in sweep.given if entry.problem == sweep.one_problem(problem)]
    if len(names) > 1 and "problem" not in (x, hue):
        raise InvalidInput(
            f"a line would mix the lessons of {len(names)} problems: plot(problem={names[0]!r}), or hue='problem'"
        )
    return sweep.given


def say_what_is_mixed(entries: Sequence[Entry], x: str, hue: str) -> str:
    """Say what each point of a line is taken over, beside the seeds: "3 learners and 2 teachers"; else nothing."""
    places: dict[tuple[Scalar, ...], list[Entry]] = {}
    for entry in entries:
        columns = (_column(entries, name) for name in (x, hue) if name != STEP)
        places.setdefault(tuple(entry.row.get(name) for name in columns), []).append(entry)
    told = []
    for name in ("learner", "teacher"):
        most = max(len({getattr(entry, name) for entry in group}) for group in places.values())
        if most > 1:
            told.append(f"{most} {name}s")
    return " and ".join(told)


def say_what_is_averaged(entries: Sequence[Entry], x: str, hue: str, *, medians: bool) -> str:
    """Say on the axis what a point is, where it is not just the mean over the seeds."""
    over = say_what_is_mixed(entries, x, hue)
    if medians:
        return f"median{' of ' * bool(over)}{over}; triangle: at least half did not reach it"
    return f"mean of {over}" if over else ""


def draw_sweep(
    sweep: Sweep, x: str, y: str | None, hue: str, ax: Axes | None = None, problem: str | None = None
) -> Figure | Axes:
    """Draw the lines with their bands; see `Sweep.plot`."""
    lines = sweep_lines(sweep, x, y, hue, problem)
    entries = _choose_lessons(sweep, x, hue, problem)
    return draw_on(lambda ax: _draw(lines, entries, x, y, hue, ax), ax, 6.0, 3.6)


def _draw(lines: Sequence[CurveLine], entries: Sequence[Entry], x: str, y: str | None, hue: str, ax: Axes) -> None:
    ready = inks([line.colour for line in lines], [line.name for line in lines])
    dashes = dashes_apart(lines, [ink.dashes for ink in ready])
    for line, ink, dash in zip(lines, ready, dashes, strict=True):
        unmet = sum(line.unmet)
        label = line.name + (f" ({unmet} of {sum(line.lessons)} not reached)" if unmet else "")
        marker = "" if x == STEP else "o"
        ax.plot(line.x, line.middle, color=ink.colour, linestyle=dash, marker=marker, markersize=4, label=label)
        _mark_unmet(line, ink.colour, ax)
        if not np.array_equal(line.low, line.high, equal_nan=True):
            ax.fill_between(line.x, line.low, line.high, color=ink.colour, alpha=BAND_INK, linewidth=0)
    measures = {entry.measure for entry in entries}
    measure = next(iter(measures)) if len(measures) == 1 else None
    if _is_logarithmic(lines, measure if x == STEP else None):
        ax.set_yscale("log")
    if x != STEP and _spans_decades([value for line in lines for value in line.x]):
        ax.set_xscale("log")
    ax.grid(axis="y")
    ax.set_xlabel(WORDS.get(x, x.replace("_", " ")))
    up = y or ("discrepancy" if x == STEP else "itd")
    label = f"discrepancy ({measure})" if x == STEP and measure else WORDS.get(up, up.replace("_", " "))
    medians = any(sum(line.unmet) for line in lines)
    ax.set_ylabel("\n".join(part for part in (label, say_what_is_averaged(entries, x, hue, medians=medians)) if part))
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=min(3, len(lines)), handlelength=2.0)


def _mark_unmet(line: CurveLine, colour: str, ax: Axes) -> None:
    """Write at each point how many of its lessons did not meet the tolerance; a triangle says that it is a bound."""
    for place, height, unmet, lessons, beyond in zip(
        line.x, line.middle, line.unmet, line.lessons, line.beyond, strict=True
    ):
        if beyond:
            ax.plot(place, height, "^", color=colour, markersize=9, markerfacecolor="white", zorder=3)
        if unmet:
            ax.annotate(
                f"not reached by {unmet} of {lessons}", (place, height), xytext=(0, 7), textcoords="offset points",
                ha="center", fontsize=6.5, color=colour,
            )  # fmt: skip


def dashes_apart(lines: Sequence[CurveLine], dashes: Sequence[Dashes]) -> list[Dashes]:
    """Return the dashes of the lines; one that lies on an earlier line gets others, whose gaps show that line."""
    result: list[Dashes] = []
    for place, line in enumerate(lines):
        below = {result[i] for i in range(place) if _coincide(lines[i], line)}
        free = [dash for dash in (dashes[place], *LINE_STYLES) if dash not in below]
        result.append(free[0] if free else dashes[place])
    return result


def _coincide(one: CurveLine, other: CurveLine) -> bool:
    return one.x == other.x and np.allclose(one.middle, other.middle, rtol=1e-2, atol=0.0, equal_nan=True)


def _is_logarithmic(lines: Sequence[CurveLine], measure: str | None) -> bool:
    """Say whether y is drawn on a logarithmic axis: a known measure as in other figures, else what spans decades."""
    values = np.concatenate([line.middle for line in lines])
    if measure is not None and measure in MEASURES:
        return not MEASURES[measure].higher_is_better and bool((values > 0).any())
    values = np.concatenate([line.low for line in lines])
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() > 0 and values.max() > 20 * values.min())


def draw_problems(sweep: Sweep, x: str) -> Figure:
    """Draw every problem of a sweep in a panel of its own, below one another."""
    names = sweep.problems
    with mpl.rc_context(STYLE):
        figure = new_figure(6.0, 3.6 * len(names))
        axes = figure.subplots(len(names), squeeze=False)[:, 0]
        for name, ax in zip(names, axes, strict=True):
            draw_sweep(sweep, x, None, "teacher", ax, name)
            if len(names) > 1:
                ax.set_title(name, loc="right")
    return figure


def _curve(name: str, entries: Sequence[Entry]) -> CurveLine:
    """Return the curves of some lessons as one line; after the end of a lesson its last value is repeated."""
    steps = np.unique(np.concatenate([entry.curve_steps for entry in entries]))
    curves = np.stack([np.interp(steps, entry.curve_steps, entry.curve) for entry in entries])
    return _draw_through(name, entries, tuple(float(step) for step in steps), list(curves.T))


def _line_of_means(name: str, entries: Sequence[Entry], across: str, up: str, places: Places) -> CurveLine:
    found = [
        [entry.row[up] for entry in group if entry.row.get(up) is not None] for group in _at(entries, across, places)
    ]
    kept = [place for place, values in zip(places, found, strict=True) if values]
    return _draw_through(name, entries, tuple(kept), [np.array(values, dtype=float) for values in found if values])


def _draw_through(name: str, entries: Sequence[Entry], x: tuple[float | str, ...], values: list[Array]) -> CurveLine:
    """Return the line of means, all of whose lessons have a y."""
    middle, low, high = (np.array([take(one) for one in values]) for take in (np.mean, np.min, np.max))
    counts = tuple(len(one) for one in values)
    return CurveLine(name, _colour(entries), x, middle, low, high, (0,) * len(x), counts, np.zeros(len(x), dtype=bool))


def _line_of_medians(name: str, entries: Sequence[Entry], across: str, places: Places) -> CurveLine:
    """Return the line of median steps to the tolerance; a mean of the lessons that met it leaves out the longest."""
    groups = dict(zip(places, _at(entries, across, places), strict=True))
    groups = {place: group for place, group in groups.items() if group}
    steps = [np.array([np.inf if entry.itd is None else entry.itd for entry in group]) for group in groups.values()]
    taken = [max(entry.steps or 0 for entry in group) for group in groups.values()]
    middle, low, high = (np.array([take(one) for one in steps]) for take in (np.median, np.min, np.max))
    return CurveLine(
        name, _colour(entries), tuple(groups),
        middle=np.where(np.isinf(middle), taken, middle),
        low=np.where(np.isinf(low), taken, low),
        high=np.where(np.isinf(high), taken, high),
        unmet=tuple(int(np.isinf(one).sum()) for one in steps),
        lessons=tuple(map(len, steps)),
        beyond=np.isinf(middle),
    )  # fmt: skip


def _at(entries: Sequence[Entry], across: str, places: Places) -> list[list[Entry]]:
    """Return the lessons at each place along x."""
    found: dict[float | str, list[Entry]] = {place: [] for place in places}
    for entry in entries:
        found[_place(entry.row.get(across), numeric=not isinstance(places[0], str))].append(entry)
    return list(found.values())


def _places(values: Sequence[Scalar]) -> list[float | str]:
    """Return the places along x: sorted numbers, if all values are numbers or read as such, else words."""
    numbers = [_number(value) for value in values]
    if all(number is not None for number in numbers):
        return sorted({number for number in numbers if number is not None})
    return list(dict.fromkeys(_word(value) for value in values))


def _place(value: Scalar, *, numeric: bool) -> float | str:
    number = _number(value) if numeric else None
    return _word(value) if number is None else number


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)  # a name may be a number: the learners of a dict that is keyed by their width
    except ValueError:
        return None


def _column(entries: Sequence[Entry], name: str) -> str:
    """Return the column of that name, or the only one whose name ends so; of several, the only one that varies."""
    names = list(dict.fromkeys(column for entry in entries for column in entry.row))
    if name in names:
        return name
    ending = [column for column in names if column.endswith(f".{name}")]
    if len(ending) > 1:
        values = {column: {entry.row[column] for entry in entries if column in entry.row} for column in ending}
        varying = [column for column in ending if len(values[column]) > 1]
        ending = varying if len(varying) == 1 else ending
    if len(ending) != 1:
        known = "several columns end so" if ending else "there is no such column"
        raise InvalidInput(f"{name!r}: {known}; there are {', '.join(ending or names)}, and {STEP!r} for x")
    return ending[0]


def _colour(entries: Sequence[Entry]) -> str | None:
    colours = {entry.colour for entry in entries}
    return colours.pop() if len(colours) == 1 else None


def _spans_decades(values: Sequence[float | str]) -> bool:
    numbers = [value for value in values if not isinstance(value, str)]
    return len(numbers) == len(values) > 0 and min(numbers) > 0 and max(numbers) >= 20 * min(numbers)


def _word(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

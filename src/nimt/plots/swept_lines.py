"""The numbers of the figure of a sweep: which lessons, and a line with a band through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nimt.arrays import Array, is_number
from nimt.errors import InvalidInput
from nimt.runs.bands import BandKind, check_band, summarise_curves
from nimt.runs.entries import Entry, Scalar
from nimt.runs.sweep_table import Sweep, Where

Places = list[float | str]
STEP = "step"
SHORT = {"discrepancy": "end"}  # of y, where x is not the step


@dataclass(frozen=True, eq=False)
class CurveLine:
    """One line of the figure: at each x the middle, the lowest and the highest y of its lessons.

    The middle is the mean, of a band of quantiles the median. Of the steps to the tolerance it is always the median, if
    any lesson of the figure did not meet the tolerance: such a lesson counts as longer than all others, and where it
    would be the middle or the highest, the most steps that were taken stand for it, a lower bound.

    Attributes
    ----------
    x : tuple
        Numbers, or words if the values are not numbers.
    unmet, lessons : tuple of int
        At each x, how many lessons did not meet the tolerance, and how many there are.
    beyond : array of bool
        Where the middle is such a lower bound.
    is_median : bool
        Whether the middle is the median because some lesson of the figure did not meet the tolerance.
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
    is_median: bool = False


def sweep_lines(
    entries: Sequence[Entry],
    x: str = STEP,
    y: str | None = None,
    hue: str = "teacher",
    band: BandKind = "range",
    among: Sequence[Entry] = (),
) -> list[CurveLine]:
    """Return the numbers that `Sweep.plot` draws of some lessons; `among` has those of the whole figure."""
    kind = check_band(band)
    hue = find_column(entries, hue)
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_word(entry.row.get(hue)), []).append(entry)
    if x == STEP:
        if y not in (None, "discrepancy"):
            raise InvalidInput(
                f"over the steps only the discrepancy is known: leave y out, or give another x; got y={y!r}"
            )
        return [_curve(name, group, kind) for name, group in groups.items()]
    across, up = find_column(entries, x), find_column(entries, SHORT.get(y or "itd", y or "itd"))
    numbers = [entry.row.get(up) for entry in entries]
    if not all(value is None or is_number(value) for value in numbers):
        raise InvalidInput(f"must be a column of numbers, and {up} holds {numbers[0]!r}", parameter="y")
    places = _places([entry.row.get(across) for entry in entries])
    if up == "itd" and any(entry.itd is None for entry in (*entries, *among)):
        if isinstance(kind, str) and kind != "range":
            raise InvalidInput(
                "needs a mean, and some lessons did not reach the tolerance, so that nobody knows their steps: "
                "take 'range', or quantiles such as (0.25, 0.75)",
                parameter="band",
                value=kind,
            )
        return [_line_of_medians(name, group, across, places, kind) for name, group in groups.items()]
    return [_line_of_means(name, group, across, up, places, kind) for name, group in groups.items()]


def choose_lessons(sweep: Sweep, where: Where | None, kept_apart: Sequence[str]) -> list[Entry]:
    """Return the lessons to draw; a mean over different problems would mean nothing, unless they are kept apart.

    Parameters
    ----------
    where : dict of column -> value or values
        What the lessons have there.
    kept_apart : list of str
        The columns of which each value has its own line, place or panel.
    """
    entries: list[Entry] = list(sweep.given)
    if not entries:
        raise InvalidInput("no lesson of this sweep could be given, so that there is nothing to draw: .failed says why")
    for name, wanted in (where or {}).items():
        entries = _keep(entries, name, wanted)
    for name in kept_apart:
        if name != STEP:
            find_column(entries, name)  # a name mistyped is told as one
    problems = list(dict.fromkeys(entry.problem for entry in entries))
    if len(problems) > 1 and "problem" not in kept_apart:
        raise InvalidInput(
            f"a line would mix the lessons of {len(problems)} problems: plot(where={{'problem': {problems[0]!r}}}), "
            f"facet='problem' or hue='problem'"
        )
    return entries


def _keep(entries: Sequence[Entry], name: str, wanted: Scalar | Sequence[Scalar]) -> list[Entry]:
    """Return the lessons that have one of the values in a column; a value that none has is refused."""
    column = find_column(entries, name)
    values = [wanted] if wanted is None or isinstance(wanted, bool | int | float | str) else list(wanted)
    known = list(dict.fromkeys(entry.row.get(column) for entry in entries))
    found = [value for value in values if any(_are_equal(value, other) for other in known)]
    if len(found) < len(values) or not values:
        missing = [value for value in values if value not in found]
        shown = ", ".join(map(_word, known[:8])) + (", ..." if len(known) > 8 else "")
        raise InvalidInput(f"{name} must be one of {shown}, got {missing[0] if missing else values!r} in where")
    return [entry for entry in entries if any(_are_equal(value, entry.row.get(column)) for value in found)]


def _are_equal(one: Scalar, other: Scalar) -> bool:
    return one == other or (_number(one) is not None and _number(one) == _number(other))


def facets_of(entries: Sequence[Entry], facet: str) -> dict[str, list[Entry]]:
    """Return the lessons of each panel by its title, in the order of their values."""
    column = find_column(entries, facet)
    found: dict[str, list[Entry]] = {
        _word(place): [] for place in _places([entry.row.get(column) for entry in entries])
    }
    numeric = all(_number(entry.row.get(column)) is not None for entry in entries)
    for entry in entries:
        found[_word(_place(entry.row.get(column), numeric=numeric))].append(entry)
    return found


def say_what_is_mixed(entries: Sequence[Entry], x: str, hue: str) -> str:
    """Say what each point of a line is taken over, beside the seeds: "3 learners and 2 teachers"; else nothing."""
    places: dict[tuple[Scalar, ...], list[Entry]] = {}
    for entry in entries:
        columns = (find_column(entries, name) for name in (x, hue) if name != STEP)
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
        return f"median{' of ' * bool(over)}{over}; a/b: a of b did not reach it; triangle: a lower bound"
    return f"mean of {over}" if over else ""


def _curve(name: str, entries: Sequence[Entry], band: BandKind) -> CurveLine:
    """Return the curves of some lessons as one line; after the end of a lesson its last value is repeated."""
    steps = np.unique(np.concatenate([entry.curve_steps for entry in entries]))
    curves = np.stack([np.interp(steps, entry.curve_steps, entry.curve) for entry in entries])
    return _draw_through(name, entries, tuple(float(step) for step in steps), list(curves.T), band)


def _line_of_means(
    name: str, entries: Sequence[Entry], across: str, up: str, places: Places, band: BandKind
) -> CurveLine:
    found = [
        [entry.row[up] for entry in group if entry.row.get(up) is not None] for group in _at(entries, across, places)
    ]
    kept = [place for place, values in zip(places, found, strict=True) if values]
    return _draw_through(
        name, entries, tuple(kept), [np.array(values, dtype=float) for values in found if values], band
    )


def _draw_through(
    name: str, entries: Sequence[Entry], x: tuple[float | str, ...], values: list[Array], band: BandKind
) -> CurveLine:
    """Return the line through values, all of whose lessons have a y."""
    through = [summarise_curves(one[:, np.newaxis], band) for one in values]
    middle, low, high = (np.array([float(parts[place][0]) for parts in through]) for place in range(3))
    counts = tuple(len(one) for one in values)
    return CurveLine(name, _colour(entries), x, middle, low, high, (0,) * len(x), counts, np.zeros(len(x), dtype=bool))


def _line_of_medians(name: str, entries: Sequence[Entry], across: str, places: Places, band: BandKind) -> CurveLine:
    """Return the line of median steps to the tolerance; a mean of the lessons that met it leaves out the longest."""
    groups = dict(zip(places, _at(entries, across, places), strict=True))
    groups = {place: group for place, group in groups.items() if group}
    steps = [np.array([np.inf if entry.itd is None else entry.itd for entry in group]) for group in groups.values()]
    taken = [max(entry.steps or 0 for entry in group) for group in groups.values()]
    ends = band if isinstance(band, tuple) else (0.0, 1.0)
    low, middle, high = (np.array([_quantile(one, share) for one in steps]) for share in (ends[0], 0.5, ends[1]))
    return CurveLine(
        name, _colour(entries), tuple(groups),
        middle=np.where(np.isinf(middle), taken, middle),
        low=np.where(np.isinf(low), taken, low),
        high=np.where(np.isinf(high), taken, high),
        unmet=tuple(int(np.isinf(one).sum()) for one in steps),
        lessons=tuple(map(len, steps)),
        beyond=np.isinf(middle),
        is_median=True,
    )  # fmt: skip


def _quantile(steps: Array, share: float) -> float:
    """Return a quantile of steps some of which are infinite: between one of these and any other there is no middle."""
    place = share * (len(steps) - 1)
    low, high = np.sort(steps)[[int(np.floor(place)), int(np.ceil(place))]]
    return float(low if low == high or place % 1 == 0 else high if np.isinf(high) else low + place % 1 * (high - low))


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


def find_column(entries: Sequence[Entry], name: str) -> str:
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


def _word(value: Scalar) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

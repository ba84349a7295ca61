"""What lessons that differ in their seed only have in common: means, spreads and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nimt.runs.entries import Entry


@dataclass(frozen=True)
class Row:
    """One line of a comparison: means over the seeds, `_range` the smallest and the largest, `_deviation` the spread.

    A deviation is that of a sample, with n - 1 below; None for a single lesson.

    Attributes
    ----------
    name : str
    seeds : int
        How many lessons it summarises.
    reached : int
        How many of them met the tolerance.
    steps, steps_range, steps_deviation : float, pair of int, float; or None
        Steps to the tolerance; None unless every lesson met it.
    discrepancy, discrepancy_range, discrepancy_deviation : float, pair, float or None
        At the end.
    examples, distinct : float
        Examples shown, and distinct points among them.
    seconds, seconds_deviation : float, float or None
        Wall time per lesson, without compiling.
    choosing, learning : float or None
        Its two parts: the teacher's `select`, and everything else. Known only with engine="reference".
    held_out_rms, held_out_r2, held_out_accuracy : float or None
        The errors on points held out, as of `Lesson.held_out`; None where none are, or where it has none.
    """

    name: str
    seeds: int
    reached: int
    steps: float | None
    steps_range: tuple[int, int] | None
    discrepancy: float
    discrepancy_range: tuple[float, float]
    examples: float
    distinct: float
    seconds: float
    choosing: float | None
    learning: float | None
    steps_deviation: float | None = None
    discrepancy_deviation: float | None = None
    seconds_deviation: float | None = None
    held_out_rms: float | None = None
    held_out_r2: float | None = None
    held_out_accuracy: float | None = None


def summarise(name: str, entries: Sequence[Entry]) -> Row:
    """Return the row of lessons that were given and differ in their seed only."""
    met = [entry.itd for entry in entries if entry.itd is not None]
    ends, times = _list_known(entry.end for entry in entries), _list_known(entry.seconds for entry in entries)
    seconds = float(np.mean(times))
    choose = _mean([entry.choosing for entry in entries])
    everyone = len(met) == len(entries)
    return Row(
        name=name,
        seeds=len(entries),
        reached=len(met),
        steps=float(np.mean(met)) if everyone else None,
        steps_range=(min(met), max(met)) if everyone else None,
        steps_deviation=deviation(met) if everyone else None,
        discrepancy=float(np.mean(ends)),
        discrepancy_range=(min(ends), max(ends)),
        discrepancy_deviation=deviation(ends),
        examples=float(np.mean(_list_known(entry.examples for entry in entries))),
        distinct=float(np.mean(_list_known(entry.distinct for entry in entries))),
        seconds=seconds,
        seconds_deviation=deviation(times),
        choosing=choose,
        learning=None if choose is None else max(0.0, seconds - choose),
        held_out_rms=_mean([entry.held_out_rms for entry in entries]),
        held_out_r2=_mean([entry.held_out_r2 for entry in entries]),
        held_out_accuracy=_mean([entry.held_out_accuracy for entry in entries]),
    )


def _list_known(values: Iterable[float | None]) -> list[float]:
    """Return numbers that every lesson has which was given."""
    return [value for value in values if value is not None]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, None where there is no value or one is not known."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of a sample, with n - 1 below; None for a single value.

    Examples
    --------
    >>> deviation([1.0, 3.0]), deviation([1.0])
    (1.4142135623730951, None)
    """
    return float(np.std(values, ddof=1)) if len(values) > 1 else None

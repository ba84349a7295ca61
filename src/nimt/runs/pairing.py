"""Which of two teachers is ahead, seed by seed, and how sure that is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.runs.entries import Entry
from nimt.runs.spelled_tables import SpelledTable


@dataclass(frozen=True)
class Pair:
    """Two teachers, lesson by lesson with the same seed.

    Attributes
    ----------
    first, second : str
    seeds : int
        How many pairs of lessons there are. A teacher who draws nothing has one lesson, which stands for every seed.
    ahead, behind : int
        How often the first met the tolerance in fewer steps; where neither met it, ended at a better value. A lesson
        that met it is ahead of one that did not.
    steps_saved : float or None
        The median of the steps that the first needed less; None where a lesson did not meet the tolerance.
    p : float
        Of the sign test: how likely so uneven counts, or more uneven ones, are if no teacher is better; ties are left
        out. It needs six seeds to fall below 0.05. It is that of one pair: of twenty pairs that do not differ, one
        is below 0.05 by chance.
    problem, learner : str
        In which part of a study; empty in a comparison, which has one of each.
    """

    first: str
    second: str
    seeds: int
    ahead: int
    behind: int
    steps_saved: float | None
    p: float
    problem: str = ""
    learner: str = ""


@dataclass(frozen=True)
class Pairs(SpelledTable):
    """All pairs of teachers of a comparison or of a study."""

    rows: tuple[Pair, ...]

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return one row per pair as columns."""
        kinds = {"first": object, "second": object, "steps_saved": float, "problem": object, "learner": object}
        return {
            part.name: np.array([getattr(row, part.name) for row in self.rows], dtype=kinds.get(part.name))
            for part in dataclasses.fields(Pair)
        }

    def _text_table(self) -> tuple[Sequence[str], list[list[str]]]:
        parts = [name for name in ("problem", "learner") if any(getattr(row, name) for row in self.rows)]
        header = [*parts, "teachers", "seeds", "ahead", "behind", "steps saved", "p"]
        lines = [
            [*(getattr(row, name) for name in parts),
             f"{row.first} / {row.second}", str(row.seeds), str(row.ahead), str(row.behind),
             "not all reached" if row.steps_saved is None else f"{row.steps_saved:,.0f}", f"{row.p:.3g}"]
            for row in self.rows
        ]  # fmt: skip
        return header, lines


def pair_up(entries: Mapping[str, Sequence[Entry]], *, higher_is_better: bool = False) -> Pairs:
    """Compare every two teachers over the seeds that both have."""
    sign = -1.0 if higher_is_better else 1.0
    found = []
    for (first, ours), (second, theirs) in combinations(entries.items(), 2):
        both = _match(ours, theirs)
        order = [_compare(_rank(one, sign), _rank(other, sign)) for one, other in both]
        saved = [other.itd - one.itd for one, other in both if one.itd is not None and other.itd is not None]
        ahead, behind = order.count(-1), order.count(1)
        median = float(np.median(saved)) if saved and len(saved) == len(both) else None
        found.append(Pair(first, second, len(both), ahead, behind, median, sign_test(ahead, behind)))
    return Pairs(tuple(found))


def _match(ours: Sequence[Entry], theirs: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    if len(theirs) == 1 and not theirs[0].drew:
        return [(one, theirs[0]) for one in ours]
    if len(ours) == 1 and not ours[0].drew:
        return [(ours[0], other) for other in theirs]
    known = {other.seed: other for other in theirs}
    return [(one, known[one.seed]) for one in ours if one.seed in known]


def _rank(entry: Entry, sign: float) -> tuple[int, float]:
    """Return what sorts lessons: those that met the tolerance by their steps, then the others by their last value."""
    if entry.itd is not None:
        return 0, float(entry.itd)
    return 1, math.inf if entry.end is None or math.isnan(entry.end) else sign * entry.end


def _compare(one: tuple[int, float], other: tuple[int, float]) -> int:
    return (one > other) - (one < other)


def sign_test(ahead: int, behind: int) -> float:
    """Return the exact two-sided p of a sign test.

    Examples
    --------
    >>> sign_test(6, 0), sign_test(3, 3), sign_test(0, 0)
    (0.03125, 1.0, 1.0)
    """
    count = ahead + behind
    tail = sum(math.comb(count, k) for k in range(min(ahead, behind) + 1))
    return min(1.0, math.ldexp(tail, 1 - count))

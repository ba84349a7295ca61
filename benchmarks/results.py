"""The rows of the benchmark: what was measured against which goal, as a table, as a page and as JSON."""

from __future__ import annotations

import operator
import re
import time
from dataclasses import asdict, dataclass, replace

import numpy as np
from rich.table import Table

import nimt
from benchmarks import bounds

RATE = 0.01  # of the lessons, unless a row says otherwise
COMPARES = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True)
class Row:
    """One measured value.

    Attributes
    ----------
    work : str
        What was done; two runs are compared by it, and rows of one name in their order.
    goal : str
        For example ">= 8x", "<= 300 MB": a comparison, a number, a unit.
    value : float
        In the unit of the goal.
    against : str
        What a ratio is a ratio to.
    note : str
        Shown after the value.
    us_per_step, difference, engine : of the lesson
        `difference` is the largest relative difference of its curve from the baseline's.
    bound : str
        What stops a row that misses its goal, with the figure that was measured of it.
    """

    work: str
    goal: str
    value: float
    against: str = ""
    note: str = ""
    us_per_step: float | None = None
    difference: float | None = None
    engine: str = ""
    part: str = ""
    bound: str = ""

    @property
    def unit(self) -> str:
        return parsed(self.goal)[2]

    @property
    def is_reached(self) -> bool:
        sign, bound, _ = parsed(self.goal)
        return bool(COMPARES[sign](self.value, bound))

    @property
    def measured(self) -> str:
        digits = f"{self.value:.0f}" if self.value >= 20 else f"{self.value:.3g}"
        return digits + self.unit + (f" ({self.note})" if self.note else "")

    @property
    def verdict(self) -> str:
        if self.is_reached:
            return "reached"
        return f"missed, bound by {self.bound}" if self.bound else "missed"


def parsed(goal: str) -> tuple[str, float, str]:
    """Return the comparison, the number and the unit of a goal."""
    found = re.fullmatch(r"(>=|<=) ([0-9.]+)(.*)", goal)
    if found is None:
        raise ValueError(f"a goal is a comparison, a number and a unit, such as '>= 8x' or '<= 300 MB'; got {goal!r}")
    return found[1], float(found[2]), found[3]


class Bench:
    """Collects the rows of one run."""

    def __init__(self, console, quick):
        self.console, self.quick, self.part = console, quick, ""
        self.rows = []
        self.costs, self.dense = {}, {}  # microseconds per step by points in the pool, for the figure

    def row(self, work, goal, value, *, bound, lesson=None, curve=None, seconds=None, steps=None, against="", note=""):
        """Add a row; with `curve` the lesson is compared with it, with `seconds` and `steps` a step's time is given.

        `bound()` says what stops it, and is called only where the goal is missed.
        """
        row = Row(
            work,
            goal,
            float(value),
            against,
            note,
            1e6 * seconds / steps if steps else None,
            None if curve is None else apart(lesson, curve),
            "" if lesson is None else lesson.engine,
            self.part,
        )
        if not row.is_reached:
            row = replace(row, bound="; ".join(filter(None, (bound(), bounds.other_work()))))
        self.rows.append(row)
        said = f"  {work}: {row.measured} {against}; goal {goal}: {row.verdict}"
        self.console.print(said, style="dim" if row.is_reached else "red", markup=False)


def timed(function, repeat=1):
    """Return the shortest time of some runs and the last result: other programs may slow single runs down."""
    best, result = np.inf, None
    for _ in range(repeat):
        began = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - began)
    return best, result


def ours(pool, target, teacher, steps, width, rate=RATE, repeat=3, **options):
    """Return the shortest time of whole `teach` calls, and the lesson."""

    def run():
        learner = nimt.KernelLearner(nimt.rbf(width=width), learning_rate=rate)
        return nimt.teach(learner, teacher, pool, target, max_iterations=steps, **{"tol": None} | options)

    run()  # compiles, once
    return timed(run, repeat)


def apart(lesson, curve):
    """Return the largest relative difference of a lesson's discrepancy from a curve, as far as the curve goes."""
    return float(np.max(np.abs(lesson.discrepancy[: len(curve)] - curve) / curve))


def picture(side, seed=0):
    """A smooth picture with some noise, so that greedy teaching has no ties to break."""
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 3, side)
    return np.sin(3 * x[:, None]) * np.cos(2 * x[None, :]) + 0.3 * rng.normal(size=(side, side))


def as_json(rows):
    return [asdict(row) | {"reached": row.is_reached} for row in rows]


def from_json(entries):
    names = Row.__dataclass_fields__
    return [Row(**{name: value for name, value in entry.items() if name in names}) for entry in entries]


def table_of(rows):
    table = Table(title="nimt against baselines (whole teach calls, best of a few runs)")
    for column in ("work", "to reach", "measured", "against", "us per step", "curves differ by", "engine", ""):
        table.add_column(column)
    for row in rows:
        table.add_row(
            row.work,
            row.goal,
            row.measured,
            row.against,
            "" if row.us_per_step is None else f"{row.us_per_step:.2f}",
            "" if row.difference is None else f"{row.difference:.0e}",
            row.engine,
            row.verdict,
        )
    return table


def markdown_of(rows):
    """Return the table as a page would show it."""
    lines = ["| work | to reach | measured | against | curves differ by |", "|---|---|---|---|---|"]
    for row in rows:
        apart_by = "" if row.difference is None else f"{row.difference:.0e}"
        measured = row.measured if row.is_reached else f"{row.measured}, {row.verdict}"
        lines.append(f"| {row.work} | {row.goal} | {measured} | {row.against} | {apart_by} |")
    return "\n".join(lines) + "\n"

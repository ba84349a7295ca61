"""The tables and the goals of `python -m benchmarks.rows`, from the scores of its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from benchmarks.row_scores import ALL, AUTO, DEFAULT, OWN, PLAIN, RANDOM, REFERENCE, SHOWN, STUDENTS, WRONG_SHOWN
from benchmarks.row_tables import TABLES


@dataclass(frozen=True)
class Figure:
    """The mean and the spread (standard deviation) of scores over seeds, and over draws of random rows."""

    mean: float
    spread: float


def as_json(results):
    """Return the figures, one cell per line: [table, wrong, student, rows, {choice and labels: [mean, spread]}]."""
    scores = {}
    for one in results:
        key = (one["table"], one["wrong"], one["student"], one["size"])
        scores.setdefault(key, {}).setdefault(f"{one['choice']}, {one['labels']}", []).append(one["score"])
    lines = [
        json.dumps([*key, {kind: [round(np.mean(found), 4), round(np.std(found), 4)] for kind, found in cell.items()}])
        for key, cell in scores.items()
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def read_cells(text):
    """Return {(table, wrong, student, size): {(choice, labels): Figure}} of what `as_json` wrote."""
    return {
        tuple(key): {tuple(kind.split(", ")): Figure(*figure) for kind, figure in cell.items()}
        for *key, cell in json.loads(text)
    }


def compared(cells):
    """Return the cells in which rows were chosen."""
    return {key: cell for key, cell in cells.items() if (AUTO, REFERENCE) in cell}


def shares(cells):
    """Return the goals with what was reached: (goal, share or figure, whether it is reached)."""
    chosen = compared(cells)
    ahead, clearly, not_below = [], [], []
    for cell in chosen.values():
        ours, own, labelled = cell[AUTO, REFERENCE], cell[RANDOM, OWN], cell[RANDOM, REFERENCE]
        ahead.append(ours.mean > own.mean)
        clearly.append(ours.mean > own.mean + own.spread)
        not_below.append(ours.mean >= labelled.mean - labelled.spread)
    at_50 = [
        (cell[AUTO, REFERENCE].mean, cells[table, wrong, student, 0][ALL, OWN].mean)
        for (table, wrong, student, size), cell in chosen.items()
        if table == "diabetes" and size == 50
    ]
    near = np.mean([ours >= 0.97 * full for ours, full in at_50]) if at_50 else float("nan")
    worst = min(min(cell[AUTO, REFERENCE].mean for cell in chosen.values()), 1.0)
    defaults = [(cell[DEFAULT, OWN].mean, cell[PLAIN, OWN].mean) for cell in cells.values() if (DEFAULT, OWN) in cell]
    above = min((ours - max(plain, 0.0) for ours, plain in defaults), default=float("nan"))
    shown = max((cell[WRONG_SHOWN, OWN].mean for cell in cells.values() if (WRONG_SHOWN, OWN) in cell), default=np.nan)
    return [
        ("ahead of random rows with own labels, of cells (>= 75 %)", np.mean(ahead), np.mean(ahead) >= 0.75),
        ("... by more than the spread over seeds (>= 50 %)", np.mean(clearly), np.mean(clearly) >= 0.5),
        ("not below random rows with f*'s labels by more than the spread (100 %)", np.mean(not_below), all(not_below)),
        ("diabetes, 50 rows: within 3 % of the student of all rows, of cells (100 %)", near, near == 1.0),
        ("the lowest mean R^2 or accuracy of a cell (> 0)", worst, worst > 0),
        ("the least that our estimator is above R^2 0, or the most frequent class (>= 0)", above, above >= 0),
        (f"wrong labels of the first {SHOWN} by SurrogateTeacher, digits, 10 % wrong (<= 2)", shown, shown <= 2),
    ]


def columns(cells):
    found = dict.fromkeys(key for cell in compared(cells).values() for key in cell)
    first = [(RANDOM, OWN), (RANDOM, REFERENCE), (AUTO, REFERENCE), (AUTO, OWN)]
    return first + [key for key in found if key not in first]


def lines(cells):
    """Yield the table: the header, then for each table, noise and size the means over students and seeds."""
    kinds = columns(cells)
    yield ["table", "rows", *(f"{choice}, {labels}" for choice, labels in kinds), "all rows"]
    chosen = compared(cells)
    for table, wrong, size in dict.fromkeys((key[0], key[1], key[3]) for key in sorted(chosen, key=_order)):
        of = [key for key in chosen if (key[0], key[1], key[3]) == (table, wrong, size)]
        full = np.mean([cells[table, wrong, key[2], 0][ALL, OWN].mean for key in of])
        means = [np.mean([chosen[key][kind].mean for key in of if kind in chosen[key]]) for kind in kinds]
        yield [table + (", 10 % wrong" if wrong else ""), str(size), *(f"{mean:.3f}" for mean in means), f"{full:.3f}"]


def student_lines(cells):
    """Yield gains by student and size: of labels alone, of choosing on top, and of both, over all tables."""
    yield ["student", "rows", "random rows", "gain by labels", "gain by choosing", "both"]
    chosen = compared(cells)
    for student, size in dict.fromkeys((key[2], key[3]) for key in sorted(chosen, key=lambda key: _order(key)[2:])):
        of = [cell for key, cell in chosen.items() if (key[2], key[3]) == (student, size)]
        own, labelled, ours = (
            np.mean([cell[kind].mean for cell in of])
            for kind in ((RANDOM, OWN), (RANDOM, REFERENCE), (AUTO, REFERENCE))
        )
        gains = (labelled - own, ours - labelled, ours - own)
        yield [student, str(size), f"{own:.3f}", *(f"{gain:+.3f}" for gain in gains)]


def _order(key):
    table, wrong, student, size = key
    return list(TABLES).index(table), wrong, list(STUDENTS).index(student), size


def as_markdown(rows):
    head, *rest = rows
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(row) + " |" for row in rest)]
    )


def page(cells):
    """Return what docs/real-data.md shows: the goals, the gains and the table."""
    goals = [["goal", "measured", "reached"]]
    goals += [[goal, f"{value:.3f}", "yes" if reached else "no"] for goal, value, reached in shares(cells)]
    return "\n\n".join(as_markdown(list(part)) for part in (goals, student_lines(cells), lines(cells)))

"""The tables and the goals of `python -m benchmarks.rows`, from the scores of its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from benchmarks.row_scores import (
    ALL,
    AUTO,
    DEFAULT,
    F_STAR,
    OWN,
    PLAIN,
    RANDOM,
    REFERENCE,
    SHOWN,
    STUDENTS,
    WRONG_SHOWN,
)
from benchmarks.row_tables import TABLES


@dataclass(frozen=True)
class Figure:
    """The mean and the spread (standard deviation) of scores over splits, and over draws of random rows."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Gain:
    """By how much ours is above another in the same split: the mean, the spread over splits, and the least."""

    mean: float
    spread: float
    least: float


@dataclass(frozen=True)
class Cell:
    """What was measured of one table, student and size: {(choice, labels): figure}, and gains of ours beside them."""

    figures: dict[tuple[str, str], Figure]
    gains: dict[tuple[str, str], Gain]

    def mean(self, *kind: str) -> float:
        return self.figures[kind].mean


def pair(cell):
    """Return the gains of our choice, or of our estimator, from {kind: {split: scores}}."""
    ours = next((kind for kind in ((AUTO, REFERENCE), (DEFAULT, OWN)) if kind in cell), None)
    gains = {}
    for kind, splits in cell.items() if ours is not None else ():
        if kind != ours and kind != (F_STAR, REFERENCE):
            differences = [np.mean(cell[ours][split]) - np.mean(scores) for split, scores in splits.items()]
            gains[kind] = Gain(*_rounded(np.mean(differences), _spread(differences), min(differences)))
    return gains


def _spread(numbers):
    return np.std(numbers, ddof=1) if len(numbers) > 1 else 0.0


def _rounded(*numbers):
    return [round(float(number), 4) for number in numbers]


def as_json(results):
    """Return the cells, one per line: [table, wrong, student, rows, {kind: [mean, spread]}, {kind: gain}].

    A kind is a choice and its labels; a gain is [mean, spread, least] of our choice beside it, in the same splits.
    """
    scores = {}
    for one in results:
        cell = scores.setdefault((one["table"], one["wrong"], one["student"], one["size"]), {})
        of_kind = cell.setdefault((one["choice"], one["labels"]), {})
        of_kind.setdefault(one["seed"], []).append(one["score"])
    lines = []
    for key, cell in scores.items():
        together = {kind: np.concatenate(list(splits.values())) for kind, splits in cell.items()}
        figures = {", ".join(kind): _rounded(np.mean(found), np.std(found)) for kind, found in together.items()}
        gains = {", ".join(kind): [gain.mean, gain.spread, gain.least] for kind, gain in pair(cell).items()}
        lines.append([*key, figures, gains])
    return _write(lines)


def merge(old, new):
    """Return what `as_json` wrote before, with the cells and the kinds of cells that it wrote now in their place."""
    cells = {tuple(key): (figures, gains) for *key, figures, gains in json.loads(old)}
    for *key, figures, gains in json.loads(new):
        old_figures, old_gains = cells.get(tuple(key), ({}, {}))
        cells[tuple(key)] = ({**old_figures, **figures}, {**old_gains, **gains})
    return _write([[*key, *cell] for key, cell in cells.items()])


def _write(lines):
    return "[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n"


def read_cells(text):
    """Return {(table, wrong, student, size): Cell} of what `as_json` wrote."""
    return {
        tuple(key): Cell(
            {tuple(kind.split(", ")): Figure(*figure) for kind, figure in figures.items()},
            {tuple(kind.split(", ")): Gain(*gain) for kind, gain in gains.items()},
        )
        for *key, figures, gains in json.loads(text)
    }


def compared(cells):
    """Return the cells in which rows were chosen."""
    return {key: cell for key, cell in cells.items() if (AUTO, REFERENCE) in cell.figures}


def near_all_rows(cells, name):
    """Return in which share of the cells of a table 50 chosen rows are within 3 % of all rows; NaN without cells."""
    found = [
        cell.mean(AUTO, REFERENCE) >= 0.97 * cells[table, wrong, student, 0].mean(ALL, OWN)
        for (table, wrong, student, size), cell in compared(cells).items()
        if table == name and size == 50
    ]
    return np.mean(found) if found else float("nan")


def is_below(gain):
    """Say whether ours is below another by more than the spread."""
    return gain.mean < -gain.spread


def gain_of(cells, student, size):
    """Return the gain over random rows with their own labels on friedman1; NaN if it was not measured."""
    cell = cells.get(("friedman1", False, student, size))
    return float("nan") if cell is None else cell.gains[RANDOM, OWN].mean


def shares(cells):
    """Return the goals with what was reached: (goal, share or figure, whether it is reached), of what was measured."""
    goals = _share_goals(cells) if compared(cells) else []
    defaults = [cell for cell in cells.values() if (DEFAULT, OWN) in cell.figures]
    if defaults:
        lowest = min(cell.mean(DEFAULT, OWN) for cell in defaults)
        above = min(cell.gains[PLAIN, OWN].least for cell in defaults)
        goals += [
            ("the lowest mean R^2 or accuracy of our estimator as it is (> 0)", lowest, lowest > 0),
            (
                "... the least above the mean or the most frequent class, in any split measured (>= 0)",
                above,
                above >= 0,
            ),
        ]
    shown = [cell.mean(WRONG_SHOWN, OWN) for cell in cells.values() if (WRONG_SHOWN, OWN) in cell.figures]
    if shown:
        goal = f"wrong labels of the first {SHOWN} by SurrogateTeacher, digits, 10 % wrong (<= 2)"
        goals.append((goal, max(shown), max(shown) <= 2))
    return goals


def _share_goals(cells):
    chosen = compared(cells).values()
    beside_own = [cell.gains[RANDOM, OWN] for cell in chosen]
    ahead = np.mean([gain.mean > 0 for gain in beside_own])
    clearly = np.mean([gain.mean > gain.spread for gain in beside_own])
    not_below = np.mean([not is_below(cell.gains[RANDOM, REFERENCE]) for cell in chosen])
    diabetes, abalone = near_all_rows(cells, "diabetes"), near_all_rows(cells, "abalone")
    few, many = gain_of(cells, "svm", 20), gain_of(cells, "svm", 200)
    worst = min(cell.mean(AUTO, REFERENCE) for cell in chosen)
    return [
        ("ahead of random rows with own labels, of cells (>= 75 %)", ahead, ahead >= 0.75),
        ("... by more than the spread over splits (>= 50 %)", clearly, clearly >= 0.5),
        ("not below random rows with f*'s labels by more than the spread, of cells (100 %)", not_below, not_below == 1),
        ("diabetes, 50 rows: within 3 % of the student of all rows, of cells (100 %)", diabetes, diabetes == 1),
        ("abalone, 50 rows: within 3 % of the student of all rows, of cells (100 %)", abalone, abalone == 1),
        ("friedman1, svm, 20 rows: gain over random rows (>= 0.07)", few, few >= 0.07),
        ("friedman1, svm, 200 rows: gain over random rows (>= 0.04)", many, many >= 0.04),
        ("the lowest mean R^2 or accuracy of a cell (> 0)", worst, worst > 0),
    ]


def other_lines(cells):
    """Yield how "auto" with f*'s labels does beside each other choice, over all cells in which both were measured."""
    yield ["beside", "cells", "ahead", "ahead by more than the spread", "behind by more than the spread", "mean gain"]
    chosen = compared(cells).values()
    for kind in columns(cells):
        gains = [cell.gains[kind] for cell in chosen if kind in cell.gains]
        if gains:
            told = (
                np.mean([gain.mean > 0 for gain in gains]),
                np.mean([gain.mean > gain.spread for gain in gains]),
                np.mean([is_below(gain) for gain in gains]),
            )
            gained = np.mean([gain.mean for gain in gains])
            yield [", ".join(kind), str(len(gains)), *(f"{100 * share:.0f} %" for share in told), f"{gained:+.3f}"]


def columns(cells):
    found = dict.fromkeys(key for cell in compared(cells).values() for key in cell.figures)
    first = [(RANDOM, OWN), (RANDOM, REFERENCE), (AUTO, REFERENCE), (AUTO, OWN)]
    return first + [key for key in found if key not in first]


def lines(cells):
    """Yield the table: the header, then for each table, noise and size the means over students and seeds."""
    kinds = columns(cells)
    yield ["table", "rows", *(f"{choice}, {labels}" for choice, labels in kinds), "all rows"]
    chosen = compared(cells)
    for table, wrong, size in dict.fromkeys((key[0], key[1], key[3]) for key in sorted(chosen, key=_order)):
        of = [key for key in chosen if (key[0], key[1], key[3]) == (table, wrong, size)]
        full = np.mean([cells[table, wrong, key[2], 0].mean(ALL, OWN) for key in of])
        means = [np.mean([chosen[key].mean(*kind) for key in of if kind in chosen[key].figures]) for kind in kinds]
        yield [table + (", 10 % wrong" if wrong else ""), str(size), *(f"{mean:.3f}" for mean in means), f"{full:.3f}"]


def student_lines(cells):
    """Yield gains by student and size: of labels alone, of choosing on top, and of both, over all tables."""
    yield ["student", "rows", "random rows", "gain by labels", "gain by choosing", "both"]
    chosen = compared(cells)
    for student, size in dict.fromkeys((key[2], key[3]) for key in sorted(chosen, key=lambda key: _order(key)[2:])):
        of = [cell for key, cell in chosen.items() if (key[2], key[3]) == (student, size)]
        own, labelled, ours = (
            np.mean([cell.mean(*kind) for cell in of])
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
    """Return what docs/real-data.md shows: the goals, the gains, the other choices and the table."""
    goals = [["goal", "measured", "reached"]]
    goals += [[goal, f"{value:.3f}", "yes" if reached else "no"] for goal, value, reached in shares(cells)]
    parts = [goals, *(list(part) for part in (student_lines(cells), other_lines(cells), lines(cells)))]
    return "\n\n".join(as_markdown(part) for part in parts if len(part) > 1)

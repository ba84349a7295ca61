"""Do chosen rows teach more than random ones? `python -m benchmarks.rows` prints tables and the shares of its goals."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from benchmarks.row_choices import ACTIVE, CHOICES, can_run, describe_missing
from benchmarks.row_tables import TABLES, missing_tables, split
from nimt.teaching_sets.choosing_rules import Chooser
from nimt.teaching_sets.making_reference import make_reference
from nimt.teaching_sets.models import fit_quietly, score
from nimt.teaching_sets.row_checks import read_rows

SIZES = (20, 50, 100, 200)
SEEDS = 5
DRAWS = 2
NETWORK = {"hidden_layer_sizes": (16,), "solver": "lbfgs", "alpha": 0.1, "max_iter": 40}
STUDENTS = {
    "linear": (RidgeCV(np.logspace(-3, 5, 17)), LogisticRegression(max_iter=300)),
    "svm": (TransformedTargetRegressor(SVR(), transformer=StandardScaler()), SVC()),
    "forest": (RandomForestRegressor(10, random_state=0), RandomForestClassifier(10, random_state=0)),
    "network": (
        TransformedTargetRegressor(MLPRegressor(random_state=0, **NETWORK), transformer=StandardScaler()),
        MLPClassifier(random_state=0, **NETWORK),
    ),
}
OWN, REFERENCE = "own", "reference"  # labels
RANDOM, AUTO, ALL, F_STAR = "random", "nimt auto", "all rows", "f*"


def measure(name, wrong, seed, sizes, students):
    """Yield (student, size, choice, labels, score on test rows) of one split of a table."""
    data = split(name, seed, wrong)
    rows = read_rows(data.X, data.y, data.has_classes)
    found = make_reference(rows, "auto", 3, False, seed)
    sizes = [size for size in sizes if size <= len(rows) // 2]
    yield "", 0, F_STAR, REFERENCE, score(found.predict(data.test_X), data.test_y, data.has_classes)
    others = {choice: choose(data, max(sizes), seed) for choice, choose in CHOICES.items() if can_run(choice)}
    for student_name in students:
        student = STUDENTS[student_name][data.has_classes]
        chooser = Chooser(rows, found.labels, student, found.labels, seed)

        def test(chosen, labels, student=student):
            try:
                fitted = fit_quietly(clone(student), data.X[chosen], labels[chosen])
            except ValueError:  # one class only
                return score(np.full(len(data.test_y), labels[chosen][0]), data.test_y, data.has_classes)
            return score(fitted.predict(data.test_X), data.test_y, data.has_classes)

        yield student_name, 0, ALL, OWN, test(np.arange(len(rows)), rows.y)
        for size in sorted(sizes, reverse=True):
            random = [chooser.draw(size, 100 + draw) for draw in range(DRAWS)]
            ours = [chooser.choose("auto", size).indices]
            asked = {(RANDOM, OWN): random, (RANDOM, REFERENCE): random, (AUTO, OWN): ours, (AUTO, REFERENCE): ours}
            asked["k-means", REFERENCE] = [chooser.order("kmeans", size)]
            for choice, order in others.items():  # active learning asks for labels, the others do not look at them
                asked[choice, OWN if choice == ACTIVE else REFERENCE] = [order[:size]]
            for (choice, labels), sets in asked.items():
                for chosen in sets:
                    yield student_name, size, choice, labels, test(chosen, rows.y if labels == OWN else found.labels)


def run(tables, seeds, sizes, students, console, out):
    """Measure everything; what is measured is written after every table."""
    results = []
    for name in tables:
        for wrong in (False, True):
            began = time.perf_counter()
            for seed in range(seeds):
                for student, size, choice, labels, value in measure(name, wrong, seed, sizes, students):
                    results.append(
                        {"table": name, "wrong": wrong, "seed": seed, "student": student, "size": size,
                         "choice": choice, "labels": labels, "score": round(float(value), 4)}
                    )  # fmt: skip
            console.print(f"{name}{', 10 % wrong' if wrong else ''}: {time.perf_counter() - began:.0f} s")
            if out is not None:
                out.write_text(as_json(results))
    return results


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
    return [
        ("ahead of random rows with own labels, of cells (>= 75 %)", np.mean(ahead), np.mean(ahead) >= 0.75),
        ("... by more than the spread over seeds (>= 50 %)", np.mean(clearly), np.mean(clearly) >= 0.5),
        ("not below random rows with f*'s labels by more than the spread (100 %)", np.mean(not_below), all(not_below)),
        ("diabetes, 50 rows: within 3 % of the student of all rows, of cells (100 %)", near, near == 1.0),
        ("the lowest mean R^2 or accuracy of a cell (> 0)", worst, worst > 0),
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


def shown(console, rows):
    head, *rest = rows
    table = Table(*head)
    for row in rest:
        table.add_row(*row)
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two seeds, two students, two sizes: about a minute")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="splits of each table")
    parser.add_argument("--out", type=Path, help="a JSON file for all scores; written after every table")
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="print the tables of docs/real-data.md from that file"
    )
    options = parser.parse_args()
    if options.page is not None:
        print(page(read_cells(options.page.read_text())))
        return
    console = Console(width=200)
    warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
    absent = missing_tables()
    for sentence in (*(f"{name}: its package is not installed" for name in absent), *describe_missing()):
        console.print(sentence)
    tables = [name for name in options.tables if name not in absent]
    sizes, students, seeds = (
        ((20, 50), ("linear", "svm"), 2) if options.quick else (SIZES, tuple(STUDENTS), options.seeds)
    )
    with threadpool_limits(1):
        results = run(tables, seeds, sizes, students, console, options.out)
    cells = read_cells(as_json(results))
    shown(console, list(lines(cells)))
    shown(console, list(student_lines(cells)))
    for goal, value, reached in shares(cells):
        console.print(f"{goal}: {value:.3f}{'' if reached else '  NOT REACHED'}")


if __name__ == "__main__":
    main()

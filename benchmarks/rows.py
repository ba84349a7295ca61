"""Do chosen rows teach more than random ones? `python -m benchmarks.rows` prints the tables of docs/real-data.md.

It is measured in parts: a table, with or without wrong labels, and a seed. Every part is written to --out when it is
done, and is not measured again: stop the run when you like, and start it again with the same file. The packages with
tables and other choices are those of benchmarks/requirements.txt; what is not installed is told and left out.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.row_choices import describe_missing
from benchmarks.row_report import as_json, merge, page, read_cells
from benchmarks.row_scores import KINDS, SEEDS, SIZES, STUDENTS
from benchmarks.row_tables import TABLES, missing_tables

OUT = Path("rows.jsonl")


def list_parts(tables, seeds, kinds=tuple(KINDS)):
    """Return the parts of these kinds: (kind, table, wrong, seed); the first seeds of all tables come first."""
    parts = [
        (kind, name, wrong, seed)
        for kind in ("choices", "defaults")
        for seed in range(seeds)
        for name in tables
        for wrong in (False, True)
    ]
    parts += [("surrogate", "digits", True, seed) for seed in range(seeds) if "digits" in tables]
    return [part for part in parts if part[0] in kinds]


def read_parts(file):
    """Return {part: scores} of the parts that a file holds; a line that was cut off is left out."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            part, scores = json.loads(line)
        except ValueError:
            continue
        found[tuple(part)] = scores
    return found


def run(parts, sizes, students, file):
    """Measure the parts that a file does not hold, and add each to it."""
    done = read_parts(file)
    missing = [part for part in parts if part not in done]
    if file.exists() and not file.read_text().endswith("\n"):  # a line that was cut off
        file.write_text(file.read_text() + "\n")
    print(f"{len(parts) - len(missing)} of {len(parts)} parts are in {file}", flush=True)
    for place, part in enumerate(missing):
        began = time.perf_counter()
        kind, *what = part
        scores = [[*one, round(float(score), 4)] for *one, score in KINDS[kind](*what, sizes, students)]
        with file.open("a") as lines:
            lines.write(json.dumps([part, scores]) + "\n")
        print(f"{place + 1} of {len(missing)}: {part} in {time.perf_counter() - began:.0f} s", flush=True)


def as_results(parts):
    """Return the scores of parts as one list."""
    return [
        {"table": table, "wrong": wrong, "seed": seed, "student": student, "size": size, "choice": choice,
         "labels": labels, "score": score}
        for (_, table, wrong, seed), scores in sorted(parts.items(), key=_order)
        for student, size, choice, labels, score in scores
    ]  # fmt: skip


def _order(item):
    kind, table, wrong, seed = item[0]
    return list(TABLES).index(table), wrong, list(KINDS).index(kind), seed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one seed, two students, two sizes, in a file of its own")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="splits of each table")
    parser.add_argument("--out", type=Path, default=OUT, help="the file of the parts; rows.jsonl")
    parser.add_argument("--only-print", action="store_true", help="measure nothing, print the tables of what is there")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS), help="the kinds of parts to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write means and spreads, as docs/real-data.json; "
                        "what FILE holds of parts that were not measured is kept, and printed too")  # fmt: skip
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="sklearn")
    absent = missing_tables()
    for sentence in (*(f"{name}: its package is not installed" for name in absent), *describe_missing()):
        print(sentence)
    tables = [name for name in options.tables if name not in absent]
    file, seeds, sizes, students = options.out, options.seeds, SIZES, tuple(STUDENTS)
    if options.quick:
        file, seeds, sizes, students = file.with_suffix(".quick.jsonl"), 1, (20, 50), ("linear", "svm")
    if not options.only_print:
        with threadpool_limits(1):
            run(list_parts(tables, seeds, options.only), sizes, students, file)
    text = as_json(as_results(read_parts(file)))
    if options.json is not None:
        text = merge(options.json.read_text(), text) if options.json.exists() else text
        options.json.write_text(text)
    print(page(read_cells(text)))


if __name__ == "__main__":
    main()

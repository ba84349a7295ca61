"""Print one table of ratios against baselines on the same work, each row measured in one run: `make bench`."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from pathlib import Path

from rich.console import Console

from benchmarks import (
    cells,
    choosing,
    first,
    growing,
    loops,
    memory,
    orthogonal,
    parts,
    pictures,
    scale,
    scattered,
    slow_cases,
    sweeps,
    teachers,
    together,
    two_cores,
    wide,
    windows,
)
from benchmarks.comparing import compare
from benchmarks.machine import machine
from benchmarks.results import Bench, as_json, from_json, markdown_of, table_of

PARTS = {
    "pictures": pictures.on_pictures,
    "mixture": pictures.mixture,
    "growth": pictures.growth,
    "windows": windows.windows,
    "wide": wide.wide,
    "parts": parts.parts,
    "teachers": teachers.teachers,
    "scattered": scattered.scattered,
    "cells": cells.in_cells,
    "choosing": choosing.choosing,
    "orthogonal": orthogonal.interpolating,
    "loop": loops.own_code,
    "loop-alone": loops.loop_alone,
    "box": loops.box,
    "first": first.first_lesson,
    "together": together.together,
    "two-cores": two_cores.two_cores,
    "sweeps": sweeps.sweeps,
    "memory": memory.peaks,
    "growing": growing.growing,
    "scale": scale.scale,
    "slow-cases": slow_cases.slow_cases,
}
BASELINES = (
    "(a) dense NumPy on a Gram matrix made beforehand (not counted); (b) a torch loop that builds each kernel row"
)


def main():
    console = Console(width=170)
    if sys.argv[1:2] == ["compare"]:
        parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=compare.__doc__)
        parser.add_argument("old", help="a bench.json")
        parser.add_argument("new", help="a later one")
        options = parser.parse_args(sys.argv[2:])
        compare(console, options.old, options.new)
        return
    parser = argparse.ArgumentParser(description=__doc__, epilog="python -m benchmarks compare OLD NEW: what changed")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON and the figure go")
    parser.add_argument("--quick", action="store_true", help="smaller, without torch: about a minute")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART",
                        help=f"some parts: {', '.join(PARTS)}; the rows of the others are kept")  # fmt: skip
    run(console, parser.parse_args())


def run(console, options):
    """Measure part after part; one that fails is named, and the others are measured all the same."""
    options.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(console, options.quick)
    rows, took, failed = [], {}, []
    for name in options.only:
        console.print(f"[bold]{name}[/]")
        bench.part, began = name, time.monotonic()
        try:
            made = PARTS[name](bench)
            if name == "growing":
                growing.draw(made, options.out / "growth.png")
        except Exception:
            console.print_exception(max_frames=3)
            failed.append(name)
        took[name] = time.monotonic() - began
        rows = write(options.out / "bench.json", bench.rows, options)
    console.print(table_of(rows))
    console.print(BASELINES)
    (options.out / "bench.md").write_text(markdown_of(rows))
    if bench.costs:
        pictures.draw(bench.costs, bench.dense, options.out / "cost-per-step.png")
    said = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in took.items())
    console.print(f"measured in {sum(took.values()) / 60:.1f} minutes: {said}")
    console.print(f"written to {options.out}")
    if failed:
        sys.exit(f"not measured, since they failed: {', '.join(failed)}")


def write(path, fresh, options):
    """Write the rows of this run, with those of other parts that an earlier run on this machine left; return all."""
    here = machine()
    rows = list(fresh)
    if path.exists():
        content = json.loads(path.read_text())
        if content["machine"] == here and content.get("quick") == options.quick:
            measured = {row.part for row in fresh}
            rows += [row for row in from_json(content["rows"]) if row.part not in measured]
    rows.sort(key=lambda row: list(PARTS).index(row.part))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    content = {"machine": here, "date": today, "quick": options.quick, "rows": as_json(rows)}
    path.write_text(json.dumps(content, indent=1) + "\n")
    return rows


if __name__ == "__main__":
    sys.exit(main())

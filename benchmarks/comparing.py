"""What changed between two runs of the benchmark: `make bench-compare OLD=a.json NEW=b.json`."""

from __future__ import annotations

import json
from pathlib import Path

from rich.table import Table

from benchmarks.results import from_json, parsed

NOISE = 0.1  # a change below this share may be chance


def read(path):
    """Return the machine and the rows of a run, or say what is wrong with the file."""
    try:
        content = json.loads(Path(path).read_text())
        return content["machine"], from_json(content["rows"])
    except OSError as error:
        raise SystemExit(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError):
        raise SystemExit(f"{path} is not a file that `python -m benchmarks` wrote") from None


def compared(old, new):
    """Return a line per row: (work, old value, new value, change, verdict), in the order of the new run.

    The change is how many times better the new value is, below 1 for a worse one.
    """
    before = by_work(old)
    lines = []
    for key, row in by_work(new).items():
        was = before.pop(key, None)
        if was is None:
            lines.append((row.work, "", row.measured, None, "new"))
            continue
        larger_is_better = parsed(row.goal)[0] == ">="
        times = row.value / was.value if larger_is_better else was.value / row.value
        lines.append((row.work, was.measured, row.measured, times, verdict(was, row, times)))
    return lines + [(row.work, row.measured, "", None, "gone") for row in before.values()]


def by_work(rows):
    """Return the rows by the name of their work, and by how many of that name came before.

    Not by what they are measured against, which may hold a number that was measured.
    """
    found = {}
    for row in rows:
        found[row.work, sum(work == row.work for work, _ in found)] = row
    return found


def verdict(was, now, times):
    if was.is_reached != now.is_reached:
        return "goal reached now" if now.is_reached else "goal LOST"
    if times > 1 + NOISE:
        return "better"
    return "worse" if times < 1 / (1 + NOISE) else ""


def table_of_changes(lines):
    table = Table(title=f"what changed (less than {NOISE:.0%} may be chance)")
    for column in ("work", "old", "new", "times better", ""):
        table.add_column(column)
    for work, old, new, times, said in lines:
        table.add_row(work, old, new, "" if times is None else f"{times:.2f}", said)
    return table


def compare(console, old_path, new_path):
    """Print what changed, and where the two runs were not made on equal machines."""
    (old_machine, old), (new_machine, new) = read(old_path), read(new_path)
    for key in sorted(old_machine.keys() | new_machine.keys()):
        if old_machine.get(key) != new_machine.get(key):
            console.print(f"{key}: {old_machine.get(key, 'unknown')} -> {new_machine.get(key, 'unknown')}")
    console.print(table_of_changes(compared(old, new)))

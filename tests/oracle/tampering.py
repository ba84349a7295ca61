"""Alterations of a record, one of each kind: the oracle must notice every one that a record has room for."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

Record = dict[str, Any]
SLIGHTLY = 1 + 1e-6


def changed(part: np.ndarray, place: int = 0) -> np.ndarray:
    """Return an array with one number of it changed by a millionth; a zero becomes a millionth of the largest."""
    altered = np.array(part, dtype=float)
    flat = altered.reshape(-1)
    flat[place] = flat[place] * SLIGHTLY if flat[place] else 1e-6 * (np.nanmax(abs(flat)) or 1.0)
    return altered


def swap_an_index(record: Record, n: int) -> bool:
    """Show another point instead of the first of the middle step; False where every point is shown."""
    row = record["indices"][len(record["indices"]) // 2]
    free = [i for i in range(n) if i not in row]
    if not free:
        return False
    row[0] = free[-1]
    return True


def drop_a_step(record: Record) -> bool:
    for name in ("indices", "labels"):
        record[name] = record[name][:-1]
    record["discrepancy"] = record["discrepancy"][:-1]
    return True


def alter(name: str, place: Callable[[np.ndarray], int] = lambda part: part.size // 2) -> Callable[[Record, int], bool]:
    def tamper(record: Record, n: int) -> bool:
        if record[name] is None or not np.size(record[name]):
            return False
        record[name] = changed(record[name], place(record[name]))
        return True

    return tamper


def alter_in(name: str) -> Callable[[Record, int], bool]:
    """Change the last entry of a dict of arrays or numbers."""

    def tamper(record: Record, n: int) -> bool:
        if not record[name]:
            return False
        key = list(record[name])[-1]
        record[name][key] = changed(np.asarray(record[name][key]))
        return True

    return tamper


def alter_column(name: str, title: str) -> Callable[[Record, int], bool]:
    def tamper(record: Record, n: int) -> bool:
        titles = [column for column in record[name] or {} if column.startswith(title) and len(record[name][column])]
        if not titles:
            return False
        column = np.array(record[name][titles[-1]])
        column[0] = not column[0] if column.dtype == bool else column[0] + 1
        record[name][titles[-1]] = column
        return True

    return tamper


def replace(name: str, other: Callable[[Any], Any]) -> Callable[[Record, int], bool]:
    def tamper(record: Record, n: int) -> bool:
        if record[name] is None:
            return False
        record[name] = other(record[name])
        return True

    return tamper


def remove(name: str, part: str) -> Callable[[Record, int], bool]:
    def tamper(record: Record, n: int) -> bool:
        found = [key for key in record[name] or {} if str(key).startswith(part)]
        if not found:
            return False
        del record[name][found[-1]]
        return True

    return tamper


def turn_shape(record: Record, n: int) -> bool:
    record["predictions"] = np.asarray(record["predictions"])[..., np.newaxis]
    return True


EXAMPLES = ("step", "index", "x_", "label", "output")
TABLE = ("step", "discrepancy", "index", "x_", "label", "looked", "mixed")
TAMPERINGS: dict[str, Callable[[Record, int], bool]] = {
    "an index swapped": swap_an_index,
    "the last step left out": lambda record, n: drop_a_step(record),
    "a label changed": alter("labels"),
    "the first discrepancy changed": alter("discrepancy", lambda part: 0),
    "a discrepancy changed": alter("discrepancy"),
    "the last discrepancy changed": alter("discrepancy", lambda part: len(part) - 1),
    "the ITD one later": replace("itd", lambda itd: itd + 1),
    "the ITD missing": lambda record, n: record["itd"] is not None and not record.update(itd=None),
    "an ITD where there is none": lambda record, n: record["itd"] is None and not record.update(itd=1),
    "another outcome": replace("outcome", lambda name: "BUDGET" if name != "BUDGET" else "STALLED"),
    "the start changed": alter("initial"),
    "the final function changed": alter("final"),
    "a prediction changed": alter("predictions"),
    "a prediction of another shape": turn_shape,
    "a count changed": replace("picks", lambda picks: np.append(picks[:-1], picks[-1] + 1)),
    "a snapshot changed": alter_in("snapshots"),
    "a snapshot missing": remove("snapshots", ""),
    "a held-out error of the curve changed": alter_in("held_out_curve"),
    "a held-out error of the curve missing": remove("held_out_curve", ""),
    "the held-out error changed": lambda record, n: bool(record["held_out"])
    and not record["held_out"].update(rms=record["held_out"]["rms"] * SLIGHTLY),
    "nothing drawn": lambda record, n: record["drew"] and not record.update(drew=False),
    "something drawn": lambda record, n: not record["drew"] and not record.update(drew=True),
    "a look changed": replace("looked", lambda looked: np.append(~looked[:1], looked[1:])),
    "a mixture changed": alter("mixes"),
    "a mixture at another step": replace("mix_steps", lambda steps: np.append(steps[:-1], steps[-1] + 1)),
    **{f"the column {title} of the examples changed": alter_column("examples", title) for title in EXAMPLES},
    **{f"the column {title} of the table changed": alter_column("table", title) for title in TABLE},
    "a column of the examples missing": remove("examples", "label"),
    "a column of the table missing": remove("table", "index"),
}  # fmt: skip


def tampered(record: Record, kind: str, n: int) -> Record | None:
    """Return a copy of the record with one thing altered, None where it has nothing of that kind."""
    altered = copy.deepcopy(record)
    return altered if TAMPERINGS[kind](altered, n) else None

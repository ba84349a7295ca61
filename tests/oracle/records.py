"""What the records of a lesson must hold: measures, held-out errors, and the columns of its tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from oracle.problem import Problem


def measure(name: str, f: np.ndarray, target: np.ndarray, noise: float) -> tuple[float, float]:
    """Return the measure, and how far rounding may move it."""
    n, q = target.shape
    if name == "accuracy":
        right, close = answers(f, target, noise)
        return sum(right) / n, sum(close) / n
    gap = f - target
    size = float(abs(gap).max())
    root = size * math.sqrt(sum(v * v for v in (gap / size).ravel().tolist())) if 0 < size < math.inf else size
    scale = 1 / n if name == "paper" else 1 / math.sqrt(n * q)
    return scale * root, scale * math.sqrt(n * q) * noise


def answers(f: np.ndarray, target: np.ndarray, noise: float) -> tuple[list[bool], list[bool]]:
    """Return at which points the class named is the target's, and at which rounding may name another."""
    right, close = [], []
    classes = sorted(set(target[:, 0].tolist()) | ({-1.0, 1.0} if (abs(target) == 1.0).all() else set()))
    for row, truth in zip(f.tolist(), target.tolist(), strict=True):
        if len(row) == 1:
            gaps = [abs(row[0] - label) for label in classes]
            right.append(classes[gaps.index(min(gaps))] == truth[0])
            close.append(sorted(gaps)[1] - sorted(gaps)[0] <= 4 * noise)
        else:
            right.append(row.index(max(row)) == truth.index(max(truth)))
            close.append(sorted(row)[-1] - sorted(row)[-2] <= 4 * noise)
    return right, close


def names_classes(target: np.ndarray) -> bool:
    if target.shape[1] == 1:
        return set(target[:, 0].tolist()) == {-1.0, 1.0}
    return all(sorted(row) == [0.0] * (len(row) - 1) + [1.0] for row in target.tolist())


def held_out(
    f: np.ndarray, target: np.ndarray, taught: np.ndarray, noise: float
) -> dict[str, tuple[float | None, float]]:
    """Return each number of a held-out error with what rounding may change of it.

    The target of the lesson says whether rows held out that are of one class alone are classes.
    """
    rms, off = measure("rms", f, target, noise)
    spread, _ = measure("rms", np.broadcast_to(target.mean(axis=0), target.shape), target, 0.0)
    found: dict[str, tuple[float | None, float]] = {"count": (float(len(target)), 0.0), "rms": (rms, off)}
    share = None if spread == 0 else 1 - (rms / spread) ** 2
    found["r_squared"] = share, 0.0 if spread == 0 else 4 * (rms + off) * off / spread**2 + 1e-9 * (1 + abs(share or 0))
    of_one = target.shape[1] == 1 and bool((abs(target) == 1.0).all()) and names_classes(taught)
    of_classes = of_one or names_classes(target)
    found["accuracy"] = measure("accuracy", f, target, noise) if of_classes else (None, 0.0)
    return found


def columns(problem: Problem, record: dict[str, Any]) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Return the columns of `examples()` and of `to_table()` that follow from what was shown."""
    points, q, n_out = record["pool"], problem.q, problem.teacher.get("per_output", False)
    d = points.shape[1]
    steps = len(record["discrepancy"]) - 1
    packs = [[(int(i), j) for j, i in enumerate(row) if i >= 0] for row in record["indices"]]
    table: dict[str, list[Any]] = {"step": list(range(steps + 1)), "discrepancy": list(record["discrepancy"])}
    listed: dict[str, list[Any]] = {name: [] for name in ("step", "index")}
    weights = record["weights"]
    extra = [] if weights is None else ["weight"]
    names = ["label"] if q == 1 or n_out else [f"label_output_{o + 1}" for o in range(q)]
    axes = [f"x_{axis + 1}" for axis in range(d)]
    listed |= {"output": []} if n_out else {}
    listed |= {name: [] for name in [*axes, *names, *extra]}
    most = max(map(len, packs), default=1 if not n_out else q)
    slots = most // q if n_out else most

    def at(t: int, i: int, j: int) -> list[float]:
        shown = record["shown_points"]
        where = points[i] if shown is None else shown[t][j]
        return [*where, *np.atleast_1d(record["labels"][t][j]), *([] if weights is None else [weights[t][j]])]

    for t, pack in enumerate(packs):
        for number, (i, j) in enumerate(pack):
            listed["step"].append(t)
            listed["index"].append(i)
            if n_out:
                listed["output"].append(number // (len(pack) // q) + 1)
            for name, number_there in zip([*axes, *names, *extra], at(t, i, j), strict=True):
                listed[name].append(number_there)
    for output in range(q if n_out else 1):
        for slot in range(slots):
            suffix = ("" if slots == 1 else f"_{slot + 1}") + (f"_output_{output + 1}" if n_out else "")
            titles = [
                f"{name.replace('label', 'label' + suffix)}" if name in names else name + suffix
                for name in [*axes, *names, *extra]
            ]
            table[f"index{suffix}"] = []
            table |= {title: [] for title in titles}
            for t in range(steps + 1):
                each = 0 if t == steps else len(packs[t]) // (q if n_out else 1)
                row = None if slot >= each else packs[t][output * each + slot]
                table[f"index{suffix}"].append(-1 if row is None else row[0])
                for title, number_there in zip(
                    titles, [math.nan] * len(titles) if row is None else at(t, *row), strict=True
                ):
                    table[title].append(number_there)
    if record["looked"] is not None:
        table["looked"] = [*record["looked"], False]
    if record["mix_steps"] is not None:
        table["mixed"] = [t in record["mix_steps"] for t in range(steps + 1)]
    return listed, table

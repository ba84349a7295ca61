"""Compare the greedy regressor with pyMOR's VKOGA and scikit-learn's kernel models: `python -m benchmarks.estimators`.

All methods get the same rows, the same Gaussian kernel, one thread and, where they choose, the same number of centres;
the whole table is measured in one run. Seconds are of one core, so that other work on the machine does not count. A
second table compares the defaults on tables with noise and wrong labels (`benchmarks.estimators_on_tables`).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import nimt
from benchmarks.estimators_on_tables import compare_tables, draw_tables, write_markdown
from benchmarks.machine import machine

WIDTH = 1.0
LARGEST_KERNEL_RIDGE = 10_000  # rows; it holds the whole Gram matrix
LARGEST_SVR = 10_000  # rows; beyond it takes minutes


@dataclass(frozen=True)
class Row:
    problem: str
    rows: int
    method: str
    centers: int
    seconds: float
    error: float
    times: float  # its seconds, divided by those of the greedy regressor with as many centres
    errors: float  # its error, divided by that of the greedy regressor with as many centres


def problem(n, noise, seed=0):
    """A smooth function of three variables: n rows with noise to fit, and 5,000 without noise to test on."""
    rng = np.random.default_rng(seed)
    X, new = rng.uniform(-1, 1, (n, 3)), rng.uniform(-1, 1, (5000, 3))

    def f(X):
        return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + np.exp(-4 * np.sum((X - 0.3) ** 2, axis=1)) + X[:, 2] ** 2

    return X, f(X) + noise * rng.normal(size=n), new, f(new)


def pymor(centers):
    from pymor.algorithms.ml.vkoga import VKOGARegressor
    from pymor.core.logger import set_log_levels

    set_log_levels({"pymor": "ERROR"})
    # scikit-learn's kernel, because it is faster than pyMOR's own
    return VKOGARegressor(kernel=RBF(WIDTH / np.sqrt(2)), criterion="f", max_centers=centers, tol=0.0, reg=1e-12)


def greedy(centers, **options):
    """Return a regressor with as many centres as it may have, or, with cv, as many as err least on rows held out."""
    fixed = {} if "cv" in options else {"cv": None, "rule": "f"}
    return nimt.GreedyKernelRegressor(width=WIDTH, max_centers=centers, tol=0.0, **fixed, **options)


def nystroem(centers, alpha):
    features = Nystroem(gamma=1 / WIDTH**2, n_components=centers, random_state=0)
    return make_pipeline(features, Ridge(alpha=alpha))


def timed(function, repeat):
    """Return the least processor time of some runs, and the last result."""
    seconds = []
    for _ in range(repeat):
        began = time.process_time()
        result = function()
        seconds.append(time.process_time() - began)
    return min(seconds), result


def measured(model, data, repeat):
    X, y, new, truth = data
    mean = y.mean()  # pyMOR and KernelRidge have no intercept: all are given centred labels
    seconds, fitted = timed(lambda: model.fit(X, y - mean), repeat)
    predicted = np.ravel(fitted.predict(new)) + mean
    return seconds, float(np.sqrt(np.mean((predicted - truth) ** 2))), fitted


def centers_of(model, n):
    """Return how many centres a fitted model kept; a model that does not choose keeps all n rows."""
    if hasattr(model, "steps"):
        return model[0].n_components
    if hasattr(model, "_surrogate"):
        return len(model._surrogate._centers)
    return len(getattr(model, "support_", range(n)))


def compare(console, name, n, noise, sizes):
    data = problem(n, noise)
    alpha = max(noise**2, 1e-10)
    rows, reference = [], None

    def add(method, model, repeat=1):
        nonlocal reference
        seconds, error, fitted = measured(model, data, repeat)
        if method == "nimt, refit":
            reference = seconds, error
        count = centers_of(fitted, n)
        rows.append(Row(name, n, method, count, seconds, error, seconds / reference[0], error / reference[1]))
        console.print(f"  {method}, {count} centres: {seconds:.2f} s", style="dim")

    for centers in sizes:
        add("nimt, refit", greedy(centers), repeat=3)
        add("nimt, interpolation", greedy(centers, refit=False), repeat=3)
        add("nimt, defaults", greedy(centers, cv=5))
        add("pyMOR VKOGA", pymor(centers), repeat=3 if n < 10_000 else 1)
        add("Nystroem + Ridge", nystroem(centers, alpha), repeat=3)
    if n <= LARGEST_KERNEL_RIDGE:
        add("KernelRidge", KernelRidge(kernel="rbf", gamma=1 / WIDTH**2, alpha=alpha))
    if n <= LARGEST_SVR:
        add("SVR", SVR(gamma=1 / WIDTH**2, C=10.0, epsilon=max(noise / 2, 1e-3)))
    return rows


def table_of(rows):
    table = Table(title="each ratio: this method / nimt with refit, at as many centres (the most, where all are kept)")
    for column in ("problem", "rows", "method", "centres", "seconds", "test RMSE", "time ratio", "error ratio"):
        table.add_column(column, justify="left" if column in ("problem", "method") else "right")
    for row in rows:
        table.add_row(*cells(row))
    return table


def cells(row):
    return (
        row.problem,
        f"{row.rows:,}",
        row.method,
        f"{row.centers:,}",
        f"{row.seconds:.2f}",
        f"{row.error:.1e}",
        f"{row.times:.1f}",
        f"{row.errors:.1f}",
    )


def markdown_of(rows):
    head = "| problem | rows | method | centres | seconds | test RMSE | time ratio | error ratio |"
    return "\n".join([head, "|---|--:|---|--:|--:|--:|--:|--:|", *("| " + " | ".join(cells(r)) + " |" for r in rows)])


def measure_speed(console, options):
    rows = []
    for n in (4_000,) if options.quick else (4_000, 50_000):
        for name, noise in (("smooth", 0.0), ("noise 0.1", 0.1)):
            console.print(f"[bold]{name}, {n:,} rows[/]")
            rows += compare(console, name, n, noise, (100, 300))
    console.print(table_of(rows))
    store(options.out / "estimators", rows, markdown_of(rows))


def measure_tables(console, options):
    rows = compare_tables(console, 1 if options.quick else 5)
    console.print(draw_tables(rows))
    store(options.out / "estimators-tables", rows, write_markdown(rows))


def store(path, rows, markdown):
    content = {"machine": machine(), "rows": [asdict(row) for row in rows]}
    path.with_suffix(".json").write_text(json.dumps(content, indent=1))
    path.with_suffix(".md").write_text(markdown + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="where the JSON and the table go")
    parser.add_argument("--quick", action="store_true", help="4,000 rows, and one split of each table, only")
    parser.add_argument("--only", choices=("speed", "tables"), help="one of the two tables")
    options = parser.parse_args()
    console = Console(width=150)
    greedy(10).fit(*problem(100, 0.0)[:2])  # loads everything that is loaded once
    options.out.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1):
        if options.only != "tables":
            measure_speed(console, options)
        if options.only != "speed":
            measure_tables(console, options)
    console.print(f"written to {options.out}")


if __name__ == "__main__":
    sys.exit(main())

"""A table of a million rows: planned, taught and fitted. `python -m benchmarks --only scale`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.first import processor_time

ROWS, COLUMNS = 1_000_000, 8
STEPS = 2000


def scale(bench):
    rows = ROWS // 20 if bench.quick else ROWS
    X, y = friedman_rows(rows)
    with tempfile.TemporaryDirectory() as folder:
        table = write_parquet(Path(folder) / "big.parquet", X, y)
        planned = processor_time("-m", "nimt", "plan", str(table), "-n", "20000")
        bench.row(f"nimt plan, {rows:,} x {COLUMNS} rows in Parquet, processor time", "<= 20 s", planned,
                  note="reading, six widths of the kernel, and a few steps",
                  bound=bounds.imports("pandas", "pyarrow", "numba"))  # fmt: skip
    steps(bench, X, y)
    fitted(bench, X, y)


def friedman_rows(n, seed=0):
    """Rows of Friedman's first function with noise of deviation 1: of eight features five decide."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, COLUMNS))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


def write_parquet(path, X, y):
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(COLUMNS)])
    frame.assign(y=y).to_parquet(path)
    return path


def steps(bench, X, y):
    """A step on as many rows as `nimt teach` takes of a large table."""
    from nimt.recipe.field_table import MOST_ROWS

    n = min(MOST_ROWS, len(X))
    learner = nimt.KernelLearner(nimt.rbf(1.5), learning_rate=0.1)
    count = STEPS // 10 if bench.quick else STEPS
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), X[:n], y[:n] - y[:n].mean(), max_iterations=count, tol=None)
    bench.row(f"a step on {n:,} of {len(X):,} rows x {COLUMNS}", "<= 2 ms", 1e3 * lesson.elapsed / count,
              lesson=lesson, note="so many rows are drawn, and nimt teach says so", bound=bounds.passes(n))  # fmt: skip


def fitted(bench, X, y):
    """The estimator with 300 centres on all rows: it draws 50,000 of them; R^2 on rows that it did not see."""
    test = len(X) // 10
    model = nimt.GreedyKernelRegressor(max_centers=100 if bench.quick else 300, cv=None, rule="f*P")
    began = time.process_time()
    model.fit(X[test:], y[test:])
    seconds = time.process_time() - began
    r2 = model.score(X[:test], y[:test])
    bench.row(f"GreedyKernelRegressor, {len(X) - test:,} rows, {model.max_centers} centres, processor time", "<= 69 s",
              seconds, note=f"R^2 {r2:.3f} on {test:,} other rows",
              bound=bounds.passes(50_000, model.max_centers**2))  # fmt: skip
    against_pymor(bench)


def against_pymor(bench):
    """The same centres by pyMOR's VKOGA, where it is installed: the same rows, kernel and number of centres."""
    try:
        from benchmarks import estimators

        data = estimators.problem(4000, 0.0)
        theirs, their_error, _ = estimators.measured(estimators.pymor(100), data, 2)
    except ImportError as missing:
        bench.console.print(f"  no row against pyMOR: {missing}", style="dim")
        return
    ours, our_error, _ = estimators.measured(estimators.greedy(100), data, 2)
    bench.row("greedy centres, 4,000 rows, 100 centres, processor time", ">= 1x", theirs / ours,
              against="pyMOR's VKOGA", note=f"errors {our_error:.1e} and {their_error:.1e}",
              bound=bounds.passes(4000, 100 * 99 // 2))  # fmt: skip

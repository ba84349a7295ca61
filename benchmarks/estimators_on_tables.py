"""Compare the estimators' defaults with tuned kernel ridge regression and support vectors: `benchmarks.estimators`.

Five splits of eight tables, three quarters fitted, and of the tables inside packages that are installed, 1,000 rows
fitted as in `benchmarks.rows`; also with a tenth of the labels to fit wrong. All have prepared features and the same
Gaussian kernel. The others are tuned by a search over their penalty with five folds, and keep as many centres as they
like; nimt has its defaults.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from rich.table import Table
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import nimt
from benchmarks.row_tables import INSIDE, WRONG, missing_tables, split
from nimt.estimators.width import median_width

SPLITS = 5
NUMBERS = {
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
    "friedman1": lambda: datasets.make_friedman1(800, noise=1.0, random_state=0),
    "friedman2": lambda: datasets.make_friedman2(800, noise=100.0, random_state=0),
    "friedman3": lambda: datasets.make_friedman3(800, noise=0.1, random_state=0),
}
CLASSES = {
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "moons": lambda: datasets.make_moons(800, noise=0.25, random_state=0),
}
ALLOWED = {"R2": -0.02, "accuracy": -0.01}  # how much below the others nimt may be
COLUMNS = ("table", "rows", "wrong labels", "score", "nimt", "the other", "difference", "goal", "centres", "time ratio")


@dataclass(frozen=True)
class TableRow:
    table: str
    rows: int
    wrong: float
    score: str  # "R2" or "accuracy"
    ours: float
    theirs: float
    lowest: float  # of the splits, of nimt
    spread: float  # of the difference over splits
    centers: float
    times: float  # their seconds, search included, divided by ours

    @property
    def difference(self) -> float:
        return self.ours - self.theirs

    @property
    def is_reached(self) -> bool:
        return self.difference >= ALLOWED[self.score]


def compare_tables(console, splits=SPLITS):
    rows = []
    for name, load in {**NUMBERS, **CLASSES}.items():
        for wrong in (0.0, 0.1):
            rows.append(compare_table(name, *load(), wrong, splits))
            console.print(f"  {name}, {wrong:.0%} wrong: {rows[-1].ours:.3f}, {rows[-1].theirs:.3f}", style="dim")
    absent = missing_tables()
    for name in INSIDE:
        if name in absent:
            console.print(f"  {name}: its package is not installed", style="dim")
            continue
        for wrong in (False, True):
            found = [split(name, seed, wrong) for seed in range(splits)]
            parts = [(one.X, one.test_X, one.y, one.test_y) for one in found]
            rows.append(compare_splits(name, parts, WRONG * wrong, classes=False))
            console.print(
                f"  {name}, {rows[-1].wrong:.0%} wrong: {rows[-1].ours:.3f}, {rows[-1].theirs:.3f}", style="dim"
            )
    return rows


def compare_table(name, X, y, wrong, splits):
    parts = []
    classes = name in CLASSES
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        fitted, other, labels, truth = train_test_split(
            X, y, test_size=0.25, random_state=seed, stratify=y if classes else None
        )
        scaler = StandardScaler().fit(fitted)
        fitted, other = scaler.transform(fitted), scaler.transform(other)
        parts.append((fitted, other, spoil(labels, wrong, classes, rng), truth))
    return compare_splits(name, parts, wrong, classes=classes)


def compare_splits(name, parts, wrong, *, classes):
    """Fit ours and the other to splits: features to fit and to test on, and the labels of both."""
    ours, theirs, centers, seconds = [], [], [], []
    for fitted, other, labels, truth in parts:
        model = nimt.GreedyKernelClassifier() if classes else nimt.GreedyKernelRegressor()
        rival = support_vectors(fitted) if classes else kernel_ridge(fitted)
        seconds.append([fit(model, fitted, labels), fit(rival, fitted, labels)])
        ours.append(model.score(other, truth))
        theirs.append(rival.score(other, truth))
        centers.append(len(model.centers_))
    one, two = np.sum(seconds, axis=0)
    return TableRow(
        name,
        len(fitted),
        wrong,
        "accuracy" if classes else "R2",
        float(np.mean(ours)),
        float(np.mean(theirs)),
        float(np.min(ours)),
        float(np.std(np.subtract(ours, theirs))),
        float(np.mean(centers)),
        two / one,
    )


def spoil(labels, share, classes, rng):
    """Return the labels with a share of them wrong: another class, or the label of another row."""
    labels = labels.copy()
    rows = rng.choice(len(labels), int(share * len(labels)), replace=False)
    if classes:
        count = labels.max() + 1
        labels[rows] = (labels[rows] + rng.integers(1, count, len(rows))) % count
    else:
        labels[rows] = rng.permutation(labels)[: len(rows)]
    return labels


def kernel_ridge(X):
    ridge = KernelRidge(kernel="rbf", gamma=1 / median_width(X) ** 2)
    centred = TransformedTargetRegressor(ridge, transformer=StandardScaler())
    return GridSearchCV(centred, {"regressor__alpha": np.logspace(-6, 2, 17)}, cv=5)


def support_vectors(X):
    return GridSearchCV(SVC(gamma=1 / median_width(X) ** 2), {"C": np.logspace(-2, 4, 13)}, cv=5)


def fit(model, X, y):
    began = time.process_time()
    model.fit(X, y)
    return time.process_time() - began


def cells(row):
    return (
        row.table,
        f"{row.rows:,}",
        f"{row.wrong:.0%}",
        row.score,
        f"{row.ours:.3f}",
        f"{row.theirs:.3f}",
        f"{row.difference:+.3f} ± {row.spread:.3f}",
        "yes" if row.is_reached else "no",
        f"{row.centers:.0f}",
        f"{row.times:.1f}",
    )


def draw_tables(rows):
    table = Table(title="the other: kernel ridge regression (R2) or support vectors (accuracy), tuned, with its kernel")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("table", "score", "goal") else "right")
    for row in rows:
        table.add_row(*cells(row))
    return table


def write_markdown(rows):
    lines = [
        COLUMNS,
        ["---" if column in ("table", "score", "goal") else "--:" for column in COLUMNS],
        *map(cells, rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

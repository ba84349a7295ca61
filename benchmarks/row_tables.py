"""The tables of `python -m benchmarks.rows`: of scikit-learn, made by formulas, and inside packages if installed."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.model_selection import train_test_split

from nimt.teaching_sets.models import make_preparation

TRAIN, TEST = 1000, 1000  # rows at most
WRONG = 0.1


@dataclass(frozen=True, eq=False)
class Split:
    """Prepared features and labels to choose from, and to test on; the labels of the test are never altered."""

    X: np.ndarray
    y: np.ndarray
    test_X: np.ndarray
    test_y: np.ndarray
    has_classes: bool


def _packaged(package, path):
    spec = find_spec(package)
    file = None if spec is None or spec.origin is None else Path(spec.origin).parent / path
    return file if file is not None and file.exists() else None


def diamonds():
    frame = pd.read_csv(_packaged("plotnine", "data/diamonds.csv"))
    return frame.drop(columns="price"), np.log(frame["price"].to_numpy())


def abalone():
    with zipfile.ZipFile(_packaged("sklego", "data/abalone.zip")) as archive:
        frame = pd.read_csv(archive.open(archive.namelist()[0]))
    return frame.drop(columns="rings"), frame["rings"].to_numpy(dtype=float)


def bikes():
    frame = pd.read_csv(_packaged("ISLP", "data/Bikeshare.csv"))
    wanted = ["mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "hum", "windspeed"]
    return frame[wanted], np.sqrt(frame["bikers"].to_numpy(dtype=float))


TABLES = {
    "diabetes": lambda seed: datasets.load_diabetes(return_X_y=True),
    "breast cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "wine": lambda seed: datasets.load_wine(return_X_y=True),
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "friedman1": lambda seed: datasets.make_friedman1(1500, noise=1.0, random_state=seed),
    "friedman2": lambda seed: datasets.make_friedman2(1500, noise=50.0, random_state=seed),
    "friedman3": lambda seed: datasets.make_friedman3(1500, noise=0.1, random_state=seed),
    "moons": lambda seed: datasets.make_moons(1500, noise=0.2, random_state=seed),
    "diamonds": lambda seed: diamonds(),
    "abalone": lambda seed: abalone(),
    "bikes": lambda seed: bikes(),
}
INSIDE = {"diamonds": ("plotnine", "data/diamonds.csv"), "abalone": ("sklego", "data/abalone.zip"),
          "bikes": ("ISLP", "data/Bikeshare.csv")}  # fmt: skip


def missing_tables():
    return [name for name, place in INSIDE.items() if _packaged(*place) is None]


def split(name, seed, wrong):
    """Return one split of a table; with `wrong`, a tenth of the labels to choose from are those of other rows."""
    X, y = TABLES[name](seed)
    has_classes = y.dtype.kind in "iu"
    X = X if isinstance(X, np.ndarray) else X.astype(dict.fromkeys(X.select_dtypes("number"), float))
    count = len(y)
    test = min(TEST, int(0.3 * count))
    parts = train_test_split(
        X, y, test_size=test, train_size=min(TRAIN, count - test), random_state=seed,
        stratify=y if has_classes else None,
    )  # fmt: skip
    train_X, test_X, train_y, test_y = parts
    preparation = make_preparation(train_X).fit(train_X)
    train_y = np.array(train_y)
    if wrong:
        rng = np.random.default_rng([seed, 7])
        rows = rng.permutation(len(train_y))[: round(WRONG * len(train_y))]
        train_y[rows] = np.roll(train_y[rows], 1)
    return Split(
        preparation.transform(train_X), train_y, preparation.transform(test_X), np.asarray(test_y), has_classes
    )

"""nimt beside libraries with a task near its own: `python -m benchmarks.neighbours`.

Each neighbour is measured on what it is made for. It needs `pip install scikit-activeml modAL-python coreax`; a library
that is not installed is left out, and the table says so. Seconds are processor time, after a first run that compiles.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import nimt

SEEDS = 5
LABELS = (50, 100, 200)  # examples at which accuracy is looked at
FIRST = 20  # drawn at random, the same for all
POINTS, CHOSEN, WIDTH = 4000, 100, 0.5


class Missing(Exception):
    """A library that is not installed."""


def needs(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        raise Missing(f"{name} is not installed") from None


# -- active learning: which rows are worth a label?


class Refitted(BaseEstimator):
    """Logistic regression that is fitted anew to all examples shown so far; it predicts probabilities."""

    def __init__(self, classes: int = 10) -> None:
        self.classes = classes

    def partial_fit(self, X, y):
        X, classes = np.asarray(X), np.argmax(y, axis=1)
        before = getattr(self, "shown_", (X[:0], classes[:0]))
        self.shown_ = (np.concatenate([before[0], X]), np.concatenate([before[1], classes]))
        self.model_ = model().fit(*self.shown_)
        return self

    def predict(self, X):
        found = np.zeros((len(X), self.classes))
        if hasattr(self, "model_"):
            found[:, self.model_.classes_] = self.model_.predict_proba(X)
        return found


def model() -> LogisticRegression:
    return LogisticRegression(max_iter=500, C=1.0)


def digits(seed: int):
    images, classes = load_digits(return_X_y=True)
    X, new, y, truth = train_test_split(images / 16.0, classes, test_size=0.4, random_state=seed, stratify=classes)
    first = np.random.default_rng(seed).choice(len(X), FIRST, replace=False)
    return X, y, new, truth, first


def by_nimt(teacher) -> Callable[..., dict[int, float]]:
    def run(seed: int) -> dict[int, float]:
        X, y, new, truth, first = digits(seed)
        target = np.eye(10)[y]
        learner = Refitted().partial_fit(X[first], target[first])
        walk = nimt.steps(learner, teacher, X, target, max_iterations=max(LABELS) - FIRST, tol=None, seed=seed)
        shown = list(first)
        accuracy = {}
        for _, selection, _ in walk:
            shown.append(int(selection.indices[0]))
            if len(shown) in LABELS:
                accuracy[len(shown)] = model().fit(X[shown], y[shown]).score(new, truth)
        return accuracy

    return run


def by_activeml(seed: int) -> dict[int, float]:
    needs("scikit-activeml")
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    X, y, new, truth, first = digits(seed)
    known = np.full(len(X), np.nan)
    known[first] = y[first]
    classifier = SklearnClassifier(model(), classes=np.arange(10), random_state=seed)
    strategy = UncertaintySampling(method="margin_sampling", random_state=seed)
    accuracy = {}
    for count in range(FIRST + 1, max(LABELS) + 1):
        asked = strategy.query(X, known, classifier, fit_clf=True)
        known[asked] = y[asked]
        if count in LABELS:
            labelled = ~np.isnan(known)
            accuracy[count] = model().fit(X[labelled], y[labelled]).score(new, truth)
    return accuracy


def by_modal(seed: int) -> dict[int, float]:
    needs("modAL-python")
    from modAL.models import ActiveLearner
    from modAL.uncertainty import margin_sampling

    X, y, new, truth, first = digits(seed)
    open_ = np.setdiff1d(np.arange(len(X)), first)
    active = ActiveLearner(model(), query_strategy=margin_sampling, X_training=X[first], y_training=y[first])
    accuracy = {}
    for count in range(FIRST + 1, max(LABELS) + 1):
        asked, _ = active.query(X[open_])
        active.teach(X[open_[asked]], y[open_[asked]])
        open_ = np.delete(open_, asked)
        if count in LABELS:
            accuracy[count] = active.score(new, truth)
    return accuracy


def active_learning() -> Table:
    table = Table(title=f"Labels for scikit-learn's digits, logistic regression, mean test accuracy over {SEEDS} seeds")
    for heading in ("chosen by", "knows the labels", *(f"{count} labels" for count in LABELS), "seconds per lesson"):
        table.add_column(heading, justify="left" if heading == "chosen by" else "right")
    ways = {
        "nimt, greedy": ("yes", by_nimt(nimt.GreedyTeacher())),
        "nimt, uncertainty": ("no", by_nimt(nimt.teachers.UncertaintyTeacher())),
        "nimt, random": ("no", by_nimt(nimt.RandomTeacher())),
        "scikit-activeml, uncertainty": ("no", by_activeml),
        "modAL, uncertainty": ("no", by_modal),
    }
    for name, (knows, way) in ways.items():
        try:
            began = time.process_time()
            found = [way(seed) for seed in range(SEEDS)]
            seconds = (time.process_time() - began) / SEEDS
        except (Missing, TypeError) as problem:  # a library may not run with today's scikit-learn
            table.add_row(name, knows, *("-" for _ in LABELS), str(problem))
            continue
        means = (np.mean([accuracy[count] for accuracy in found]) for count in LABELS)
        table.add_row(name, knows, *(f"{mean:.1%}" for mean in means), f"{seconds:.1f}")
    return table


# -- coresets: which points stand for all of them?


def cloud(seed: int = 0):
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-2, 2, size=(6, 2))
    points = centres[rng.integers(6, size=POINTS)] + 0.3 * rng.normal(size=(POINTS, 2))
    return points, np.sin(3 * points[:, 0]) * np.cos(2 * points[:, 1])


def distance_of_means(points, chosen) -> float:
    """Return the maximum mean discrepancy of the chosen points, all of equal weight."""
    kernel = nimt.rbf(WIDTH)
    within = kernel(points[chosen]).mean()
    across = kernel(points, points[chosen]).mean()
    return float(np.sqrt(max(0.0, within - 2 * across + kernel(points).mean())))


def error_of_fit(points, heights, chosen) -> float:
    """Return the RMS error of the interpolation from the chosen points, at all of them."""
    learner = nimt.learners.OrthogonalLearner(nimt.rbf(WIDTH), regularisation=1e-10)
    learner.partial_fit(points[chosen], heights[chosen])
    return float(np.sqrt(np.mean((learner.predict(points) - heights) ** 2)))


def greedy_centres(points, heights):
    learner = nimt.learners.OrthogonalLearner(nimt.rbf(WIDTH), regularisation=1e-10)
    lesson = nimt.teach(learner, nimt.GreedyTeacher(), points, heights, max_iterations=CHOSEN, tol=None)
    return lesson.indices[:, 0]


def herded(points, heights):
    needs("coreax")
    import jax.numpy as jnp
    from coreax import Data
    from coreax.kernels import SquaredExponentialKernel
    from coreax.solvers import KernelHerding

    solver = KernelHerding(CHOSEN, kernel=SquaredExponentialKernel(length_scale=WIDTH / np.sqrt(2)))
    coreset, _ = solver.reduce(Data(jnp.asarray(points)))
    return np.asarray(coreset.indices.data).ravel().astype(int)


def at_random(points, heights):
    return np.random.default_rng(1).choice(POINTS, CHOSEN, replace=False)


def coresets() -> Table:
    table = Table(title=f"{CHOSEN} of {POINTS:,} points of the plane")
    for heading in ("chosen by", "MMD to all points", "RMS error of the interpolated function", "seconds"):
        table.add_column(heading, justify="left" if heading == "chosen by" else "right")
    points, heights = cloud()
    ways = {"nimt, greedy": greedy_centres, "coreax, kernel herding": herded, "at random": at_random}
    for name, way in ways.items():
        try:
            way(points, heights)  # compiles
            began = time.process_time()
            chosen = way(points, heights)
            seconds = time.process_time() - began
        except Missing as problem:
            table.add_row(name, "-", "-", str(problem))
            continue
        mmd, error = distance_of_means(points, chosen), error_of_fit(points, heights, chosen)
        table.add_row(name, f"{mmd:.4f}", f"{error:.4f}", f"{seconds:.3f}")
    return table


def main() -> None:
    console = Console(width=120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        console.print(active_learning(), coresets())


if __name__ == "__main__":
    main()

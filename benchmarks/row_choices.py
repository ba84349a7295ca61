"""Rows chosen by other means, in order: facility location, kernel herding, and scikit-activeml where installed."""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.spatial.distance import cdist

ACTIVE = "active learning"


def can_run(name):
    return name != ACTIVE or find_spec("skactiveml") is not None


def describe_missing():
    return [] if can_run(ACTIVE) else ["scikit-activeml is not installed: no active learning"]


def facility_location(split, size, seed):
    """The greedy rule of apricot in NumPy: the next row adds most to the similarity of rows to their nearest chosen.

    apricot compiles for seconds at every call, and chooses the same rows (a test compares them).
    """
    similar = cdist(split.X, split.X)
    similar = similar.max() - similar
    nearest, chosen = np.zeros(len(similar)), []
    for _ in range(size):
        gains = np.maximum(similar - nearest, 0.0).sum(axis=1)
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        nearest = np.maximum(nearest, similar[chosen[-1]])
    return np.array(chosen)


def herding(split, size, seed):
    """Kernel herding [Chen10] in NumPy: far from the rows chosen, near to all rows; coreax chooses the same."""
    distance = cdist(split.X, split.X, "sqeuclidean")
    kernel = np.exp(-distance / np.median(distance))
    mean, taken, chosen = kernel.mean(axis=1), np.zeros(len(kernel)), []
    for count in range(size):
        scores = mean - taken / (count + 1)
        scores[chosen] = -np.inf
        chosen.append(int(np.argmax(scores)))
        taken += kernel[chosen[-1]]
    return np.array(chosen)


def active_learning(split, size, seed):
    """Uncertainty sampling with logistic regression for classes, greedy sampling of features for numbers."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import GreedySamplingX, UncertaintySampling
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng([seed, 3])
    labels = np.full(len(split.y), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not split.has_classes:
            chosen = GreedySamplingX(random_state=seed).query(split.X, labels, batch_size=size)
            return np.asarray(chosen, dtype=int)
        chosen = list(rng.permutation(len(labels))[:10])
        model = SklearnClassifier(LogisticRegression(max_iter=300), classes=np.unique(split.y))
        while len(chosen) < size:
            labels[chosen] = split.y[chosen]
            pack = min(size - len(chosen), max(1, len(chosen) // 3))
            chosen += list(UncertaintySampling(random_state=seed).query(split.X, labels, model, batch_size=pack))
    return np.array(chosen, dtype=int)


CHOICES = {"facility location": facility_location, "kernel herding": herding, ACTIVE: active_learning}

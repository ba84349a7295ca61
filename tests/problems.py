"""The lessons the tests teach, defined once: those of the paper, and small ones made from a seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import nimt


def normal(x, mean, deviation):
    return np.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * np.sqrt(2 * np.pi))


def bump(x, center):
    return np.exp(-(((x - center) / 0.5) ** 2))


@dataclass(frozen=True, eq=False)
class Problem:
    """A pool, a start and a target, and how fast the learner learns."""

    axes: tuple[np.ndarray, ...]
    initial: Any
    target: Any
    loss: str = "square"
    learning_rate: float = 0.01
    width: float = 0.5
    tol: float = 1e-4
    kernel: Any = field(default=None)

    @property
    def pool(self):
        return nimt.Grid(*self.axes)

    def learner(self, **changes):
        options = {"loss": self.loss, "learning_rate": self.learning_rate, "initial": self.initial} | changes
        return nimt.KernelLearner(self.kernel or nimt.rbf(self.width), **options)

    def teach(self, teacher=None, **options):
        return nimt.teach(self.learner(), teacher or nimt.GreedyTeacher(), self.pool, self.target, **options)


MIXTURE = Problem(
    axes=(np.arange(-14, 14, 0.1),),
    initial=lambda x: normal(x, -10, 1),
    target=lambda x: normal(x, -2, 1) / 3 + 2 * normal(x, 2, 1) / 3,
)


def two_bumps(x):
    return bump(x, 0.5) + bump(x, -0.5)


LINE_UP = Problem(axes=(np.arange(-1, 1, 0.1),), initial=two_bumps, target=lambda x: x + 1)
LINE_DOWN = Problem(axes=(np.arange(-1, 1, 0.1),), initial=two_bumps, target=lambda x: -x + 1)

TEN = np.arange(0, 10, 1.0)


def plane(x):
    return x[:, 0] + x[:, 1] - 8


def bowl(x):
    return (x[:, 0] - 5) ** 2 + (x[:, 1] - 5) ** 2


PLANE_FROM_ABOVE = Problem(axes=(TEN, TEN), initial=lambda x: -bowl(x), target=plane)
PLANE_FROM_BELOW = Problem(axes=(TEN, TEN), initial=bowl, target=plane)

BOUNDARY = Problem(
    axes=(np.arange(-1, 1, 0.01),),
    initial=lambda x: -bump(x, 0.3) + bump(x, -0.6),
    target=lambda x: bump(x, 0.5) - bump(x, -0.5),
    loss="hinge",
    learning_rate=0.001,
    tol=1e-3,
)


def scattered(n=12, dimension=2, seed=0):
    """Return n read-only points, a target and an initial function on them, nothing tied with anything."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, size=(n, dimension))
    target, initial = rng.normal(size=n), rng.normal(size=n)
    for array in (points, target, initial):
        array.flags.writeable = False
    return points, target, initial


def small_lesson(teacher=None, learner=None, **options):
    """Teach a dozen scattered points; every option of `teach` may be given."""
    points, target, _ = scattered()
    learner = learner or nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2)
    options = {"max_iterations": 25, "tol": None} | options
    return nimt.teach(learner, teacher or nimt.GreedyTeacher(), points, target, **options)


RECORDED = ("discrepancy", "indices", "labels", "picks", "final", "initial", "target")


def assert_same_lesson(one, other):
    """Compare two lessons bit by bit, all but the seconds they took."""
    for name in RECORDED:
        a, b = getattr(one, name), getattr(other, name)
        if a is None or b is None:
            assert a is b, name
        else:
            np.testing.assert_array_equal(a, b, err_msg=name, strict=True)
    assert one.outcome is other.outcome
    assert one.itd == other.itd
    assert one.record == other.record
    assert list(one.snapshots) == list(other.snapshots)
    for step in one.snapshots:
        np.testing.assert_array_equal(one.snapshots[step], other.snapshots[step])

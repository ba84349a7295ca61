"""A lesson as plain numbers: all that the oracle knows of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Problem:
    """What is taught to whom, and when it stops.

    Kernels, losses, starts, schedules and teachers are tuples or dicts that begin with a name, for example
    ("gauss", 0.5), ("huber", 1.0), ("number", 0.0), ("linear", 1, 5, None, None), {"kind": "greedy", "k": 1}.
    """

    axes: list[np.ndarray] | None  # of a grid, None for scattered points
    points: np.ndarray  # (n, d)
    kernel: tuple[Any, ...]
    loss: tuple[Any, ...]
    rate: Any  # a number, "auto", or ("decay", first, power)
    start: tuple[Any, ...]  # ("number", v), ("function", Waves), ("table", values), ("weights", w, intercept)
    target: np.ndarray  # (n, q)
    teacher: dict[str, Any]
    rules: dict[str, Any]
    probes: np.ndarray  # (m, d), points at which the taught learner is asked
    holdout: tuple[np.ndarray, np.ndarray] | None = None
    learner: str = "kernel"  # or "linear", "classroom"
    members: list[tuple[Any, Any]] = field(default_factory=list)  # kernel and rate of each learner of a class
    chunks: list[int] = field(default_factory=list)  # given step by step in chunks of these sizes; [] for in one go
    box: Any = None  # bounds and points per axis; `target` is then a function

    @property
    def q(self) -> int:
        return self.target.q if isinstance(self.target, Waves) else self.target.shape[1]

    def rate_at(self, step: int, automatic: float | None) -> float:
        if self.rate == "auto":
            assert automatic is not None
            return automatic
        return number_at(self.rate, step)


def number_at(rate: Any, step: int) -> float:
    return rate[1] / (1 + step) ** rate[2] if isinstance(rate, tuple) else rate


class Waves:
    """A smooth function with q outputs, as users write one: values (n,) for one output, (n, q) for several."""

    def __init__(self, frequencies: np.ndarray, phases: np.ndarray, size: float) -> None:
        self.frequencies, self.phases, self.size = frequencies, phases, size  # (d, q), (q,)
        self.q = len(phases)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        values = self.rows(points)
        return values[:, 0] if self.q == 1 else values

    def rows(self, points: np.ndarray) -> np.ndarray:
        rows = np.asarray(points)[
            :, :, np.newaxis
        ]  # no matrix product: it rounds differently with the number of points
        return self.size * np.sin(sum(rows[:, i] * self.frequencies[i] for i in range(rows.shape[1])) + self.phases)


def start_at(problem: Problem, points: np.ndarray) -> np.ndarray:
    """Return f^0 at any points, (m, q); values on a grid are linear along each axis between its points."""
    kind, *rest = problem.start
    if kind == "number":
        return np.full((len(points), problem.q), float(rest[0]))
    if kind == "function":
        return np.array(rest[0].rows(points))
    if kind == "weights":
        weights, intercept = rest
        total = np.array([sum(w * x for w, x in zip(weights, point, strict=False)) for point in points])
        return (total + (weights[-1] if intercept else 0.0))[:, np.newaxis]
    if points is problem.points:
        return np.array(rest[0])
    if problem.axes is None:
        known: dict[tuple[float, ...], np.ndarray] = {}
        for point, row in zip(problem.points.tolist(), rest[0], strict=True):
            known.setdefault(tuple(point), row)  # of a point that occurs twice, the first value
        return np.array([known[tuple(point)] for point in points.tolist()]).reshape(len(points), problem.q)
    table = rest[0].reshape(*map(len, problem.axes), problem.q)
    return np.array([between(problem.axes, table, point) for point in points]).reshape(len(points), problem.q)


def between(axes: list[np.ndarray], table: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Interpolate along the first axis, and there along the others."""
    if not axes:
        return table
    axis, x = axes[0], point[0]
    for i in range(len(axis)):
        if axis[i] == x or len(axis) == 1:
            return between(axes[1:], table[i], point[1:])
    i = next(i for i in range(len(axis) - 1) if min(axis[i], axis[i + 1]) < x < max(axis[i], axis[i + 1]))
    share = (x - axis[i]) / (axis[i + 1] - axis[i])
    low, high = (between(axes[1:], table[j], point[1:]) for j in (i, i + 1))
    return low + share * (high - low)

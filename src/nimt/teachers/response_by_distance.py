"""How a learner's values change with the distance from an example, from what a few examples did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from nimt.arrays import Array, Indices
from nimt.kernels import CUT, Radial

EQUAL = 1e-9  # of the largest distance: nearer distances are one
ROUNDING = 1e-12  # of the largest response: smaller ones are taken as 0, since they may be rounding of f
SURPRISING = 0.5  # the share of a response that the others may predict wrongly


@dataclass(frozen=True, eq=False)
class ResponseByDistance:
    """The mean response at every distance seen, straight lines between, 0 beyond.

    Attributes
    ----------
    distances, responses : arrays (m,)
        Ascending distances, and what was seen there.
    surprise : float
        By how much the response to one example differs from what the others predict, as a share of it: the largest.
    """

    distances: Array
    responses: Array
    surprise: float

    @classmethod
    def of(cls, points: Array, shown: Indices, columns: Array) -> Self:
        """Estimate from the points shown and the responses of all points to each, (m, n)."""
        apart = np.array([distances_from(points, points[index]) for index in shown])
        surprise = 0.0
        for one in range(len(shown)):
            others = np.arange(len(shown)) != one
            known, means = mean_by_distance(apart[others], columns[others])
            seen = apart[one] <= known[-1]
            missed = np.interp(apart[one], known, means)[seen] - columns[one][seen]
            size = float(np.linalg.norm(columns[one][seen]))
            surprise = max(surprise, float(np.linalg.norm(missed)) / size if size > 0 else np.inf)
        distances, means = mean_by_distance(apart, columns)
        return cls(distances, np.where(np.abs(means) > ROUNDING * np.abs(means).max(), means, 0.0), surprise)

    @property
    def agrees(self) -> bool:
        return self.surprise <= SURPRISING

    @property
    def kernel(self) -> EstimatedResponse:
        """The response between any two points."""
        return EstimatedResponse(self.distances, self.responses)


@dataclass(frozen=True, eq=False)
class EstimatedResponse(Radial):
    """A response that was seen at some distances, as a kernel: straight lines between them, 0 beyond.

    Examples
    --------
    >>> response = EstimatedResponse(np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0]))
    >>> response([[0.0]], [[0.0], [0.5], [3.0]]), response.reach()
    (array([[1.  , 0.75, 0.  ]]), 2.0)
    """

    distances: Array
    responses: Array

    def at_distance(self, distance: Array) -> Array:
        return np.asarray(np.interp(distance, self.distances, self.responses, right=0.0))

    def reach(self, cut: float = CUT) -> float:
        seen = np.flatnonzero(self.responses)
        last = int(seen[-1]) + 1 if len(seen) else 0
        return float(self.distances[min(last, len(self.distances) - 1)])

    def __repr__(self) -> str:
        return f"EstimatedResponse({len(self.distances)} distances)"


def distances_from(points: Array, x: Array) -> Array:
    """Return the distances of points from one."""
    return np.asarray(np.sqrt(((points - x) ** 2).sum(axis=1)))


def mean_by_distance(apart: Array, values: Array) -> tuple[Array, Array]:
    """Return ascending distances and the mean of the values at each.

    Examples
    --------
    >>> mean_by_distance(np.array([0.0, 2.0, 1.0, 2.0]), np.array([1.0, 0.25, 0.5, 0.75]))
    (array([0., 1., 2.]), array([1. , 0.5, 0.5]))
    """
    flat, order = apart.ravel(), np.argsort(apart, axis=None, kind="stable")
    ascending, of = flat[order], values.ravel()[order]
    new = np.concatenate([[True], np.diff(ascending) > EQUAL * max(float(ascending[-1]), np.finfo(float).tiny)])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(flat)))
    return np.asarray(ascending[starts]), np.asarray(np.add.reduceat(of, starts) / counts)

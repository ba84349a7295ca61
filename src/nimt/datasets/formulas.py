"""The formulas of the paper: targets, initial functions of the learners, and pools; those with a name can be stored.

Functions take points (n, d) and return (n,); a curve reads the first variable only [Zhang23, Sec. 5, App. C and D].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nimt.arrays import Array
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid


def normal_density(x: Array, mean: float) -> Array:
    """Return the density of the normal distribution with deviation 1, exp(-(x - mean)^2 / 2) / sqrt(2 pi)."""
    return np.asarray(np.exp(-((x - mean) ** 2) / 2) / np.sqrt(2 * np.pi))


def bump(x: Array, centre: float) -> Array:
    """Return exp(-((x - centre) / 0.5)^2); the paper's formulas of the boundary lack the minus."""
    return np.asarray(np.exp(-(((x - centre) / 0.5) ** 2)))


def mixture_pool() -> Grid:
    """Return 280 points from -14 to 13.9."""
    return Grid(np.arange(-14, 14, 0.1))


def mixture(points: Array) -> Array:
    """Return N(x; -2, 1) / 3 + 2 N(x; 2, 1) / 3.

    Examples
    --------
    >>> mixture(np.array([[-2.0], [2.0]])).round(4)
    array([0.1331, 0.266 ])
    """
    return normal_density(points[:, 0], -2.0) / 3 + 2 * normal_density(points[:, 0], 2.0) / 3


def mixture_start(points: Array) -> Array:
    """Return N(x; -10, 1), which hardly overlaps the mixture."""
    return normal_density(points[:, 0], -10.0)


def boundary_pool() -> Grid:
    """Return 200 points from -1 to 0.99."""
    return Grid(np.arange(-1, 1, 0.01))


def boundary(points: Array) -> Array:
    """Return exp(-((x - 0.5) / 0.5)^2) - exp(-((x + 0.5) / 0.5)^2), the boundary that is taught.

    Examples
    --------
    >>> boundary(np.array([[0.0], [0.5]])).round(4)
    array([0.    , 0.9817])
    """
    return bump(points[:, 0], 0.5) - bump(points[:, 0], -0.5)


def boundary_start(points: Array) -> Array:
    """Return -exp(-((x - 0.3) / 0.5)^2) + exp(-((x + 0.6) / 0.5)^2), the boundary that the learner starts with."""
    return bump(points[:, 0], -0.6) - bump(points[:, 0], 0.3)


def line_pool() -> Grid:
    """Return 20 points from -1 to 0.9."""
    return Grid(np.arange(-1, 1, 0.1))


def line(slope: float, intercept: float) -> Callable[[Array], Array]:
    """Return the function slope x + intercept.

    Examples
    --------
    >>> line(-1.0, 1.0)(np.array([[0.0], [3.0]]))
    array([ 1., -2.])
    """
    return lambda points: slope * points[:, 0] + intercept


def two_bumps(points: Array) -> Array:
    """Return exp(-((x - 0.5) / 0.5)^2) + exp(-((x + 0.5) / 0.5)^2), where the learner of a line starts."""
    return bump(points[:, 0], 0.5) + bump(points[:, 0], -0.5)


def plane_pool() -> Grid:
    """Return 10 x 10 points, 0 to 9 along each axis."""
    return Grid(np.arange(0.0, 10.0, 1.0), np.arange(0.0, 10.0, 1.0))


def plane(points: Array) -> Array:
    """Return x1 + x2 - 8."""
    return points[:, 0] + points[:, 1] - 8.0


def bowl(sign: float) -> Callable[[Array], Array]:
    """Return the function sign ((x1 - 5)^2 + (x2 - 5)^2), where the learner of the plane starts."""
    return lambda points: sign * ((points[:, 0] - 5.0) ** 2 + (points[:, 1] - 5.0) ** 2)


def sine(points: Array) -> Array:
    """Return sin(x) of the first variable."""
    return np.asarray(np.sin(points[:, 0]))


def sine_pool() -> Grid:
    """Return 120 points from -3 to 2.95, nearly one period."""
    return Grid(np.arange(-3, 3, 0.05))


FORMULAS: dict[str, Callable[[Array], Array]] = {
    "gmm": mixture,
    "gmm:start": mixture_start,
    "boundary": boundary,
    "boundary:start": boundary_start,
    "sine": sine,
}


@dataclass(frozen=True)
class NamedFormula:
    """A formula by its name: a function that a file can hold, so that a learner that starts from it predicts anywhere.

    Parameters
    ----------
    name : {"gmm", "gmm:start", "boundary", "boundary:start", "sine"}

    Examples
    --------
    >>> NamedFormula("sine")(np.array([[0.0], [np.pi / 2]]))
    array([0., 1.])
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in FORMULAS:
            raise InvalidInput(f"{self.name!r} is no formula with a name; there are {', '.join(FORMULAS)}")

    def __call__(self, points: Array) -> Array:
        return FORMULAS[self.name](points)

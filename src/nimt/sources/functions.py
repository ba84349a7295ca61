"""Functions known by name: the paper's, and what ships with nimt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nimt import datasets
from nimt.errors import InvalidInput
from nimt.pools import Grid, values_on
from nimt.sources.source import Source

Array = NDArray[np.float64]


def normal_density(x: Array, mean: float, deviation: float) -> Array:
    """Return the density of a normal distribution, exp(-((x - mean) / deviation)^2 / 2) / (deviation sqrt(2 pi))."""
    return np.asarray(np.exp(-0.5 * ((x - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi)))


def mixture(points: Array) -> Array:
    """N(-2, 1) / 3 + 2 N(2, 1) / 3, the paper's 1-D target [Zhang23, Sec. 5.1]."""
    return normal_density(points[:, 0], -2.0, 1.0) / 3 + 2 * normal_density(points[:, 0], 2.0, 1.0) / 3


def far_bump(points: Array) -> Array:
    """N(-10, 1), where the paper's learner of the mixture starts."""
    return normal_density(points[:, 0], -10.0, 1.0)


def boundary(points: Array) -> Array:
    """exp(-((x - 0.5) / 0.5)^2) - exp(-((x + 0.5) / 0.5)^2), the paper's decision boundary."""
    return np.asarray(np.exp(-(((points[:, 0] - 0.5) / 0.5) ** 2)) - np.exp(-(((points[:, 0] + 0.5) / 0.5) ** 2)))


def boundary_start(points: Array) -> Array:
    """-exp(-((x - 0.3) / 0.5)^2) + exp(-((x + 0.6) / 0.5)^2), where its learner starts."""
    return np.asarray(-np.exp(-(((points[:, 0] - 0.3) / 0.5) ** 2)) + np.exp(-(((points[:, 0] + 0.6) / 0.5) ** 2)))


def sine(points: Array) -> Array:
    """sin(x) of the first variable."""
    return np.asarray(np.sin(points[:, 0]))


CURVES: dict[str, tuple[Callable[[Array], Array], Callable[[], Grid], str]] = {
    "gmm": (mixture, lambda: Grid(np.arange(-14, 14, 0.1)), "the paper's mixture of two normal densities"),
    "gmm:start": (far_bump, lambda: Grid(np.arange(-14, 14, 0.1)), "where the paper's learner of it starts"),
    "boundary": (boundary, lambda: Grid(np.arange(-1, 1, 0.01)), "the paper's decision boundary"),
    "boundary:start": (boundary_start, lambda: Grid(np.arange(-1, 1, 0.01)), "where its learner starts"),
    "sine": (sine, lambda: Grid(np.arange(-3, 3, 0.05)), "one period of the sine, nearly"),
}
PICTURES: dict[str, tuple[Callable[[], datasets.Picture], str]] = {
    "digit:0": (datasets.mean_zero, "the mean of MNIST's zeros, 28 x 28"),
    "digit:8": (datasets.first_eight, "the first eight of MNIST, 28 x 28"),
    "cat": (datasets.cat, "a cat, 92 x 92, standardised"),
    "face:1": (lambda: datasets.portraits()[0], "a portrait, standardised"),
    "face:2": (lambda: datasets.portraits()[1], "another portrait, standardised"),
}
NAMES: dict[str, str] = {
    "zero": "0 everywhere, on the points of the other function",
    **{name: says for name, (_, _, says) in CURVES.items()},
    **{name: says for name, (_, says) in PICTURES.items()},
}


def named_function(name: str) -> Source:
    """Return the function of that name.

    Examples
    --------
    >>> named_function("gmm").pool
    Grid(280)
    """
    if name == "zero":
        return Source(name, function=lambda points: np.zeros(len(points)))
    if name in CURVES:
        function, home, _ = CURVES[name]
        pool = home()
        return Source(name, pool, values_on(pool, function, name), function, dimension=1)
    if name in PICTURES:
        values = PICTURES[name][0]().values
        grid = Grid.like(values)
        return Source(name, grid, values_on(grid, values, name), dimension=2)
    raise InvalidInput(f"{name!r} is no function known by name; there are {', '.join(NAMES)}")

"""Functions with a name: those of the paper, and those that ship with nimt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nimt import datasets
from nimt.datasets import formulas as problems
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid, values_on
from nimt.sources.source import Source

CURVES: dict[str, tuple[Callable[[], Grid], str]] = {
    "gmm": (problems.mixture_pool, "the paper's mixture of two normal densities"),
    "gmm:start": (problems.mixture_pool, "where the paper's learner of it starts"),
    "boundary": (problems.boundary_pool, "the paper's decision boundary"),
    "boundary:start": (problems.boundary_pool, "where its learner starts"),
    "sine": (problems.sine_pool, "one period of the sine, nearly"),
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
    **{name: says for name, (_, says) in CURVES.items()},
    **{name: says for name, (_, says) in PICTURES.items()},
}


def find_function(name: str) -> Source:
    """Return the function of that name.

    Examples
    --------
    >>> find_function("gmm").pool
    Grid(280)
    """
    if name == "zero":
        return Source(name, function=lambda points: np.zeros(len(points)), start=0.0)
    if name in CURVES:
        function = problems.NamedFormula(name)
        pool = CURVES[name][0]()
        return Source(name, pool, values_on(pool, function, name), function, dimension=1, start=function)
    if name in PICTURES:
        values = PICTURES[name][0]().values
        grid = Grid.like(values)
        return Source(name, grid, values_on(grid, values, name), dimension=2)
    raise InvalidInput(f"{name!r} is not a function known by name; there are {', '.join(NAMES)}")

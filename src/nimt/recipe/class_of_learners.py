"""A class in text: in what its learners differ, and the target once for each of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.learners.classroom import Classroom
from nimt.learners.kernel_learner import KernelLearner
from nimt.learners.learner import auto_rate
from nimt.losses import as_loss
from nimt.named_code import read_options
from nimt.recipe.fields import read_number

if TYPE_CHECKING:
    from nimt.learners.learner import InitialFunction
    from nimt.pools.pool import Pool
    from nimt.recipe.recipe import Recipe
    from nimt.sources import Problem

    Taught = TypeVar("Taught", bound=Problem)

PARTS = ("rate", "width", "start")
USUAL_SHARES = (1.0, 0.5, 0.25)  # of the learning rate: three learners of which each is half as quick
MOST_LEARNERS = 100


def read_pupils(text: str | None) -> dict[str, list[float]]:
    """Return in what the learners of a class differ, one number per learner; {} where nothing is said.

    Examples
    --------
    >>> read_pupils("rate=0.01:0.05,start=0:1")
    {'rate': [0.01, 0.05], 'start': [0.0, 1.0]}
    """
    found: dict[str, list[float]] = {}
    for name, value in read_options("pupils", text).items():
        if name not in PARTS:
            raise InvalidInput(f"has {', '.join(PARTS)}, each as rate=0.01:0.05, got {name!r}", parameter="pupils")
        found[name] = [read_number("pupils", part) for part in str(value).split(":")]
        if name != "start" and min(found[name]) <= 0:
            raise InvalidInput(f"has a {name} that is not above 0, {min(found[name]):g}", parameter="pupils")
    counts = {len(numbers) for numbers in found.values()}
    if len(counts) > 1:
        said = ", ".join(f"{len(numbers)} of {name}" for name, numbers in found.items())
        raise InvalidInput(f"must have as many numbers in each part, got {said}", parameter="pupils")
    if counts and not 2 <= min(counts) <= MOST_LEARNERS:
        raise InvalidInput(
            f"must have from 2 to {MOST_LEARNERS} learners, such as rate=0.01:0.05, got {min(counts)}",
            parameter="pupils",
        )
    return found


def count_pupils(recipe: Recipe) -> int:
    """Return how many learners the class has."""
    return max((len(numbers) for numbers in read_pupils(recipe.pupils).values()), default=len(USUAL_SHARES))


def make_class(recipe: Recipe, pool: Pool, start: InitialFunction) -> Classroom:
    """Return the class; a start (n, N) has a column for each learner, and another one is that of all who have none."""
    told, count = read_pupils(recipe.pupils), count_pupils(recipe)
    loss = recipe.make_loss() or defaults.LOSS
    kernels = [recipe.make_kernel(pool)] * count
    if "width" in told:
        kernels = [dataclasses.replace(recipe, width=width).make_kernel(pool) for width in told["width"]]
        if len(set(told["width"])) > len({repr(kernel) for kernel in kernels}):
            raise InvalidInput(
                f"has widths, and the kernel {recipe.kernel} has its own", parameter="pupils", way_out="leave one out"
            )
    usual = recipe.rate
    rates = [auto_rate(as_loss(loss), one.diag(pool.points)) if isinstance(usual, str) else usual for one in kernels]
    if not told:
        rates = [share * rate for share, rate in zip(USUAL_SHARES, rates, strict=True)]
    rates = told.get("rate", rates)
    if isinstance(start, np.ndarray) and start.ndim == 2:
        starts: list[Any] = list(start.T)
    else:
        starts = list(told.get("start", [start] * count))
    return Classroom(
        [
            KernelLearner(kernel, loss=loss, learning_rate=rate, initial=initial, **recipe.learner_parameters())
            for kernel, rate, initial in zip(kernels, rates, starts, strict=True)
        ]
    )


def repeat_problem(recipe: Recipe, problem: Taught) -> Taught:
    """Return the problem with target and start once per learner of the class, as a column each."""
    if problem.preparation is not None:
        raise InvalidInput(
            "the learner classroom is for functions, arrays and pictures, not for tables",
            way_out="use nimt.learners.Classroom in Python, or --learner kernel",
        )
    if problem.target.ndim > 1:
        raise InvalidInput(
            f"the learner classroom is for targets of one output, and this one has {problem.target.shape[1]}",
            way_out="teach the brightness of a colour picture, --grey",
        )
    count = count_pupils(recipe)

    def repeat(values: Any) -> Any:
        return None if values is None else np.repeat(values[:, np.newaxis], count, axis=1)

    initial = repeat(problem.initial)
    initial[:] = read_pupils(recipe.pupils).get("start", initial)
    return dataclasses.replace(
        problem, target=repeat(problem.target), initial=initial, other_target=repeat(problem.other_target)
    )

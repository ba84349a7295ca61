"""A width for the kernel of a table, chosen by short lessons of the learner that is then taught."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING

import numpy as np

from nimt import defaults
from nimt.estimators.held_out_width import FACTORS
from nimt.estimators.width import median_width
from nimt.kernels import reach
from nimt.measures import as_measure
from nimt.task.options import settle_tolerance
from nimt.wording import Watcher, be_silent

if TYPE_CHECKING:
    from nimt.recipe.recipe import Recipe
    from nimt.sources import Problem

ROWS = 500  # that are taught, and as many that are not
STEPS = 20_000  # of one output; fewer of several, which take longer
STEPS_OF_CLASSES = 2_000  # the accuracy is measured after each, and reached within hundreds where it is at all


def choose_taught_width(recipe: Recipe, problem: Problem, watch: Watcher = be_silent) -> float:
    """Return the width whose learner errs least on rows that it was not taught, the widest where several do.

    Six widths around the median distance of two rows are tried, each with a lesson of the run's budget on at most 500
    rows. A wide kernel may fit better and learn so slowly that the budget ends first, so fits do not tell. The teacher
    is the random one where the run has it, and otherwise the greedy one, with one example per step.

    Examples
    --------
    >>> from nimt.recipe.recipe import Recipe
    >>> from nimt.pools.pool import Points
    >>> from nimt.sources import Problem
    >>> x = np.random.default_rng(0).uniform(-3, 3, size=(200, 1))
    >>> problem = Problem(Points(x), np.sin(3 * x[:, 0]), np.zeros(200))
    >>> bool(0.2 < choose_taught_width(Recipe(target="a table", iterations=500), problem) < 2.5)
    True
    """
    points = problem.pool.points
    order = np.random.default_rng(0).permutation(len(points))
    half = min(ROWS, len(points) // 2)
    middle = median_width(points)
    if half < 2:
        return middle
    widths = [factor * middle for factor in FACTORS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the lesson itself warns of what is true of the width it gets
        found = []
        for number, width in enumerate(widths):
            watch(f"trying {len(widths)} widths of the kernel, {number + 1} of {len(widths)}")
            one = dataclasses.replace(recipe, width=width)
            found.append(_error(one, problem, order[:half], order[half : 2 * half]))
    errors = np.array(found)
    return widths[int(np.flatnonzero(errors == errors.min())[-1])]


def _error(recipe: Recipe, problem: Problem, taught: np.ndarray, other: np.ndarray) -> float:
    """Return the share of wrong answers of classes, otherwise the root mean square error; infinite if it diverges."""
    from nimt.lesson.held_out import error_on
    from nimt.pools.pool import Points
    from nimt.teaching.lessons import teach

    few = dataclasses.replace(
        problem, pool=Points(problem.pool.points[taught]), target=problem.target[taught], other_target=None
    )
    one = dataclasses.replace(recipe, pool=None, communicate=None, communicate_until=None)
    # of the whole problem: its pool says which numbers are classes, and greedy by residual is no teacher of these
    whole = dataclasses.replace(problem, other_target=None)
    teacher = one.make_teacher(whole, "random" if recipe.teacher == "random" else "greedy", "1")
    outputs = max(1, problem.target.size // len(problem.target))
    by_classes = recipe.measure == "accuracy"  # a lesson that ends at an accuracy is much shorter than by an error
    learner = one.make_learner(few.pool, few.start)
    lesson = teach(
        learner,
        teacher,
        few.pool,
        few.target,
        max_iterations=min(recipe.iterations, STEPS_OF_CLASSES if by_classes else STEPS // outputs),
        tol=recipe.tolerance if by_classes else _tolerance(recipe, problem.target),
        measure="accuracy" if by_classes else "rms",
        seed=0,
        # lists of all pairs of so few rows are built in 20 ms, and a step takes a tenth of what a stored column takes
        engine="neighbours" if not by_classes and np.isfinite(reach(one.make_kernel(few.pool))) else "auto",
    )
    with np.errstate(all="ignore"):
        found = error_on(np.asarray(lesson.taught.predict(problem.pool.points[other])), problem.target[other])
        error = found.rms if found.accuracy is None else 1.0 - found.accuracy
    return error if np.isfinite(error) else np.inf


def _tolerance(recipe: Recipe, target: np.ndarray) -> float | None:
    """Return the tolerance of the run as a root mean square error, None where the measure has another unit."""
    measure, rms = as_measure(recipe.measure or defaults.MEASURE), as_measure("rms")
    tol = settle_tolerance(recipe.tolerance, measure, target, 0.0 * target)
    unit, wanted = measure.scale(target), rms.scale(target)
    return None if tol is None or unit is None or wanted is None else tol / unit * wanted

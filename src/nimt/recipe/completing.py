"""What a recipe takes where a field was left out and it depends on what is taught."""

from __future__ import annotations

import dataclasses
import warnings
from typing import TYPE_CHECKING, Any

from nimt import defaults
from nimt.errors import InvalidInput
from nimt.wording import Watcher, be_silent

if TYPE_CHECKING:
    from nimt.recipe.recipe import Recipe
    from nimt.sources import Problem

WITH_A_WIDTH = ("rbf", "matern", "wendland")


def read_completed(recipe: Recipe, watch: Watcher = be_silent) -> tuple[Recipe, Problem]:
    """Read what is to be taught, and return it with the recipe that is complete for it; `watch` is told of the work."""
    problem = dataclasses.replace(recipe, reference="none").problem(watch)
    if problem.preparation is not None and recipe.reference != "none":
        from nimt.recipe.modelled_rows import take_reference

        check_on(recipe, problem)
        problem = take_reference(problem, watch)
    return complete(recipe, problem, watch)


def check_on(recipe: Recipe, problem: Problem) -> None:
    """Refuse a lesson that cannot be given on the rows of a table, before a model of them is looked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings, rows = complete(dataclasses.replace(recipe, width=recipe.width or defaults.WIDTH), problem)
        if recipe.teachers is None:
            settings.task(rows)


def complete(recipe: Recipe, problem: Problem, watch: Watcher = be_silent) -> tuple[Recipe, Problem]:
    """Return the recipe with a value for every field, and the problem with a note on what was chosen for it.

    A table gets a width that fits it, by the error on rows that were not taught. Two classes are taught with the
    logistic loss, and classes are measured by their accuracy. The tolerance becomes a number.
    """
    from nimt.measures import as_measure
    from nimt.task.options import settle_tolerance

    classes = problem.classes
    measure = recipe.measure or ("accuracy" if classes else defaults.MEASURE)
    tol = settle_tolerance(
        recipe.tolerance,
        as_measure(dataclasses.replace(recipe, measure=measure).make_measure()),
        problem.target,
        problem.initial,
    )
    chosen: dict[str, Any] = {
        "loss": recipe.loss or ("logistic" if len(classes) == 2 and recipe.learner == "kernel" else defaults.LOSS),
        "measure": measure,
        "tol": repr(tol or 0.0),
    }
    notes = problem.notes
    if chosen["loss"] == "logistic" and len(classes) > 2:
        chosen["loss"] = "crossentropy"
        notes += (f"the logistic loss is for two classes, and there are {len(classes)}: the loss is crossentropy",)
    if problem.preparation is not None:
        chosen["classes"] = bool(classes)  # so that the file says it, whichever loss was chosen
    if recipe.width is None:
        chosen["width"], said = _width(dataclasses.replace(recipe, **chosen), problem, watch)
        notes += said
    if recipe.holdout and problem.preparation is None:
        raise InvalidInput(f"holdout is for tables, and {recipe.target} is none: leave it out")
    return dataclasses.replace(recipe, **chosen), dataclasses.replace(problem, notes=notes)


def _width(recipe: Recipe, problem: Problem, watch: Watcher) -> tuple[float, tuple[str, ...]]:
    if problem.preparation is None or recipe.kernel not in WITH_A_WIDTH:
        return defaults.WIDTH, ()
    if recipe.learner == "kernel" and isinstance(problem.start, (int, float)):
        from nimt.recipe.taught_width import choose_taught_width

        return _say(choose_taught_width(recipe, problem, watch), "taught")
    from nimt.estimators.held_out_width import choose_held_out_width
    from nimt.kernels.expressions import parse_kernel

    def kernel(width: float) -> Any:
        return parse_kernel(recipe.kernel, width=width, dimension=problem.pool.dimension)

    return _say(choose_held_out_width(problem.pool.points, problem.target, kernel), "fitted")


def _say(chosen: float, what: str) -> tuple[float, tuple[str, ...]]:
    width = float(f"{chosen:.4g}")
    return width, (f"width {width:g} errs least on rows that were not {what}, of six widths: --width sets another",)

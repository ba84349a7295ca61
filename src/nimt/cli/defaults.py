"""What a run takes where an option was left out: it depends on what is taught."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from nimt.cli.settings import WIDTH
from nimt.errors import InvalidInput

if TYPE_CHECKING:
    from nimt.arrays import Array
    from nimt.cli.settings import RunSettings
    from nimt.sources import Problem

TOLERANCES = {"rms": "1%", "accuracy": "0.99"}  # by measure
PAPERS_TOLERANCE = "0.0001"
WITH_A_WIDTH = ("rbf", "matern", "wendland")


def read_complete_settings(settings: RunSettings) -> tuple[RunSettings, Problem]:
    """Read what is to be taught, and return it with the settings that are complete for it."""
    return complete_settings(settings, settings.problem())


def complete_settings(settings: RunSettings, problem: Problem) -> tuple[RunSettings, Problem]:
    """Return the settings with a value for every option, and the problem with a note on what was chosen for it.

    A table gets a width that fits it, by the error on rows that were not taught. Two classes are taught with the
    logistic loss, and classes are measured by their accuracy. The tolerance of the root mean square error is 1 % of the
    target's deviation.
    """
    classes = problem.classes
    measure = settings.measure or ("accuracy" if classes else "rms")
    chosen: dict[str, Any] = {
        "loss": settings.loss or ("logistic" if len(classes) == 2 and settings.learner == "kernel" else "square"),
        "measure": measure,
        "tol": absolute_tolerance(
            settings.tol or TOLERANCES.get(measure, PAPERS_TOLERANCE), measure, problem.target, problem.initial
        ),
    }
    notes = problem.notes
    if settings.width is None:
        chosen["width"], said = _width(dataclasses.replace(settings, **chosen), problem)
        notes += said
    if settings.holdout and problem.preparation is None:
        raise InvalidInput(f"holdout is for tables, and {settings.target} is none: leave it out")
    return dataclasses.replace(settings, **chosen), dataclasses.replace(problem, notes=notes)


def absolute_tolerance(text: str, measure: str, target: Array, initial: Array) -> str:
    """Return a tolerance such as 1% as a number: this share of the target's deviation, in the unit of the measure.

    Examples
    --------
    >>> import numpy as np
    >>> absolute_tolerance("1%", "rms", np.array([1.0, 3.0]), np.zeros(2)), absolute_tolerance("0.5", "rms", 0, 0)
    ('0.01', '0.5')
    """
    if not text.strip().endswith("%"):
        return text
    import numpy as np

    from nimt.measures import as_measure

    share = _share(text)
    with np.errstate(over="ignore"):
        spread = _size(target - target.mean(axis=0)) or _size(target - initial)  # a constant has no deviation
    scale = as_measure(measure).scale(target)
    if scale is None:
        problem = f"is {text}, a share of the target's deviation, and {measure} has another unit"
        raise InvalidInput(problem, parameter="tol")
    return repr(float(f"{share * spread * scale:.6g}"))


def _size(gap: Array) -> float:
    from nimt.measures import distance

    return distance(gap, 0.0 * gap)


def _share(text: str) -> float:
    try:
        share = float(text.strip()[:-1]) / 100.0
    except ValueError:
        share = math.nan
    if not 0.0 <= share < math.inf:
        problem = f"must be a number, or a share of the target's deviation such as 1%, got {text!r}"
        raise InvalidInput(problem, parameter="tol")
    return share


def _width(settings: RunSettings, problem: Problem) -> tuple[float, tuple[str, ...]]:
    if problem.preparation is None or settings.kernel not in WITH_A_WIDTH:
        return WIDTH, ()
    if settings.learner == "kernel" and isinstance(problem.start, (int, float)):
        from nimt.cli.taught_width import choose_taught_width

        return _say(choose_taught_width(settings, problem), "taught")
    from nimt.estimators.held_out_width import choose_held_out_width
    from nimt.kernels.expressions import parse_kernel

    def kernel(width: float) -> Any:
        return parse_kernel(settings.kernel, width=width, dimension=problem.pool.dimension)

    return _say(choose_held_out_width(problem.pool.points, problem.target, kernel), "fitted")


def _say(chosen: float, what: str) -> tuple[float, tuple[str, ...]]:
    width = float(f"{chosen:.4g}")
    return width, (f"width {width:g} errs least on rows that were not {what}, of six widths: --width sets another",)

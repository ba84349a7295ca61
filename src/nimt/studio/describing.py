"""What a page shows before a race: the target, the start, the kernel, the largest safe rate, and a forecast."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import nimt
from nimt import defaults
from nimt.errors import NimtError
from nimt.kernels import profile
from nimt.learners.kernel_learner import KernelLearner
from nimt.losses import as_loss
from nimt.pools.pool import Pool
from nimt.recipe.recipe import Recipe
from nimt.replay.lesson_recording import Recording, describe_pool
from nimt.studio.requests import PERSON, RaceProblem, read_recipe, read_setting

if TYPE_CHECKING:
    from nimt.theory.forecasting import Forecast

FORECAST_POINTS = 1024
FORECAST_STEPS = 100_000
MOST_HALVINGS = 6  # of a kernel that is too wide
PROFILE_POINTS = 121


def describe(asked: dict[str, Any], kept: Any) -> Recording:
    """Return what a page draws before a race: the target, the start, the kernel, and the largest safe rate."""
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    recipe = read_recipe(asked.get("rules"), {})
    blocks: dict[str, Any] = {"target": setting.target, "initial": setting.initial}
    header = {
        "type": "described", "points": len(setting.pool), "outputs": setting.outputs, "view": setting.view,
        "safe": safe_rate(recipe, setting.pool), **describe_pool(setting.pool, blocks),
    }  # fmt: skip
    reach = min(3 * recipe.usual_width, _extent(setting.pool))
    blocks["profile"] = _profile(recipe.make_kernel(setting.pool), setting.pool.dimension, reach)
    return Recording(header | {"reach": reach}, blocks)


def safe_rate(recipe: Recipe, pool: Pool) -> float | None:
    """Return the largest rate at which no step overshoots, None for a loss that has none."""
    learner = KernelLearner(recipe.make_kernel(pool), loss=recipe.make_loss() or defaults.LOSS, learning_rate="auto")
    if not np.isfinite(as_loss(learner.loss).smoothness):
        return None
    return float(learner.bind(pool).learning_rate_)


def forecast_of(asked: dict[str, Any], kept: Any) -> str | None:
    """Return what can be said of a lesson before it is given, None where that is nothing, or would take long."""
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    found = _foretell(read_recipe(asked.get("rules"), asked.get("racer")), setting)
    return None if found is None else found.in_one_line()


def find_narrower(asked: dict[str, Any], kept: Any) -> dict[str, Any]:
    """Return half the width of a lesson, halved again until the forecast reaches the tolerance, and what it says.

    Half the width and no sentence where there is no forecast, or none that reaches.
    """
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    recipe = read_recipe(asked.get("rules"), asked.get("racer"))
    widths = [float(f"{recipe.usual_width / 2**times:.2g}") for times in range(1, MOST_HALVINGS + 1)]
    for width in widths:
        found = _foretell(replace(recipe, width=width), setting)
        if found is None:
            break
        if found.itd is not None:
            return {"width": width, "said": found.in_one_line()}
    return {"width": widths[0], "said": None}


def _foretell(recipe: Recipe, setting: RaceProblem) -> Forecast | None:
    too_much = len(setting.pool) > FORECAST_POINTS or recipe.iterations > FORECAST_STEPS
    if recipe.tolerance is None or too_much or recipe.teacher == PERSON:
        return None
    safe = safe_rate(recipe, setting.pool) if recipe.learner == "kernel" else None
    if safe is not None and recipe.rate != "auto" and float(recipe.rate) > safe:
        return None  # the page says that steps overshoot
    try:
        learner = recipe.make_learner(setting.pool, setting.initial)
        return nimt.forecast(learner, recipe.make_teacher(setting), setting.pool, setting.target,
                             tol=recipe.tolerance, max_iterations=recipe.iterations, seed=recipe.seed)  # fmt: skip
    except NimtError:
        return None


def _profile(kernel: Any, dimension: int, reach: float) -> Any:
    offsets = np.zeros((PROFILE_POINTS, dimension))
    offsets[:, -1] = np.linspace(-reach, reach, PROFILE_POINTS)
    return profile(kernel, offsets)


def _extent(pool: Pool) -> float:
    return float(np.max(np.ptp(pool.points, axis=0))) or 1.0

"""What a page shows before a race: the target, the start, the kernel, the largest safe rate, and a forecast."""

from __future__ import annotations

from typing import Any

import numpy as np

import nimt
from nimt.errors import InvalidInput, NimtError
from nimt.kernels import profile
from nimt.learners.kernel import KernelLearner
from nimt.pools.base import Pool
from nimt.replay.recording import Recording, describe_pool
from nimt.studio.requests import PERSON, Rules, read_racer, read_rules, read_setting

FORECAST_POINTS = 1024
FORECAST_STEPS = 100_000
PROFILE_POINTS = 121


def describe(asked: dict[str, Any], kept: Any) -> Recording:
    """Return what a page draws before a race: the target, the start, the kernel, and the largest safe rate."""
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    rules = read_rules(asked.get("rules"))
    blocks: dict[str, Any] = {"target": setting.target, "initial": setting.initial}
    header = {
        "type": "described", "points": len(setting.pool), "outputs": setting.outputs, "view": setting.view,
        "safe": safe_rate(rules, setting.pool), **describe_pool(setting.pool, blocks),
    }  # fmt: skip
    learner = rules.make_learner(read_racer({}), setting.pool, setting.initial)
    reach = min(3 * rules.width, _extent(setting.pool))
    blocks["profile"] = _profile(learner.kernel, setting.pool.dimension, reach)
    return Recording(header | {"reach": reach}, blocks)


def safe_rate(rules: Rules, pool: Pool) -> float | None:
    """Return the largest rate at which no step overshoots, None for a loss that has none."""
    try:
        learner = KernelLearner(nimt.parse_kernel(rules.kernel, width=rules.width, dimension=pool.dimension),
                                loss=rules.loss, learning_rate="auto")  # fmt: skip
    except InvalidInput:
        return None
    return float(learner.bind(pool).learning_rate_)


def forecast_of(asked: dict[str, Any], kept: Any) -> str | None:
    """Return what can be said of a lesson before it is given, None where that is nothing, or would take long."""
    foretell = getattr(nimt, "forecast", None)
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    rules, racer = read_rules(asked.get("rules")), read_racer(asked.get("racer"))
    too_much = len(setting.pool) > FORECAST_POINTS or rules.steps > FORECAST_STEPS
    if foretell is None or rules.tol is None or too_much or racer.teacher == PERSON:
        return None
    safe = safe_rate(rules, setting.pool) if racer.learner == "kernel" else None
    if safe is not None and racer.rate != "auto" and float(racer.rate) > safe:
        return None  # the page says that steps overshoot
    try:
        learner = rules.make_learner(racer, setting.pool, setting.initial)
        found = foretell(learner, racer.make_teacher(), setting.pool, setting.target,
                         tol=rules.tol, max_iterations=rules.steps, seed=rules.seed)  # fmt: skip
    except NimtError:
        return None
    return str(found.in_one_line())


def _profile(kernel: Any, dimension: int, reach: float) -> Any:
    offsets = np.zeros((PROFILE_POINTS, dimension))
    offsets[:, -1] = np.linspace(-reach, reach, PROFILE_POINTS)
    return profile(kernel, offsets)


def _extent(pool: Pool) -> float:
    return float(np.max(np.ptp(pool.points, axis=0))) or 1.0

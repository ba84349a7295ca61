"""A person against the greedy teacher: few clicks, the largest safe rate, and a goal that greedy just reaches."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from nimt.errors import InvalidInput
from nimt.studio.describing import safe_rate
from nimt.studio.racer import Racer
from nimt.studio.requests import RaceProblem, read_recipe, read_setting

STEPS_OF_GREEDY = 12
MOST_CLICKS = 20
LOSS = "square"  # at the largest safe rate a step takes the learner to the target at the point shown


def set_up_game(asked: dict[str, Any], kept: Any) -> dict[str, Any]:
    """Return the rules of a game on the problem of a page."""
    setting = read_setting(asked.get("target"), asked.get("start"), kept, asked.get("classes") is True)
    rules = asked.get("rules")
    return play_greedily(setting, {**(rules if isinstance(rules, dict) else {}), "loss": LOSS, "tol": None})


def play_greedily(setting: RaceProblem, rules: dict[str, Any]) -> dict[str, Any]:
    """Return the rate, the goal, and in how many steps greedy reaches it, as its own lesson says.

    Examples
    --------
    >>> gmm = {"kind": "named", "name": "gmm"}, {"kind": "named", "name": "gmm:start"}
    >>> game = play_greedily(read_setting(*gmm, {}), {"loss": "square", "tol": None})
    >>> game["rate"], game["greedy"], game["steps"]
    (0.5, 12, 20)
    """
    recipe = read_recipe(rules, {})
    rate = safe_rate(recipe, setting.pool)
    greedy = Racer(replace(recipe, learning_rate=repr(rate), iterations=STEPS_OF_GREEDY), setting)
    greedy.take(STEPS_OF_GREEDY)
    curve = greedy.curve.part(0, STEPS_OF_GREEDY + 1)
    if greedy.error or not len(curve) or not 0 < curve.min() < curve[0]:
        raise InvalidInput(greedy.error or "here is nothing to teach: the learner starts at the target")
    goal = _round_up(float(curve.min()))
    return {"rate": rate, "goal": goal, "greedy": int((curve < goal).argmax()), "steps": MOST_CLICKS}


def _round_up(value: float) -> float:
    """Return the next larger number of three digits.

    Examples
    --------
    >>> _round_up(0.00089081), _round_up(0.5)
    (0.000891, 0.501)
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{(math.floor(value / unit + 1e-9) + 1) * unit:.3g}")

"""What a page offers to choose from, asked of the classes themselves: a new one appears on it by itself."""

from __future__ import annotations

import json
from typing import Any

from nimt.studio.requests import PERSON, kernels, learners, losses, teachers
from nimt.teachers.spelling import list_spellings

# besides every teacher that shows one example per step
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("greedy, packs of 5 %", {"teacher": "greedy", "k": 0.05}),
    ("the whole pool", {"teacher": "greedy", "k": "whole"}),
    ("greedy from half the pool", {"teacher": "greedy", "k": 1, "share": 0.5}),
)
PLACE = "{lists}"  # in the page


def list_choices() -> dict[str, Any]:
    """Return the teachers, losses and kernels of the page, each with the name by which a request calls it.

    Examples
    --------
    >>> choices = list_choices()
    >>> [one["says"] for one in choices["ways"]][:3]
    ['classroom', 'exam', 'greedy']
    >>> choices["losses"][0], choices["kernels"][0]
    ('square', 'rbf')
    """
    ways = [_write_way(name) for name in teachers() if name != PERSON]
    ways += [{"says": says, "title": says, "request": request} for says, request in WAYS]
    ways += [
        {"says": f"greedy, {name} learner", "title": name, "request": {"teacher": "greedy", "k": 1, "learner": name}}
        for name in learners()[1:]
    ]
    return {"ways": ways, "losses": list(losses()), "kernels": list(kernels())}


def fill_lists(page: str) -> str:
    """Write the choices into the page."""
    return page.replace(PLACE, spell_json(list_choices()))


def spell_json(value: Any) -> str:
    """Return a value as JSON that can stand in a page."""
    return json.dumps(value).replace("<", "\\u003c")


def _write_way(name: str) -> dict[str, Any]:
    kind, _ = list_spellings().get(name, (None, None))
    request = {"teacher": name, "k": 1}
    if kind is None:  # of the user: what it is called is all that is known before it is imported
        return {"says": name, "title": name, "request": request}
    if kind.only_learner is not None:
        request["learner"] = kind.only_learner
    return {"says": name, "title": (kind.__doc__ or "").partition("\n")[0], "request": request}

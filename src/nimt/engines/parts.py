"""The parts of a teacher's rule, and of a learner's update, that each compiled engine can do."""

from __future__ import annotations

from collections.abc import Sequence

from nimt.teachers.rule import Diverse, Drawn, DrawnByOdds, Jointly, LabelsByResponse, Largest, Listed, Rule, TrueLabels
from nimt.teachers.scores import SCORES, Omniscient, Surrogate

COMPILED_SCORES = [kind for kind in SCORES.values() if kind.is_compiled]
BY_PRODUCT = {kind for kind in COMPILED_SCORES if kind.keeps_product}
EVERYWHERE: frozenset[type] = frozenset(
    {Largest, Drawn, Listed, Jointly, TrueLabels, LabelsByResponse, *COMPILED_SCORES}
)
BY_WINDOWS = EVERYWHERE | {DrawnByOdds, Diverse}
PARTS: dict[str, frozenset[type]] = {
    "grid": BY_WINDOWS,
    "neighbours": BY_WINDOWS,
    "cells": BY_WINDOWS,
    "streamed": EVERYWHERE,
    "linear": EVERYWHERE - {Jointly, LabelsByResponse, *BY_PRODUCT},
}
# they keep one state, or constants of all outputs of a point, not one for each output
FOR_ONE_OUTPUT = frozenset({Listed, DrawnByOdds, Jointly, LabelsByResponse, Surrogate, Omniscient, *BY_PRODUCT})


UPDATES: dict[str, frozenset[str]] = {
    "streamed": frozenset({"momentum", "nesterov", "decay", "forgetting", "budget", "averaging"}),
}  # what each engine can do beside a gradient step (`learners/update_parts`)


def find_unknown_part(rule: Rule, engine: str | None = None, update: Sequence[str] = ()) -> str | None:
    """Return which part of a rule, or of a learner's update, an engine cannot do, as a sentence, or None.

    Without the name of an engine, it is what none can do.

    Examples
    --------
    >>> find_unknown_part(Rule(DrawnByOdds(0.1)), "streamed")
    'the streamed engine cannot choose by odds'
    >>> find_unknown_part(Rule(), "grid", ["momentum"])
    'the grid engine cannot update by momentum'
    >>> find_unknown_part(Rule(labels=LabelsByResponse(), per_output=True))
    "no compiled engine can label by the learner's responses for each output"
    """
    known = BY_WINDOWS if engine is None else PARTS[engine]
    who = "no compiled engine can" if engine is None else f"the {engine} engine cannot"
    for verb, part in (("choose", rule.choose), ("score", rule.score), ("label", rule.labels)):
        if type(part) not in known:  # a subclass may do something else
            return f"{who} {verb} by {getattr(part, 'name', type(part).__name__)}"
        if rule.per_output and type(part) in FOR_ONE_OUTPUT:
            return f"{who} {verb} by {part.name} for each output"
    for name in update:
        if name not in UPDATES.get(engine or "", ()):
            return f"{who} update by {name}"
    return None

"""The parts of a teacher's rule that each compiled engine can do."""

from __future__ import annotations

from collections.abc import Sequence

from nimt.teachers.rule import Diverse, Drawn, DrawnByOdds, LabelsByResponse, Largest, Listed, Rule, TrueLabels
from nimt.teachers.scores import SCORES, Omniscient, Surrogate

COMPILED_SCORES = [kind for kind in SCORES.values() if kind.is_compiled]
BY_PRODUCT = {kind for kind in COMPILED_SCORES if kind.keeps_product}
EVERYWHERE: frozenset[type] = frozenset({Largest, Drawn, Listed, TrueLabels, LabelsByResponse, *COMPILED_SCORES})
BY_WINDOWS = EVERYWHERE | {DrawnByOdds, Diverse}
PARTS: dict[str, frozenset[type]] = {
    "grid": BY_WINDOWS,
    "neighbours": BY_WINDOWS,
    "cells": BY_WINDOWS,
    "streamed": EVERYWHERE,
    "linear": EVERYWHERE - {LabelsByResponse, *BY_PRODUCT},
}
# they keep one state, or constants of all outputs of a point, not one for each output
FOR_ONE_OUTPUT = frozenset({Listed, DrawnByOdds, LabelsByResponse, Surrogate, Omniscient, *BY_PRODUCT})


UPDATES: dict[str, frozenset[str]] = {
    "streamed": frozenset({"momentum", "nesterov", "decay", "forgetting", "budget", "averaging"}),
}  # what each engine can do beside a gradient step (`learners/update_parts`)


def find_unknown_update(parts: Sequence[str], engine: str) -> str | None:
    """Return which part of a learner's update an engine cannot do, as a sentence, or None.

    Examples
    --------
    >>> find_unknown_update(["momentum"], "grid")
    'the grid engine cannot update by momentum'
    """
    unknown = [part for part in parts if part not in UPDATES.get(engine, ())]
    return f"the {engine} engine cannot update by {unknown[0]}" if unknown else None


def find_unknown_part(rule: Rule, engine: str | None = None) -> str | None:
    """Return which part of a rule an engine cannot do, as a sentence, or None; without a name, what none can do.

    Examples
    --------
    >>> find_unknown_part(Rule(DrawnByOdds(0.1)), "streamed")
    'the streamed engine cannot choose by odds'
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
    return None

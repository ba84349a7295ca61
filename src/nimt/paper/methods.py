"""The paper's methods, by their names in its figures."""

from __future__ import annotations

from nimt.pools.pool import FunctionLike
from nimt.teachers.alternative_labels import AlternativeLabels
from nimt.teachers.greedy import GreedyTeacher
from nimt.teachers.random import RandomTeacher
from nimt.teachers.teacher import Teacher

POOL_SHARE = 0.8
ALTERNATIVE_PROBABILITY = 0.2

GREEDY = "GFT-1"
POOL = "pool GFT-1"
ALTERNATIVE = "alternative GFT-1"
WHOLE = "whole"


def teacher_of(method: str, other_target: FunctionLike | None = None) -> Teacher:
    """Return the teacher of a method: GFT-k and RFT-k, k a count or a share, whole, pool or alternative GFT-1.

    Examples
    --------
    >>> teacher_of("RFT-0.05").pack_size(8464)
    423
    """
    if method == WHOLE:
        return GreedyTeacher(k=1.0)
    if method == POOL:
        return GreedyTeacher(k=1, pool=POOL_SHARE)
    if method == ALTERNATIVE:
        return GreedyTeacher(
            k=1, labels=AlternativeLabels(0.0 if other_target is None else other_target, ALTERNATIVE_PROBABILITY)
        )
    kind, size = method.split("-")
    k = float(size) if "." in size else int(size)
    return RandomTeacher(k=k) if kind == "RFT" else GreedyTeacher(k=k)

"""How large a pack is at a step, and whether the teacher looks."""

from __future__ import annotations

import math
from typing import Any


def size_at(k: Any, step: int, n: int, budget: int) -> int:
    """Return what k means: a count, a share of n (floored, at least 1), or (shape, start, end, over, stages)."""
    if not isinstance(k, tuple):
        return k if isinstance(k, int) else max(1, math.floor(k * n))
    shape, start, end, over, stages = k
    over = max(1, budget) if over is None else over
    part = step / over
    if part >= 1:
        return size_at(end, step, n, budget)
    if shape == "geometric":
        now = start * (end / start) ** part
    else:
        if shape == "cosine":
            part = (1 - math.cos(math.pi * part)) / 2
        elif shape == "steps":
            part = math.floor(part * stages) / max(1, stages - 1)
        now = start + (end - start) * part
    return size_at(round(now) if isinstance(start, int) else float(now), step, n, budget)


def looks(look: tuple[Any, ...] | None, step: int, budget: int) -> bool:
    """Say whether a teacher looks: None, ("every", gap) or ("incremental", longest, over, stages, dense)."""
    if look is None:
        return True
    if look[0] == "every":
        return step % look[1] == 0
    _, longest, over, stages, dense = look
    over = max(1, budget) if over is None else over
    first = math.floor(over * dense)
    if step < first:
        return True
    stage = min(stages - 1, (step - first) * stages // max(1, over - first))
    return step % (longest // stages * (stage + 1)) == 0

"""Every experiment by name, in the order of the report."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from nimt.errors import InvalidInput
from nimt.paper.experiment import Experiment
from nimt.paper.experiments import (
    boundary,
    cheetah,
    digits,
    faces,
    gmm,
    kernel_width,
    linear_kernel,
    lines,
    planes,
    spaces,
)

EXPERIMENTS: dict[str, Experiment[Any]] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (spaces, gmm, boundary, digits, cheetah, lines, planes, linear_kernel, faces, kernel_width)
}


def chosen(names: Iterable[str] | None) -> list[str]:
    """Return the names asked for in the order of the report, all of them if none is named.

    Examples
    --------
    >>> chosen(["planes", "gmm"])
    ['gmm', 'planes']
    """
    if isinstance(names, str):
        names = [names]
    asked = list(names or EXPERIMENTS)
    for name in asked:
        if name not in EXPERIMENTS:
            near = difflib.get_close_matches(str(name), EXPERIMENTS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(f"there is no experiment {name!r}, only {', '.join(EXPERIMENTS)}{hint}")
    return [name for name in EXPERIMENTS if name in asked]

"""Every experiment by name, in the order of the report: those of the paper, and those of its family."""

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
    exams,
    faces,
    gmm,
    imt_moons,
    kernel_width,
    linear_kernel,
    lines,
    mint_communication,
    mint_gmm,
    mint_pictures,
    mint_rgb,
    planes,
    shortest_lessons,
    spaces,
)

EXPERIMENTS: dict[str, Experiment[Any]] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (spaces, gmm, boundary, digits, cheetah, lines, planes, linear_kernel, faces, kernel_width)
}


FAMILY: dict[str, Experiment[Any]] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (mint_gmm, mint_rgb, mint_pictures, mint_communication, shortest_lessons, imt_moons, exams)
}
ALL: dict[str, Experiment[Any]] = EXPERIMENTS | FAMILY


def choose_experiments(names: Iterable[str] | None, family: bool = False) -> list[str]:
    """Return the names asked for in the order of the report, all of them if none is named.

    Examples
    --------
    >>> choose_experiments(["planes", "gmm"])
    ['gmm', 'planes']
    >>> choose_experiments(None, family=True)[0]
    'mint-gmm'
    """
    if isinstance(names, str):
        names = [names]
    offered, others = (FAMILY, EXPERIMENTS) if family else (EXPERIMENTS, FAMILY)
    asked = list(names or offered)
    for name in asked:
        if name in others:
            way = "without family" if family else "with family"
            raise InvalidInput(f"the experiment {name!r} belongs to another report: ask for it {way}")
        if name not in offered:
            near = difflib.get_close_matches(str(name), offered, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(f"there is no experiment {name!r}, only {', '.join(offered)}{hint}")
    return [name for name in offered if name in asked]

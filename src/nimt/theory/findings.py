"""What a check found: each inequality with its assumptions, where it held, and the worst violation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt import display
from nimt.counting import say_count
from nimt.theory.assumptions import Assumption
from nimt.theory.bounds_table import to_json


@dataclass(frozen=True)
class Violation:
    """The worst step: which, both sides there, and by how much the left exceeds the right."""

    step: int
    left: float
    right: float
    excess: float


@dataclass(frozen=True)
class Inequality:
    """One statement, left <= right at every step, held against a lesson.

    Attributes
    ----------
    name, statement : str
    assumptions : tuple of Assumption
        What it needs, each with whether it holds here.
    steps, held : int
        How many steps it was evaluated at, and at how many of them it held.
    worst : Violation or None
    unknown : str or None
        Why it could not be evaluated at all.
    """

    name: str
    statement: str
    assumptions: tuple[Assumption, ...]
    steps: int
    held: int
    worst: Violation | None = None
    unknown: str | None = None

    @property
    def assumed(self) -> bool:
        """Whether everything it needs holds here."""
        return all(assumption.holds for assumption in self.assumptions)

    @property
    def violated(self) -> bool:
        return self.held < self.steps

    def sentence(self) -> str:
        missing = [assumption.clause for assumption in self.assumptions if not assumption.holds]
        premise = f"its assumptions do not all hold here ({'; '.join(missing)})" if missing else "its assumptions hold"
        return f"{self.name}, {self.statement}: {premise}; {self._finding()}."

    def _finding(self) -> str:
        if self.unknown is not None:
            return f"it cannot be evaluated, because {self.unknown}"
        if not self.steps:
            return "there is no step to check it at"
        if self.worst is None:
            return f"it held at all {say_count(self.steps, 'step', 'd')}"
        failed = self.steps - self.held
        worst = self.worst
        return (
            f"it failed at {failed} of {say_count(self.steps, 'step', 'd')}, worst at step {worst.step}, "
            f"where {worst.left:.6g} should be at most {worst.right:.6g}"
        )


@dataclass(frozen=True)
class Check:
    """All inequalities held against one lesson.

    Examples
    --------
    >>> import nimt
    >>> learner = nimt.KernelLearner(nimt.rbf(1.0), learning_rate=0.25)
    >>> lesson = nimt.teach(learner, nimt.GreedyTeacher(), [0.0, 99.0], [3.0, 4.0], max_iterations=4)
    >>> found = nimt.theory.check(lesson)
    >>> found["sufficient descent (RFT)"].held, found["sufficient descent (RFT)"].assumed
    (4, True)
    """

    inequalities: tuple[Inequality, ...]

    def __getitem__(self, name: str) -> Inequality:
        for inequality in self.inequalities:
            if inequality.name == name:
                return inequality
        raise KeyError(f"{name!r}; there are {', '.join(repr(one.name) for one in self.inequalities)}")

    @property
    def violated(self) -> tuple[Inequality, ...]:
        """Those that failed at some step, whether or not they had to hold."""
        return tuple(one for one in self.inequalities if one.violated)

    @property
    def sound(self) -> bool:
        """Whether everything whose assumptions hold held at every step."""
        return not any(one.assumed for one in self.violated)

    def _repr_html_(self) -> str:
        rows = [
            (
                one.name,
                one.statement,
                "all hold" if one.assumed else "; ".join(part.clause for part in one.assumptions if not part.holds),
                f"{one.held:,} of {one.steps:,}" if one.unknown is None else "not known",
            )
            for one in self.inequalities
        ]
        said = "every inequality whose assumptions hold held at every step"
        failed = "an inequality failed although its assumptions hold"
        header = ("inequality", "statement", "assumptions", "held at")
        return display.cell(f"Check: {said if self.sound else failed}", display.table(header, rows, words=(1, 2)))

    def to_table(self) -> dict[str, NDArray[Any]]:
        """Return one row per inequality, as columns; -1 and NaN where there is no violation."""
        worst = [one.worst or Violation(-1, math.nan, math.nan, math.nan) for one in self.inequalities]
        return {
            "inequality": np.array([one.name for one in self.inequalities]),
            "assumed": np.array([one.assumed for one in self.inequalities]),
            "steps": np.array([one.steps for one in self.inequalities]),
            "held": np.array([one.held for one in self.inequalities]),
            "worst_step": np.array([one.step for one in worst]),
            "left": np.array([one.left for one in worst]),
            "right": np.array([one.right for one in worst]),
            "excess": np.array([one.excess for one in worst]),
        }

    def to_json(self) -> str:
        rows = [asdict(one) | {"assumed": one.assumed, "sentence": one.sentence()} for one in self.inequalities]
        return to_json({"sound": self.sound, "inequalities": rows})

    def sentences(self) -> list[str]:
        return [one.sentence() for one in self.inequalities]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

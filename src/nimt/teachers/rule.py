"""How a teacher chooses, scores and labels, part by part: engines run the parts that they know, compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nimt.arrays import Indices
from nimt.kernels import Kernel
from nimt.teachers.scores import Residual, Score


class Part:
    """A choice of points, or of labels; `name` is what sentences call it: "cannot choose by {name}"."""

    name: ClassVar[str]


@dataclass(frozen=True)
class Largest(Part):
    """The k points with the largest scores."""

    name: ClassVar[str] = "the largest scores"


@dataclass(frozen=True)
class Drawn(Part):
    """Points that are drawn without a look at the learner.

    `draw(rng, candidates, k, steps)` returns positions among the candidates (steps, k): the same numbers that `select`
    would draw step by step from the same stream.
    """

    draw: Callable[[np.random.Generator, Indices, int, int], Indices]

    name: ClassVar[str] = "a draw"


@dataclass(frozen=True)
class InEpochs(Part):
    """Every point once in each epoch, as `RandomTeacher(order="epoch")` does."""

    name: ClassVar[str] = "epochs"


@dataclass(frozen=True)
class NeverTwice(Part):
    """Only points that were not shown before, as a teacher with `never_twice` does."""

    name: ClassVar[str] = "what was not shown yet"


@dataclass(frozen=True, eq=False)
class Listed(Part):
    """One point per step, in the order of a list that begins again after its end."""

    indices: Indices

    name: ClassVar[str] = "a list"


@dataclass(frozen=True)
class DrawnByOdds(Part):
    """One point that is drawn by its score, as `SoftTeacher` does."""

    temperature: float

    name: ClassVar[str] = "odds"


@dataclass(frozen=True)
class Diverse(Part):
    """Points that are chosen one by one, as if the errors at those before were corrected."""

    kernel: Kernel

    name: ClassVar[str] = "diverse packs"


@dataclass(frozen=True)
class Jointly(Part):
    """Points that are chosen one by one, each by the score that those before leave, as `JointDecrease` says."""

    name: ClassVar[str] = "joint packs"


@dataclass(frozen=True)
class TrueLabels(Part):
    """The labels of the target, or of another one at some steps."""

    name: ClassVar[str] = "the target"


@dataclass(frozen=True)
class LabelsByResponse(Part):
    """Labels that are made from the learner's responses, as `SynthesisTeacher` does."""

    name: ClassVar[str] = "the learner's responses"


@dataclass(frozen=True)
class Rule:
    """What `select` does, for engines that do the same without calling it.

    Attributes
    ----------
    choose : Largest, Drawn, InEpochs, NeverTwice, Listed, DrawnByOdds, Diverse or Jointly
    score : Score
    labels : TrueLabels or LabelsByResponse
    per_output : bool
        Whether every output is shown examples of its own.
    """

    choose: Part = field(default_factory=Largest)
    score: Score = field(default_factory=Residual)
    labels: Part = field(default_factory=TrueLabels)
    per_output: bool = False

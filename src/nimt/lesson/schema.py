"""What a lesson file holds, as types: every number and text that is read is compared with them.

A checksum does not prevent forgery, so nothing is read of a file before this. The shapes of arrays depend on each
other, and are checked in `content`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import numpy as np

from nimt.arrays import is_number
from nimt.errors import CorruptLesson
from nimt.lesson.descriptions import FOREIGN
from nimt.lesson.outcome import Outcome
from nimt.measures import MEASURES
from nimt.option_table import OPTIONS

Count = Annotated[int, msgspec.Meta(ge=0)]
Finite = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
AtLeastZero = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
if TYPE_CHECKING:  # which does not know the names
    OutcomeName = str
    MeasureName = str
else:
    OutcomeName = Literal[tuple(Outcome.__members__)]
    MeasureName = Literal[tuple(MEASURES)]
Description = dict[str, Any]  # as `describe` returns it


class DescribedObject(msgspec.Struct):
    """An object by the name of its class; of one that is not nimt's own, also where that is defined."""

    type: str
    name: str | None = None

    def __post_init__(self) -> None:
        if self.type == FOREIGN and self.name is None:
            raise ValueError("Object missing required field `name`")


class DescribedLearner(DescribedObject):
    """A learner whose kernel, loss and rate can be told; whether it can be made again is seen when it is."""

    learning_rate: Finite | Literal["auto"] | DescribedObject | None = None
    kernel: DescribedObject | None = None
    loss: str | DescribedObject | None = None


class DescribedMeasure(msgspec.Struct):
    """A measure of the user."""

    label: str
    axis: str
    higher_is_better: bool


class Method(msgspec.Struct):
    """What tables and figures call a teacher."""

    name: str
    colour: str | None
    access: str = "gray box"  # files of before do not have it


class HeldOutPoints(msgspec.Struct):
    """Points that are never shown, and f* there."""

    points: np.ndarray[Any, Any]
    target: np.ndarray[Any, Any]
    choosing: Count = 0


class StoredParts(msgspec.Struct):
    """What a lesson is made of, and what follows from it."""

    nimt: str
    versions: dict[str, str]
    method: Method
    learner: DescribedLearner
    teacher: Description
    box: Description | None
    target_function: Any
    planned_steps: Count
    per_output: bool


STORED_AS: dict[Any, Any] = {  # the words of `Option.stored`, which may also be a type
    "count": Count,
    "count or none": Count | None,
    "counts": list[Count],
    "size or none": AtLeastZero | None,
    "record": Literal["auto", "all", "picks"],
    "measure": MeasureName | DescribedMeasure,
    "points or none": HeldOutPoints | None,
    "anything": Any,
}
if TYPE_CHECKING:  # which does not know the options
    StoredSettings = StoredParts
else:
    StoredSettings = msgspec.defstruct(
        "StoredSettings",
        [(name, STORED_AS.get(option.stored, option.stored)) for name, option in OPTIONS.items()],
        bases=(StoredParts,),
    )


class StoredHeldOutCurve(msgspec.Struct):
    """The errors on held-out points, by step."""

    steps: np.ndarray[Any, Any]
    errors: np.ndarray[Any, Any]


class StoredHeldOutError(msgspec.Struct, forbid_unknown_fields=True):
    """The error on held-out points at the end."""

    count: Count
    rms: float
    r_squared: float | None
    accuracy: Share | None


class StoredAnswers(msgspec.Struct, forbid_unknown_fields=True):
    """What a teacher asked its learner, and heard."""

    steps: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any]
    answers: np.ndarray[Any, Any]


class StoredLesson(msgspec.Struct):
    """A lesson, and the state from which it goes on if it has one."""

    settings: StoredSettings
    pool: Description
    outcome: OutcomeName
    elapsed: AtLeastZero
    compiling: AtLeastZero
    engine: str
    record: Literal["all", "picks"]
    drew: bool
    learner: Description | None
    state: dict[str, Any] | None
    held_out_curve: StoredHeldOutCurve
    held_out_error: StoredHeldOutError | None
    course: dict[str, np.ndarray[Any, Any]]
    discrepancy: np.ndarray[Any, Any]
    picks: np.ndarray[Any, Any]
    target: np.ndarray[Any, Any]
    initial: np.ndarray[Any, Any]
    indices: np.ndarray[Any, Any] | None
    labels: Any  # an array, a word in its place, or None
    coefficients: np.ndarray[Any, Any] | None
    examples: np.ndarray[Any, Any] | None
    looked: np.ndarray[Any, Any] | None
    mix_steps: np.ndarray[Any, Any] | None
    mixes: np.ndarray[Any, Any] | None
    # files of before do not have these
    warnings: list[str] = []
    weights: np.ndarray[Any, Any] | None = None
    asked: StoredAnswers | None = None


def check_content(content: dict[str, Any]) -> None:
    """Refuse the content of a file of which a part is missing or of another kind."""
    try:
        msgspec.convert(content, StoredLesson)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        where = f" in its {place.strip('.`')}" if place.strip("`") else ""
        raise CorruptLesson(f"the file was altered: {problem[:1].lower()}{problem[1:]}{where}") from None
    learner = content["settings"]["learner"]
    if not _is_printable(learner):
        raise CorruptLesson(f"the file was altered: of its settings, 'learner' is {learner!r:.80}")


def _is_printable(found: Any) -> bool:
    """Say whether a description consists of parts that a table can print, of numbers that are floats."""
    if isinstance(found, dict):
        return isinstance(found.get("type", ""), str) and all(map(_is_printable, found.values()))
    if isinstance(found, list):
        return all(map(_is_printable, found))
    return is_number(found) or isinstance(found, bool) or not isinstance(found, int)  # an int may be beyond all floats

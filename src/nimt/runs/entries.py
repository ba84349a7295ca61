"""One lesson in numbers and text: a line of the file of a collection of lessons, a row of a table."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nimt.display import is_colour
from nimt.errors import CorruptLesson, InvalidInput
from nimt.lesson.identity import CODE
from nimt.lesson.lesson import Lesson

EVERY_STEP = 256  # up to here a curve is kept at every step
PER_OCTAVE = 64  # then at this many steps between t and 2 t
Scalar = bool | int | float | str | None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is kept of one lesson.

    Attributes
    ----------
    key : str
        A fingerprint of everything that decides the lesson, code of yours included, with the version of nimt.
    problem, learner, teacher, seed : str, str, str, int
        Which lesson it is.
    parameters : dict of name -> number or text
        `learner.learning_rate`, `teacher.k` ...: the parameters of learner and teacher that are numbers or text.
    error : str or None
        Why there is no lesson; the numbers below are then None.
    outcome : str
        How it ended, as a sentence.
    steps : int
        How many steps were taken.
    itd : int or None
        The first step that met the tolerance.
    start, end : float
        The discrepancy before the first and after the last step.
    examples, distinct : int
        Examples shown, and distinct points among them.
    seconds : float
        Without compiling.
    drew : bool
        Whether another seed would have given another lesson.
    choosing : float or None
        The seconds in the teacher's `select`; known with engine="reference" of a lesson that was given at once.
    held_out_rms, held_out_r2, held_out_accuracy : float or None
        The errors on points held out, as of `Lesson.held_out`: the accuracy of classes, otherwise the other two.
    curve_steps, curve : tuples
        The discrepancy, at every step up to 256 and then at 64 steps per octave, and at the last.
    """

    key: str
    problem: str
    learner: str
    teacher: str
    seed: int
    parameters: dict[str, Scalar] = field(default_factory=dict)
    error: str | None = None
    outcome: str | None = None
    steps: int | None = None
    itd: int | None = None
    start: float | None = None
    end: float | None = None
    examples: int | None = None
    distinct: int | None = None
    seconds: float | None = None
    engine: str | None = None
    points: int | None = None
    tol: float | None = None
    measure: str | None = None
    colour: str | None = None
    drew: bool = True
    nimt: str = ""
    choosing: float | None = None
    held_out_rms: float | None = None
    held_out_r2: float | None = None
    held_out_accuracy: float | None = None
    curve_steps: tuple[int, ...] = ()
    curve: tuple[float, ...] = ()

    @property
    def row(self) -> dict[str, Scalar]:
        """Return the columns of the table: all but the curve, and of those that few lessons have, the known ones."""
        own = {name: value for name in COLUMNS if (value := getattr(self, name)) is not None or name not in OF_FEW}
        place = list(own).index("error")
        items = list(own.items())
        return dict([*items[:place], *self.parameters.items(), *items[place:]])

    def to_line(self) -> str:
        """Return the entry as one line of JSON; a number that is not finite becomes a word."""
        return json.dumps(_plain(dataclasses.asdict(self)), allow_nan=False)


COLUMNS = tuple(
    part.name for part in dataclasses.fields(Entry) if part.name not in ("parameters", "curve_steps", "curve", "colour")
)
OF_FEW = ("choosing", "held_out_rms", "held_out_r2", "held_out_accuracy")
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("key", "problem", "learner", "teacher", "nimt"), (str,)),
    "seed": (int,),
    "parameters": (dict,),
    **dict.fromkeys(("error", "outcome", "engine", "measure", "colour"), (str, type(None))),
    **dict.fromkeys(("steps", "itd", "examples", "distinct", "points"), (int, type(None))),
    **dict.fromkeys(("start", "end", "seconds", "tol", *OF_FEW), (int, float, type(None))),
    "drew": (bool,),
    **dict.fromkeys(("curve_steps", "curve"), (list,)),
}


KEY = re.compile("[0-9a-f]{32}")
LARGEST_COUNT = 2**63 - 1
OF_A_LESSON = ("outcome", "steps", "start", "end", "examples", "distinct", "seconds", "engine", "points", "measure")


class CutShort(CorruptLesson):
    """A line that is not whole, as a kill in the middle of a write leaves it."""


def entry_of_line(line: str) -> Entry:
    """Return the entry that a line holds, or raise `CutShort`, or `CorruptLesson` if it was altered."""
    try:
        content = _from_plain(json.loads(line))
    except (ValueError, RecursionError) as problem:
        raise CutShort(f"a line cannot be read: {problem}") from None
    try:
        if not isinstance(content, dict) or set(content) != set(KINDS):
            raise TypeError("its fields are not those of a lesson")
        for name, kinds in KINDS.items():
            if not isinstance(content[name], kinds) or (name in OF_A_LESSON and _is_lost(content, name)):
                raise TypeError(f"{name} is {content[name]!r:.40}")
            if not _is_in_range(content[name], kinds):
                raise ValueError(f"{name} is {content[name]!r:.40}")
        if not all(
            value is None or isinstance(value, bool | int | float | str) for value in content["parameters"].values()
        ):
            raise TypeError("its parameters are not numbers and texts")
        if not KEY.fullmatch(content["key"]):
            raise ValueError(f"key is {content['key']!r:.40}")
        if content["colour"] is not None and not is_colour(content["colour"]):
            raise ValueError(f"colour is {content['colour']!r:.40}")
        steps, curve = (np.asarray(content[name], dtype=float) for name in ("curve_steps", "curve"))
        rises = bool((np.diff(steps, prepend=-1.0) > 0).all()) and np.array_equal(steps, np.floor(steps))
        ends = len(steps) == 0 if content["error"] is not None else steps[-1:].tolist() == [content["steps"]]
        if steps.shape != curve.shape or steps.ndim != 1 or not rises or not ends:
            raise TypeError("its curve is not one")
    except (ValueError, TypeError, ArithmeticError) as problem:
        raise CorruptLesson(f"a line was altered: {problem}") from None
    return Entry(**content | {"curve_steps": tuple(steps.astype(np.int64).tolist()), "curve": tuple(curve.tolist())})


def entry_of_lesson(lesson: Lesson, **which: Any) -> Entry:
    """Return what is kept of a finished lesson; `which` says which lesson it is."""
    steps = choose_kept_steps(len(lesson))
    held = lesson.held_out
    are_classes = held is not None and held.accuracy is not None
    return Entry(
        **which,
        outcome=str(lesson.outcome),
        steps=len(lesson),
        itd=lesson.itd,
        start=float(lesson.discrepancy[0]),
        end=float(lesson.discrepancy[-1]),
        examples=int(lesson.picks.sum()),
        distinct=int(np.count_nonzero(lesson.picks)),
        seconds=lesson.elapsed,
        engine=lesson.engine,
        points=len(lesson.pool),
        tol=lesson.tol,
        measure=lesson.measure.name,
        colour=lesson.colour,
        drew=lesson.drew,
        nimt=lesson.settings["nimt"],
        held_out_rms=None if held is None or are_classes else held.rms,
        held_out_r2=None if held is None or are_classes else held.r_squared,
        held_out_accuracy=None if held is None else held.accuracy,
        curve_steps=tuple(steps),
        curve=tuple(lesson.discrepancy[steps].tolist()),
    )


def sentence_of(error: Exception) -> str:
    """Return what the row of a failed lesson says."""
    return str(error) if isinstance(error, InvalidInput) else f"{type(error).__name__}: {error}"


def choose_kept_steps(last: int) -> list[int]:
    """Return the steps at which a curve of so many steps is kept; the same ones in every lesson, and the last.

    Examples
    --------
    >>> choose_kept_steps(3), len(choose_kept_steps(60_000))
    ([0, 1, 2, 3], 759)
    """
    steps = list(range(min(last, EVERY_STEP) + 1))
    octave = EVERY_STEP
    while octave < last:
        steps += [step for j in range(1, PER_OCTAVE + 1) if (step := octave + j * octave // PER_OCTAVE) < last]
        octave *= 2
    return steps if steps[-1] == last else [*steps, last]


def flatten_description(description: Any, prefix: str) -> dict[str, Scalar]:
    """Return the numbers and texts of a description by dotted names.

    Examples
    --------
    >>> flatten_description({"type": "rbf", "width": 0.5, "data": [1, 2]}, "learner.kernel")
    {'learner.kernel': 'rbf', 'learner.kernel.width': 0.5}
    """
    if not isinstance(description, Mapping):
        return {prefix: description} if isinstance(description, bool | int | float | str) else {}
    found: dict[str, Scalar] = {}
    for name, value in description.items():
        if name == "type":
            found[prefix if "." in prefix else f"{prefix}.type"] = value  # "learner" itself is the name given to it
        elif not name.endswith("_bounds") and name not in ("state", CODE):
            found |= flatten_description(value, f"{prefix}.{name}")
    return found


def _is_in_range(value: Any, kinds: tuple[type, ...]) -> bool:
    """Say whether a whole number can stand where it does: a count is not negative, a real number not beyond all."""
    if isinstance(value, bool):
        return bool in kinds
    if not isinstance(value, int):
        return True
    return abs(value) <= LARGEST_COUNT if float in kinds else value >= 0 and (value <= LARGEST_COUNT or kinds == (int,))


def _is_lost(content: dict[str, Any], name: str) -> bool:
    """Say whether a number is missing that every lesson has which was given."""
    return content["error"] is None and content[name] is None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}  # JSON has no word for it
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        return {name: _from_plain(part) for name, part in value.items()}
    return [_from_plain(part) for part in value] if isinstance(value, list) else value

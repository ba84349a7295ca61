"""What is drawn of a function on a plane: its values, its colours, its classes, or how far it is from the target.

Does not load matplotlib: pages ask it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from nimt.arrays import Array
from nimt.classes import are_classes, class_of
from nimt.lesson.held_out import names_classes
from nimt.lesson.lesson import Lesson
from nimt.losses import couples_outputs, make_described_loss
from nimt.plots.style import class_colours
from nimt.teachers.teacher import norm_of

COLOURS = 3  # outputs of a colour picture
UNDECIDED = 0.87  # a light grey


class Look(Protocol):
    """How values (n,) or (n, q) become ink.

    Attributes
    ----------
    bar : str or None
        What the shades of a colour bar stand for, "" for the values themselves; None where there is no bar.
    shows_target : bool
        Whether the target is drawn in the same way beside the learner.
    limits : pair or None
        Of the shades; None for those of the values.
    """

    bar: ClassVar[str | None]
    shows_target: ClassVar[bool]

    @property
    def limits(self) -> tuple[float, float] | None: ...

    def shades(self, values: Array) -> Array:
        """Return one number per point, (n,), or red, green and blue, (n, 3)."""
        ...


class ValuesToDraw:
    """One output: the values, as shades of one colour map."""

    bar: ClassVar[str | None] = ""
    shows_target: ClassVar[bool] = True
    limits: ClassVar[tuple[float, float] | None] = None

    def shades(self, values: Array) -> Array:
        return values


@dataclass(frozen=True)
class Colours:
    """Red, green and blue, `low` being black and `high` full brightness.

    Examples
    --------
    >>> Colours(0.0, 2.0).shades(np.array([[0.0, 1.0, 3.0]]))
    array([[0. , 0.5, 1. ]])
    """

    low: float
    high: float

    bar: ClassVar[str | None] = None
    shows_target: ClassVar[bool] = True
    limits: ClassVar[tuple[float, float] | None] = None

    def shades(self, values: Array) -> Array:
        shares = np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)
        return np.nan_to_num(shares, nan=1.0)  # where a learner has diverged


class Classes:
    """The class with the largest output, one colour each."""

    bar: ClassVar[str | None] = None
    shows_target: ClassVar[bool] = True
    limits: ClassVar[tuple[float, float] | None] = None

    def shades(self, values: Array) -> Array:
        palette = np.array([_red_green_blue(colour) for colour in class_colours(values.shape[1])])
        return np.asarray(palette[class_of(values)])


class Sides:
    """Two classes, labelled -1 and +1: one colour each, the paler the nearer a value is to 0, which decides nothing.

    Examples
    --------
    >>> Sides().shades(np.array([0.0, 5.0])).round(2).tolist()
    [[0.87, 0.87, 0.87], [0.9, 0.62, 0.0]]
    """

    bar: ClassVar[str | None] = None
    shows_target: ClassVar[bool] = True
    limits: ClassVar[tuple[float, float] | None] = None

    def shades(self, values: Array) -> Array:
        palette = np.array([_red_green_blue(colour) for colour in class_colours(2)])
        sure = np.nan_to_num(np.minimum(np.abs(values), 1.0), nan=1.0)[:, np.newaxis]
        return np.asarray(sure * palette[(values > 0).astype(np.intp)] + (1.0 - sure) * UNDECIDED)


@dataclass(frozen=True, eq=False)
class Errors:
    """The size of f - f*, the norm over outputs, for functions with several outputs that are no colours."""

    target: Array
    limits: tuple[float, float]

    bar: ClassVar[str | None] = "|f - f*|"
    shows_target: ClassVar[bool] = False

    def shades(self, values: Array) -> Array:
        return norm_of(values - self.target)


def look_of(lesson: Lesson) -> Look:
    """Return how a lesson on a plane is drawn."""
    target = lesson.target
    if target.ndim == 1:
        return Sides() if names_classes(target) and lesson.pool.view != "picture" else ValuesToDraw()
    logits = couples_outputs(make_described_loss(lesson.settings["learner"].get("loss")))
    if target.shape[1] == COLOURS and lesson.pool.view == "picture" and not logits:
        return Colours(*colour_limits(target, lesson.initial))
    if logits or are_classes(target):
        return Classes()
    largest = float(np.max(norm_of(lesson.initial - target)))
    return Errors(target, (0.0, largest or 1.0))


def class_words(lesson: Lesson) -> list[str] | None:
    """Return the names of the classes that a lesson teaches: the words of its table, or their numbers; None without."""
    target = lesson.target
    if not names_classes(target):
        return None
    words = getattr(getattr(lesson.pool, "preparation", None), "classes", ())
    if words:
        return list(words)
    return ["-1", "+1"] if target.ndim == 1 else [str(place) for place in range(target.shape[1])]


def colour_limits(target: Array, initial: Array) -> tuple[float, float]:
    """Return the values drawn as black and as full brightness: 0 and 1 where they hold, else the range of both.

    Examples
    --------
    >>> colour_limits(np.array([0.2, 0.9]), np.array([0.0])), colour_limits(np.array([-1.0, 4.0]), np.array([0.0]))
    ((0.0, 1.0), (-1.0, 4.0))
    """
    low = float(min(target.min(), initial.min()))
    high = float(max(target.max(), initial.max()))
    if low >= 0.0 and high <= 1.0:
        return 0.0, 1.0
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def has_decibels(lesson: Lesson) -> bool:
    """Say whether a lesson teaches a picture, measured in a way from which its signal-to-noise ratio follows."""
    flat = float(lesson.target.min()) == float(lesson.target.max())  # a picture of one shade has no range
    return lesson.pool.view == "picture" and not flat and lesson.measure.scale(lesson.target) is not None


def _red_green_blue(colour: str) -> tuple[float, ...]:
    """Return the parts of a colour such as #0072B2, each from 0 to 1."""
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))

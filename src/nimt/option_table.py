"""The options of a lesson, in one table: all that Python, files, the command line, TOML and the studio know of them.

An option is a line of `Options`: its default, its meaning, how a file holds it. `LessonOptions` has its type, and
`OptionsAsText` its word on the command line, where it has one. What is checked of it is in `task/options`. The rest is
derived: the signatures and the help of `nimt.teach`, `nimt.steps` and `nimt.plan`, what a lesson file must hold, what
`nimt.resume` repeats, what makes two lessons differ, the options of commands, TOML files and messages of the studio.

This module loads no NumPy, so that the help of the program is quick.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from nimt import defaults

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from nimt.measures import Measure
    from nimt.operators.random_features import RandomFeatures
    from nimt.task.cutting import Blocks

    Holdout = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, int]

Tolerance = float | str | None
Called = TypeVar("Called", bound=Callable[..., Any])

WHAT, TABLE = "What is taught", "Tables"
HOW, WHEN = "Who teaches, and whom", "When it stops, and what is kept"
FORECASTS = ("forecast", "shortest")  # commands that say how long a lesson is, and cover one learner and true labels


@dataclasses.dataclass(frozen=True)
class Option:
    """What is known of an option beside its default and its meaning.

    Attributes
    ----------
    stored : a type, or str
        What a file holds of it: a type such as `bool`, or a word of `lesson/schema`.
    part : str
        Where a task has it: "stop", "keep", or "task" itself.
    is_plain : bool
        Whether a file holds the value itself, which is given again to a lesson that goes on. What is not plain is
        described and made again by code of its own.
    decides : bool
        Whether it changes a step, or when a lesson ends: a file of another lesson is not continued.
    """

    stored: Any
    part: str = "task"
    is_plain: bool = True
    decides: bool = True


def option(usual: Any, stored: Any, **more: Any) -> Any:
    """Return a line of the table."""
    return dataclasses.field(default=usual, metadata={"option": Option(stored, **more)})


class LessonOptions(TypedDict, total=False):
    """The types of the options of a lesson, for functions that pass them on; see `Options`."""

    max_iterations: int
    tol: Tolerance
    measure: str | Measure
    stop_when_stationary: float | None
    patience: int | None
    snapshots: Iterable[int]
    record: str
    seed: int | None
    holdout: Holdout | None
    engine: str | RandomFeatures | Blocks


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a lesson as a caller gives them.

    Parameters
    ----------
    max_iterations : int
        The most steps.
    tol : float, "auto", a share such as "5%", or None
        Stop at the first t with a discrepancy below it (above it for a measure with `higher_is_better`); this is
        checked before anything is shown. A share is one of the target's deviation, in the unit of the measure. "auto"
        is "1%", 0.99 of an accuracy, and none for a measure in another unit. None never stops.
    measure : {"paper", "rms", "rkhs", "parameters", "accuracy"}, or a Measure of your own
        "paper" is sqrt(sum (f - f*)^2) / n; "rms" is sqrt(sum (f - f*)^2 / n). "rkhs" is the norm of f - f* in H,
        "parameters" is |w - w*| between two `LinearLearner`.
    stop_when_stationary : float, optional
        Stop before an example whose S = (slope K(x, x))^2 is not above it.
    patience : int, optional
        Stop when the discrepancy has not improved for this many steps.
    snapshots : steps at which to keep f^t on the pool
    record : {"auto", "all", "picks"}
        "all" keeps what was shown at each step, "picks" only how often each point was shown; "auto" changes from "all"
        to "picks" when the record becomes too large.
    seed : int or None
        All random choices are derived from it; None draws one and records it.
    holdout : (X, y) or (X, y, m), optional
        Points that are never shown, with their targets: `lesson.held_out` is the error on them, and
        `lesson.held_out_curve` that at the snapshots. With m, the curve is of the first m points and `held_out` of the
        others, so that a step that is chosen by the curve is measured on points that did not choose it.
    engine : {"auto", "reference", "grid", "neighbours", "cells", "streamed"}, Blocks, RandomFeatures or Nystroem
        How the lesson is run; "auto" takes the fastest engine that covers it, `lesson.engine` says which. `Blocks` cuts
        it into parts that are taught at the same time. The last two are approximations: their lesson is close to the
        exact one, not equal to it.
    """

    max_iterations: int = option(defaults.MAX_ITERATIONS, "count", part="stop", decides=False)
    tol: Tolerance = option(defaults.TOL, "size or none", part="stop")  # noqa: RUF009
    measure: str | Measure = option(defaults.MEASURE, "measure", is_plain=False)  # noqa: RUF009
    stop_when_stationary: float | None = option(None, "size or none", part="stop")
    patience: int | None = option(None, "count or none", part="stop")
    snapshots: Iterable[int] = option((), "counts", part="keep", decides=False)
    record: str = option("auto", "record", decides=False)
    seed: int | None = option(defaults.SEED, "count")
    holdout: Holdout | None = option(None, "points or none", is_plain=False)  # noqa: RUF009
    engine: str | RandomFeatures | Blocks = option(defaults.ENGINE, "anything", is_plain=False)  # noqa: RUF009

    @classmethod
    def of(cls, caller: str, given: Mapping[str, Any]) -> Options:
        """Return the options that were given to a function; refuse a misspelt one by its name, as Python does."""
        for name in given:
            if name not in OPTIONS:
                raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
        return cls(**given)


OPTIONS: dict[str, Option] = {part.name: part.metadata["option"] for part in dataclasses.fields(Options)}
USUAL: dict[str, Any] = {part.name: part.default for part in dataclasses.fields(Options)}


def takes_options(function: Called) -> Called:
    """Let `help()` and `inspect.signature` show the options that a function takes as `**options`, with their meaning.

    Examples
    --------
    >>> @takes_options
    ... def give(teacher: object, **options: object) -> None:
    ...     '''Give a lesson.'''
    >>> inspect.signature(give).parameters["max_iterations"].default
    20000
    """
    own = inspect.signature(function)
    named = inspect.signature(Options).parameters.values()
    first = [part for part in own.parameters.values() if part.kind is part.POSITIONAL_OR_KEYWORD]
    last = [part for part in own.parameters.values() if part.kind is part.KEYWORD_ONLY]
    listed = [part for part in named if part.name not in own.parameters]
    function.__signature__ = own.replace(parameters=[*first, *listed, *last])  # type: ignore[attr-defined]
    meaning = (Options.__doc__ or "").partition("----------\n")[2].rstrip()
    if function.__doc__ is not None:
        function.__doc__ = function.__doc__.replace("    **options : as in `Options`", meaning)
    return function


# ---------------------------------------------------------------- as text


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a setting is called in text: a line of a recipe's table.

    Attributes
    ----------
    says, panel : str
        What `--help` says of the option, and in which part.
    flags : tuple of str
        The option; "--" and the name of the field by default.
    option, column : str or None
        What it becomes: an option of `nimt.teach` (`Options`), or a parameter of `nimt.sources.Columns`.
    key, of_racer, least, most :
        What the studio's messages call it (None: not at all), whether each racer has its own, and what they may hold.
    only : str or None
        The one command that has it.
    without : tuple of str
        Commands that do not have it; nor has one that has an option of the same name itself.
    repeats : bool
        Whether it may be given several times; its texts are joined by commas.
    of_learner : bool
        Whether it is a parameter of `KernelLearner` of the same name.
    """

    says: str
    panel: str
    flags: tuple[str, ...] = ()
    option: str | None = None
    column: str | None = None
    key: str | None = None
    of_racer: bool = False
    least: float = 0.0
    most: float = math.inf
    only: str | None = None
    without: tuple[str, ...] = ()
    repeats: bool = False
    of_learner: bool = False


def entry(usual: Any, says: str, panel: str, *flags: str, **more: Any) -> Any:
    """Return a field of a recipe with its default."""
    return dataclasses.field(default=usual, metadata={"entry": Setting(says, panel, flags, **more)})


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptionsAsText:
    """The options of a lesson that can be said in text, as fields that every recipe has."""

    iterations: int = entry(
        defaults.MAX_ITERATIONS, "The most steps.", WHEN, "--iterations", "-n",
        option="max_iterations", key="steps", least=1, most=1e6, without=("shortest",),
    )  # fmt: skip
    tol: str = entry(
        defaults.TOL,
        "Stop when the measure is below it; 0 never stops. A number, a share of the target's deviation such as 5%, or "
        "auto: 1%, and 0.99 of an accuracy.",
        WHEN, option="tol", key="tol", least=1e-300, most=1e300,
    )  # fmt: skip
    measure: str | None = entry(
        None,
        f"{defaults.MEASURE}, the default (the n outside the root); rms; or accuracy, the default for classes.",
        WHEN, option="measure",
    )  # fmt: skip
    patience: int | None = entry(
        None, "Stop when nothing improved for so many steps.", WHEN, option="patience", without=FORECASTS
    )
    seed: int = entry(
        defaults.SEED, "Every random choice flows from it.", WHEN, option="seed", key="seed", most=2.0**32,
        without=("compare", "shortest"),
    )  # fmt: skip
    engine: str = entry(defaults.ENGINE, "auto takes the fastest that fits.", WHEN, option="engine", without=FORECASTS)

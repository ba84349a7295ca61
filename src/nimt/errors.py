"""All errors and warnings of nimt: each message is one sentence that names the value and says what to do.

A sentence has parts, and a part may differ between Python and the program (`wording`). So the program asks an error
for its words, instead of rewriting those for Python.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import warnings
from typing import TYPE_CHECKING, Self

from nimt.wording import say_in_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

NOT_GIVEN: object = object()


class NimtError(Exception):
    """Base class of all errors that nimt raises.

    Parameters
    ----------
    problem : str or Wording
        What is wrong; with a parameter, the sentence without its beginning.
    parameter : str, optional
        What was given, by its name in Python: the sentence begins with it.
    value : object, optional
        The value of the parameter, where the sentence begins with both.
    way_out : str or Wording, optional
        What to do.

    Examples
    --------
    >>> from nimt.wording import Wording
    >>> error = NimtError("must be a number, got 'a'", parameter="tol", way_out=Wording("leave tol out", "omit --tol"))
    >>> print(error)
    tol must be a number, got 'a': leave tol out
    >>> error.tell_in_program({"tol": "--tol"})
    "--tol must be a number, got 'a': omit --tol"
    >>> error = NimtError("needs a smooth loss", parameter="learning_rate", value="auto")
    >>> print(error)
    learning_rate='auto' needs a smooth loss
    >>> error.tell_in_program({"learning_rate": "--learning-rate"})
    '--learning-rate auto needs a smooth loss'
    """

    def __init__(
        self, problem: str = "", *, parameter: str | None = None, value: object = NOT_GIVEN, way_out: str | None = None
    ) -> None:
        self.problem: str = problem
        self.parameter: str | None = parameter
        self.way_out: str | None = way_out
        given = "" if value is NOT_GIVEN else f"={value!r}"
        self._given_in_program = "" if value is NOT_GIVEN else f" {value}"
        begin = "" if parameter is None else f"{parameter}{given} "
        super().__init__(f"{begin}{problem}" + ("" if way_out is None else f": {way_out}"))

    def tell_in_program(self, options: Mapping[str, str], *, with_way_out: bool = True) -> str:
        """Return the sentence in the words of the program.

        Parameters
        ----------
        options : mapping
            The option that each parameter comes from; a parameter without one keeps its name.
        with_way_out : bool
            Whether to say what to do as well.
        """
        option = None if self.parameter is None else options.get(self.parameter, self.parameter)
        begin = "" if option is None else f"{option}{self._given_in_program} "
        end = "" if self.way_out is None or not with_way_out else f": {say_in_program(self.way_out)}"
        return f"{begin}{say_in_program(self.problem)}{end}"


class InvalidInput(NimtError, ValueError):
    """A value that cannot be used; the message names it and says what is allowed."""


class IllConditioned(InvalidInput):
    """A Gram matrix too close to singular for a norm computed from it to mean anything."""


class MissingFile(InvalidInput, FileNotFoundError):
    """A file, or the folder to write it to, does not exist."""

    def __new__(cls, *_: object, **__: object) -> Self:
        return OSError.__new__(cls)  # without it, tools that copy errors between processes take ValueError's


class CorruptLesson(NimtError, ValueError):
    """A file that is truncated, altered, or not a lesson."""


class CannotStore(NimtError, TypeError):
    """An object of a class that nimt does not know, so that it cannot be written without pickle."""


class MissingExtra(NimtError, ImportError):
    """An optional dependency that is needed here and not installed."""


class LessonInterrupted(NimtError, RuntimeError):
    """A learner, teacher or callback of yours raised an error; `lesson` holds all that was recorded before it.

    The error itself is chained to it.
    """

    def __init__(self, message: str, lesson: object = None) -> None:
        super().__init__(message)
        self.lesson = lesson


class NotEnoughMemory(NimtError, MemoryError):
    """A lesson that does not fit into memory; the message says what it needs, what is free and what to change."""

    def __new__(cls, *_: object, **__: object) -> Self:
        return Exception.__new__(cls)  # without it, tools that copy errors between processes take MemoryError's


class StepSizeWarning(UserWarning):
    """The learning rate is above the bound the loss and the kernel allow."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the lesson continues, and the previous checkpoint is unchanged."""


class ResponseWarning(UserWarning):
    """The learner responds in a way that a teacher cannot use, as where a more distant label moves it no further."""


class StorageWarning(UserWarning):
    """Part of a lesson cannot be written to a file without pickle, and is left out."""


class TeacherWarning(UserWarning):
    """A teacher chooses by something that misleads it in this lesson, such as labels that are wrong."""


class NarrowKernelWarning(UserWarning):
    """The kernel reaches almost no neighbour: a learner remembers the examples and knows nothing between them."""


class SlowLessonWarning(UserWarning):
    """The plain loop runs a long lesson, because no compiled engine covers it."""


class DrawnRowsWarning(UserWarning):
    """More rows were given than an estimator fits, so that some were drawn."""


class OutsideOfSpaceWarning(UserWarning):
    """A part of f - f* is no function of the kernel on these points, and is left out of a norm in its space."""


class ConstantModelWarning(UserWarning):
    """No model errs less than the mean, or the most frequent class, on rows held out, so that this is predicted."""


@contextlib.contextmanager
def first_call_of(what: Callable[[], str]) -> Iterator[None]:
    """Name code of the user in the error that it raises in the block; the error itself is chained.

    `what` is called only where something was raised: a name may take longer to make than the call takes.

    Examples
    --------
    >>> with first_call_of(lambda: "Mine.predict"):
    ...     1 / 0
    Traceback (most recent call last):
    nimt.errors.InvalidInput: Mine.predict raised ZeroDivisionError (division by zero) at its first call
    """
    try:
        yield
    except (NimtError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInput(f"{what()} raised {type(error).__name__} ({error}) at its first call") from error


_kept: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("_kept", default=None)


@contextlib.contextmanager
def keep_warnings(texts: list[str]) -> Iterator[None]:
    """Append each text that `warn` is called with to a list, once, whether or not a filter of Python shows it."""
    before = _kept.set(texts)
    try:
        yield
    finally:
        _kept.reset(before)


def warn(text: str, category: type[Warning]) -> None:
    """Warn, and name as the place the first line outside nimt that led here: the one that the user wrote."""
    texts = _kept.get()
    if texts is not None and text not in texts:
        texts.append(text)
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "nimt":
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def name_thing(thing: object) -> str:
    """Return what a sentence calls an object: its repr, or its class where the repr tells only an address.

    Examples
    --------
    >>> class Pinball: ...
    >>> name_thing(Pinball()), name_thing(0.5)
    ('Pinball', '0.5')
    """
    return type(thing).__name__ if type(thing).__repr__ is object.__repr__ else repr(thing)

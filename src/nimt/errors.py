"""All errors and warnings of nimt: each message is one sentence that names the value and says what to do."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class NimtError(Exception):
    """Base class of all errors that nimt raises."""


class InvalidInput(NimtError, ValueError):
    """A value that cannot be used; the message names it and says what is allowed."""


class IllConditioned(InvalidInput):
    """A Gram matrix too close to singular for a norm computed from it to mean anything."""


class MissingFile(InvalidInput, FileNotFoundError):
    """A file, or the folder to write it to, does not exist."""


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


class StepSizeWarning(UserWarning):
    """The learning rate is above the bound the loss and the kernel allow."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the lesson continues, and the previous checkpoint is unchanged."""


class ResponseWarning(UserWarning):
    """A more distant label does not move the learner further, so a synthesised label gains nothing."""


class StorageWarning(UserWarning):
    """Part of a lesson cannot be written to a file without pickle, and is left out."""


class TeacherWarning(UserWarning):
    """A teacher chooses by something that misleads it in this lesson, such as labels that are wrong."""


class NarrowKernelWarning(UserWarning):
    """The kernel reaches almost no neighbour: a learner remembers the examples and knows nothing between them."""


@contextlib.contextmanager
def first_call_of(what: str) -> Iterator[None]:
    """Name code of the user in the error that it raises at its first call; the error itself is chained.

    Examples
    --------
    >>> with first_call_of("Mine.predict"):
    ...     1 / 0
    Traceback (most recent call last):
    nimt.errors.InvalidInput: Mine.predict raised ZeroDivisionError (division by zero) at its first call
    """
    with _named_in_errors(what, "at its first call"):
        yield


@contextlib.contextmanager
def before_the_first_step(what: str) -> Iterator[None]:
    """Name code of the user in the error that it raises while a lesson is prepared; the error itself is chained."""
    with _named_in_errors(what, "before the first step"):
        yield


@contextlib.contextmanager
def _named_in_errors(what: str, when: str) -> Iterator[None]:
    try:
        yield
    except (NimtError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInput(f"{what} raised {type(error).__name__} ({error}) {when}") from error


def warn(text: str, category: type[Warning]) -> None:
    """Warn, and name as the place the first line outside nimt that led here: the one that the user wrote."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "nimt":
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def named(thing: object) -> str:
    """Return what a sentence calls an object: its repr, or its class where the repr tells only an address.

    Examples
    --------
    >>> class Pinball: ...
    >>> named(Pinball()), named(0.5)
    ('Pinball', '0.5')
    """
    return type(thing).__name__ if type(thing).__repr__ is object.__repr__ else repr(thing)

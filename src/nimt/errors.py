"""Every error a user can meet: one sentence that names the value and says what to do."""

from __future__ import annotations


class NimtError(Exception):
    """The root of everything nimt raises on purpose."""


class InvalidInput(NimtError, ValueError):
    """A value that cannot be used; the message names it and says what is allowed."""


class IllConditioned(InvalidInput):
    """A Gram matrix too close to singular for a norm computed from it to mean anything."""


class MissingFile(InvalidInput, FileNotFoundError):
    """A file that is not there, or a folder to write it to."""


class CorruptLesson(NimtError, ValueError):
    """A file that is truncated, altered, or no lesson at all."""


class CannotStore(NimtError, TypeError):
    """An object that is not ours and so cannot be written without pickle."""


class NotEnoughMemory(NimtError, MemoryError):
    """A lesson that would not fit; the message says what it needs, what there is and what to change."""


class StepSizeWarning(UserWarning):
    """The learning rate is above the bound the loss and the kernel allow."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the lesson goes on and the one before stays whole."""


class ResponseWarning(UserWarning):
    """A learner does not move further for labels further away, so a synthesised label gains nothing."""

"""The record of a lesson, and how it is stored."""

from nimt.lesson.held_out import HeldOutError
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome

__all__ = ["HeldOutError", "Lesson", "Outcome"]

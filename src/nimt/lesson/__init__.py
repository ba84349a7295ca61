"""The record of a lesson, and how it is stored."""

from nimt.lesson.lesson import Lesson, Outcome

__all__ = ["Lesson", "Outcome"]

"""The functions that users call: teach, steps, resume, plan, compare."""

from nimt.session.session import Progress, Session
from nimt.teaching.comparing import compare
from nimt.teaching.comparison import Comparison, compare_lessons
from nimt.teaching.lessons import plan, resume, steps, teach

__all__ = ["Comparison", "Progress", "Session", "compare", "compare_lessons", "plan", "resume", "steps", "teach"]

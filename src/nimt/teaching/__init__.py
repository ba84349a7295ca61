"""The functions that users call: teach, steps, resume, plan, compare."""

from nimt.teaching.comparing import compare
from nimt.teaching.comparison import Comparison, compare_lessons
from nimt.teaching.running import Progress
from nimt.teaching.teaching import Steps, plan, resume, steps, teach

__all__ = ["Comparison", "Progress", "Steps", "compare", "compare_lessons", "plan", "resume", "steps", "teach"]

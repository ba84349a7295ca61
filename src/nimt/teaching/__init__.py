"""The functions that users call: teach, steps, resume, plan."""

from nimt.session.session import Progress, Session
from nimt.teaching.lessons import plan, resume, steps, teach

__all__ = ["Progress", "Session", "plan", "resume", "steps", "teach"]

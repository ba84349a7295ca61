"""Ways to run a lesson: the plain loop, and faster ones that equal it."""

from nimt.engines.choosing import ENGINES, Plan

__all__ = ["ENGINES", "Plan"]

"""Engines run lessons. The reference loop is the specification; every other one is proven equal to it."""

from nimt.engines.base import Chunk, Engine, Task, Watch
from nimt.engines.choosing import ENGINES, make_engine
from nimt.engines.reference import ReferenceEngine

__all__ = ["ENGINES", "Chunk", "Engine", "ReferenceEngine", "Task", "Watch", "make_engine"]

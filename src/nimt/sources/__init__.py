"""Where functions come from: a picture, an array, a table, or a function with a name."""

from __future__ import annotations

from nimt.sources.problem import Problem, read_problem
from nimt.sources.reading import read_source
from nimt.sources.source import Source
from nimt.sources.tables import Columns

__all__ = ["Columns", "Problem", "Source", "read_problem", "read_source"]

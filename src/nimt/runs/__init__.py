"""Collections of lessons: compared or swept, side by side, resumable, as tables."""

from nimt.runs.comparing import compare
from nimt.runs.comparison import Comparison
from nimt.runs.sweep_progress import SweepProgress
from nimt.runs.sweep_table import Group, Sweep
from nimt.runs.sweeping import sweep

__all__ = ["Comparison", "Group", "Sweep", "SweepProgress", "compare", "sweep"]

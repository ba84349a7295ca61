"""Sweeps: many lessons side by side, resumable, as a table."""

from nimt.sweeps.progress import SweepProgress
from nimt.sweeps.sweep import Group, Sweep
from nimt.sweeps.sweeping import sweep

__all__ = ["Group", "Sweep", "SweepProgress", "sweep"]

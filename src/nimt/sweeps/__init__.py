"""Sweeps: many lessons side by side, resumable, as a table."""

from nimt.sweeps.sweep import Group, Sweep
from nimt.sweeps.sweeping import SweepProgress, sweep

__all__ = ["Group", "Sweep", "SweepProgress", "sweep"]

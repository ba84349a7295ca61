"""The paper's experiments: their settings, the published numbers, and the results of nimt."""

from __future__ import annotations

from nimt.paper.registry import EXPERIMENTS, FAMILY
from nimt.paper.reproducing import Event, reproduce

__all__ = ["EXPERIMENTS", "FAMILY", "Event", "reproduce"]

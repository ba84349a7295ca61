"""The program `nimt`: everything it does is done by the library."""

from __future__ import annotations

from nimt.cli.app import main

__all__ = ["main"]

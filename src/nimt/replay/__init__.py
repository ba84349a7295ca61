"""A lesson as one HTML file that plays it: forwards, backwards, to any step, without a server."""

from __future__ import annotations

from nimt.replay.page import replay_page, write_replay
from nimt.replay.recording import Recording, record_of

__all__ = ["Recording", "record_of", "replay_page", "write_replay"]

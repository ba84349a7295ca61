"""A lesson as one HTML file that plays it: forwards, backwards, to any step, without a server."""

from __future__ import annotations

from nimt.replay.lesson_recording import Recording, record_of
from nimt.replay.player_page import replay_page, write_replay

__all__ = ["Recording", "record_of", "replay_page", "write_replay"]

"""Beat the greedy teacher: a game as one HTML file, and the results of a class as a figure."""

from __future__ import annotations

from nimt.challenge.challenge_page import challenge_page, write_challenge
from nimt.challenge.challenges import Challenge, Played
from nimt.challenge.result_codes import read_code, write_code

__all__ = ["Challenge", "Played", "challenge_page", "read_code", "write_challenge", "write_code"]

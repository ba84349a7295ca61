"""The challenge as one HTML file: a telephone plays it without a server."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from nimt.challenge.challenges import Challenge
from nimt.challenge.result_codes import CHECK, CHECK_BITS, GAME_BITS, GROUP, LETTERS
from nimt.replay.joined_modules import join_modules
from nimt.replay.lesson_recording import Recording, record_of
from nimt.replay.player_page import page_of, read_shipped
from nimt.store.whole_files import write_text

TITLE = "Beat the greedy teacher"


def write_challenge(challenge: Challenge, path: Path) -> None:
    """Write the page, whole or not at all."""
    write_text(path, challenge_page(challenge))


def challenge_page(challenge: Challenge) -> str:
    """Return the page as text."""
    played = record_of(challenge.greedy, title=TITLE)
    header = played.header | {
        "rate": challenge.rate, "clicks": challenge.clicks, "game": challenge.number,
        "chances": challenge.chances.tolist(), "greedy": challenge.greedy.discrepancy.tolist(),
        "code": {"letters": LETTERS, "check": CHECK, "check_bits": CHECK_BITS, "game_bits": GAME_BITS, "group": GROUP},
    }  # fmt: skip
    script = join_modules("challenge", _read_module, begin="playChallengeOfPage")
    style = read_shipped("replay.css") + _read("challenge.css")
    return page_of([Recording(header, played.blocks)], body=_read("challenge.html"), style=style, script=script)


def _read(name: str) -> str:
    return (resources.files("nimt.challenge") / "static" / name).read_text(encoding="utf-8")


def _read_module(name: str) -> str:
    return _read(name) if name == "challenge.js" else read_shipped(name)

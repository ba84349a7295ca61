"""One HTML file that plays a lesson, or several on one clock: script, style and numbers inside, nothing loaded."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import resources
from os import PathLike
from pathlib import Path

from nimt.errors import InvalidInput, MissingFile
from nimt.lesson.lesson import Lesson
from nimt.replay.joined_modules import join_modules
from nimt.replay.lesson_recording import LARGEST, Recording, record_of
from nimt.store.whole_files import write_text

MOST_LESSONS = 6  # side by side on one page
MOST_BYTES = 10_000_000  # of a page, which is to be sent by mail and opened by a telephone
LEAST = 2**16  # bytes of steps below which a page that is too large is not too large for its steps


def write_replay(lesson: Lesson, path: str | PathLike[str], *, title: str = "A lesson") -> Path:
    """Write the page that plays a lesson, whole or not at all, and return its path."""
    file = _file_for(path)
    write_text(file, lesson_page(lesson, title=title))
    return file


def lesson_page(lesson: Lesson, *, title: str) -> str:
    """Return the page that plays a lesson, of at most 10 MB."""
    return _fit(lambda largest: [record_of(lesson, title=title, largest=largest)], MOST_BYTES)


def _fit(record: Callable[[int], Sequence[Recording]], most: int) -> str:
    """Return a page that is small enough: of long lessons fewer steps are kept, and the page says how many."""
    largest = LARGEST
    while True:
        recordings = record(largest)
        page = replay_page(recordings)
        if len(page.encode()) <= most:
            return page
        largest //= 2
        if largest < LEAST:
            points = max(recording.header["points"] for recording in recordings)
            raise InvalidInput(
                f"a replay takes at most {most / 1e6:g} MB, and the {points:,} points of this lesson take more",
                way_out="use lesson.animate(path), or teach fewer points",
            )


def write_race(lessons: Mapping[str, Lesson], path: str | PathLike[str], *, title: str = "A race") -> Path:
    """Write the page that plays lessons of one problem on one clock, and return its path."""
    if len(lessons) > MOST_LESSONS:
        raise InvalidInput(
            f"a page plays {MOST_LESSONS} lessons side by side, and this comparison has {len(lessons)} teachers",
            way_out="compare fewer of them",
        )
    file = _file_for(path)

    def record(largest: int) -> list[Recording]:
        room = largest // len(lessons)
        records = ((name, record_of(lesson, title=title, largest=room)) for name, lesson in lessons.items())
        return [Recording(record.header | {"teacher": name}, record.blocks) for name, record in records]

    write_text(file, _fit(record, MOST_BYTES))
    return file


def _file_for(path: str | PathLike[str]) -> Path:
    file = Path(path)
    if not file.parent.is_dir():
        raise MissingFile(f"there is no folder {file.parent} to write the replay {file.name} in: make it first")
    if file.is_dir():
        raise InvalidInput(f"a replay is written to a file, and {file} is a folder: name a file in it, such as a.html")
    return file


def replay_page(recordings: Sequence[Recording]) -> str:
    """Return the page of one lesson, or of several, as text."""
    script = join_modules("player", read_shipped, begin="playRecordingOfPage")
    return page_of(recordings, body=read_shipped("replay.html"), style=read_shipped("replay.css"), script=script)


def page_of(recordings: Sequence[Recording], *, body: str, style: str, script: str) -> str:
    """Return a page that holds its numbers, its style and its script."""
    title = escape(str(recordings[0].header["title"]))
    data = "".join(
        f'<script type="text/plain" class="recording">{_pack(recording)}</script>\n' for recording in recordings
    )
    only = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # the page may run this one script and nothing else, and may load nothing
    policy = f"default-src 'none'; script-src 'sha256-{only}'; style-src 'unsafe-inline'; img-src data: blob:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f'{data}<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _pack(recording: Recording) -> str:
    return base64.b64encode(zlib.compress(recording.to_bytes(), 9)).decode()


def read_shipped(name: str) -> str:
    """Return the text of a file that ships with the player."""
    return (resources.files("nimt.replay") / "static" / name).read_text(encoding="utf-8")

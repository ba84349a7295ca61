"""The record of a finished experiment, and whether it may be used instead of a new run."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from nimt._version import __version__
from nimt.datasets import Picture
from nimt.lesson.descriptions import versions
from nimt.lesson.identity import fingerprint
from nimt.paper.experiment import PaperSetting
from nimt.store.whole_files import write_text

FORMAT = 2
RECORDS = "records"
FIGURES = "figures"


def mark_of(name: str, setting: PaperSetting, pictures: tuple[Picture, ...]) -> str:
    """Return a fingerprint of all that the results depend on: settings, data, versions and nimt's own code."""
    asked = [setting.iterations, setting.width, setting.learning_rate, setting.seeds]
    parts: list[object] = [FORMAT, name, asked, __version__, versions(), _drawing_versions(), _own_code()]
    return fingerprint(parts + [[picture.source, picture.values] for picture in pictures])


def keep(out: Path, record: dict[str, Any]) -> None:
    """Write the record of a finished experiment, with the checksums of its files."""
    marked = record | {"files": {file: _digest((out / file).read_bytes()) for file in files_of(record)}}
    folder = out / RECORDS
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{record['name']}.json", json.dumps(marked, indent=1))


def find_finished(out: Path, name: str, expected: str) -> dict[str, Any] | None:
    """Return the record of an experiment finished before, or None if it cannot replace a new run."""
    try:
        record = json.loads((out / RECORDS / f"{name}.json").read_text("utf-8"))
        if record["fingerprint"] != expected:
            return None
        whole = all(_digest((out / file).read_bytes()) == digest for file, digest in record["files"].items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return record if whole and set(record["files"]) == set(files_of(record)) else None


def files_of(record: dict[str, Any]) -> list[str]:
    """Return the paths of an experiment's figures and lessons, relative to the output folder."""
    figures = [figure[kind] for figure in record["figures"] for kind in ("png", "pdf")]
    return figures + [lesson[kind] for lesson in record["files_of_lessons"] or () for kind in ("csv", "npz")]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _drawing_versions() -> dict[str, str]:
    return {package: version(package) for package in ("matplotlib", "numba", "pillow")}


@cache
def _own_code() -> str:
    """Return a digest of nimt's source files: a changed engine may change the results."""
    total = hashlib.sha256()
    home = Path(str(files("nimt")))
    for path in sorted(home.rglob("*.py")):
        total.update(path.relative_to(home).as_posix().encode() + path.read_bytes())
    return total.hexdigest()

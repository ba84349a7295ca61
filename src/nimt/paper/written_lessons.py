"""The lessons of an experiment as files: each as npz, and its curve as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from nimt.lesson.lesson import Lesson
from nimt.store.whole_files import write_text

LESSONS = "lessons"


def write_lessons(out: Path, experiment: str, lessons: Iterable[tuple[str, Lesson]]) -> list[dict[str, str]]:
    """Write lessons, each with its name, and return their names, seeds and paths relative to the folder.

    A lesson is read back by `nimt.Lesson.load`. Its curve has a row per step: the step and the discrepancy, every
    digit of it.
    """
    folder = Path(LESSONS) / experiment
    (out / folder).mkdir(parents=True, exist_ok=True)
    written: dict[str, dict[str, str]] = {}
    for name, lesson in lessons:
        seed = str(lesson.settings["seed"])
        stem = find_stem(name, seed, written)
        paths = {kind: (folder / f"{stem}.{kind}").as_posix() for kind in ("csv", "npz")}
        write_text(out / paths["csv"], spell_curve(lesson))
        lesson.save(out / paths["npz"])
        written[stem] = {"name": name, "seed": seed, **paths}
    return list(written.values())


def spell_curve(lesson: Lesson) -> str:
    """Return the curve of a lesson as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["step", "discrepancy"])
    writer.writerows(enumerate(map(repr, lesson.discrepancy.tolist())))
    return text.getvalue()


def find_stem(name: str, seed: str, taken: Iterable[str]) -> str:
    """Return the name of a lesson as that of a file, which no other has.

    Examples
    --------
    >>> find_stem("GFT-0.05, k = 2", "1", [])
    'gft-0.05-k-2-seed-1'
    """
    stem = re.sub(r"[^a-z0-9.+-]+", "-", name.lower()).strip("-.")[:80] + f"-seed-{seed}"
    number = 2
    found = stem
    while found in taken:
        found, number = f"{stem}-{number}", number + 1
    return found

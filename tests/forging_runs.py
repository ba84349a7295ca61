"""Forge the folders of runs, and give them to every command that reads one. Run as a program by the tests.

A command ends with 0, or with 2 and one sentence; it never ends in a traceback or a signal.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

from forging import places, with_change
from nimt.cli.app import run
from nimt.lesson.lesson import Lesson
from nimt.store import records

FIGURES = 0.03  # the share of lessons that are drawn, which takes a second each


def honest_runs(folder: Path) -> list[tuple[Path, Path]]:
    """Write runs of every kind of source; return their folders, each with a table to predict."""
    rng = np.random.default_rng(0)
    points = folder / "points.csv"
    points.write_text("x_1,x_2\n0.5,0.25\n-1,2\n")
    rows = folder / "rows.csv"
    words, kinds = ("red", "blue", "green"), ("c", "ab", "ab")
    lines = (f"{i % 7 or ''},{words[i % 3]},{kinds[i % 3]},{i * i}\n" for i in range(40))
    rows.write_text("size,colour,kind,price\n" + "".join(lines))
    wide = folder / "wide.csv"
    wide.write_text("size,colour,kind\n" + "".join(f"{i},{'rbg'[i % 3]},{'xyz'[i % 3]}\n" for i in range(40)))
    Image.fromarray(rng.integers(0, 256, size=(7, 6, 3), dtype=np.uint8)).save(folder / "picture.png")
    runs = {
        "curve": (("gmm", "--from", "gmm:start", "--learning-rate", "0.01"), points),
        "picture": (("digit:8", "--size", "9", "-k", "3"), points),
        "colours": ((folder / "picture.png", "--teacher", "random", "-k", "2"), points),
        "classes": ((rows, "--target-column", "kind", "--missing", "mean"), rows),
        "many classes": ((wide, "--target-column", "kind"), wide),
        "numbers": ((rows, "--target-column", "price", "--missing", "drop", "--duplicates", "mean"), rows),
    }
    for name, (arguments, _) in runs.items():
        with mock.patch("nimt.reports.lesson_page.write_lesson_report", return_value=[]):
            ends = run(["teach", *map(str, arguments), "-n", "12", "-q", "--out", str(folder / name)])
        assert ends == 0, name
        saved = folder / f"{name}, saved"  # with its learner in the place of the state to go on from
        shutil.copytree(folder / name, saved)
        Lesson.load(saved / "lesson.npz").save(saved / "lesson.npz")
    return [(folder / f"{name}{kind}", table) for name, (_, table) in runs.items() for kind in ("", ", saved")]


def forge(path: Path, rng: np.random.Generator) -> str | None:
    """Change one value in a file, and seal it again; return what was changed, None if it cannot be written."""
    content = records.read(path, "lesson")
    where = places(content)
    place = where[rng.integers(len(where))]
    changed = with_change(content, place, rng)
    if not isinstance(changed, dict):
        return None
    try:
        records.write(path, "lesson", changed)
    except (TypeError, ValueError):
        return None  # not even a forger could write it
    return "/".join(map(str, place))


def main(count: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    refused, broken = 0, Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        runs = honest_runs(folder)
        for number in range(count):
            honest, table = runs[rng.integers(len(runs))]
            forged = folder / "forged"
            shutil.rmtree(forged, ignore_errors=True)
            shutil.copytree(honest, forged)
            changed = forge(forged / "lesson.npz", rng)
            if changed is None:
                continue
            commands = [["show"], ["show", "--json"], ["export", "--out", "exported"], ["predict", str(table)]]
            commands.append(["resume", "-n", "20", "-q", "--time-limit", "2"])
            if rng.random() < FIGURES:
                commands.append(["show", "--figures"])
            for command in commands:
                said, complaints = io.StringIO(), io.StringIO()
                what = f"{number} {honest.name} {changed}: nimt {command[0]} forged {' '.join(command[1:])}"
                print(what, file=sys.__stderr__, flush=True)  # the last line names what killed the process
                try:
                    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaints):
                        code = run([command[0], "forged", *command[1:]])
                except Exception as error:
                    last = traceback.extract_tb(error.__traceback__)[-1]
                    broken[f"{type(error).__name__}: {error!s:.80}, {last.filename}:{last.lineno}"] += 1
                    print(what, "\n", traceback.format_exc())
                    continue
                sentences = [line for line in complaints.getvalue().splitlines() if line.startswith("nimt: error:")]
                if code == 2:
                    refused += 1
                if code not in (0, 1, 2) or (code == 2 and len(sentences) != 1):
                    broken[f"code {code}, {sentences}"] += 1
                    print(what, code, complaints.getvalue())
    for reason, times in broken.most_common():
        print(times, reason)
    print(f"{count} forged runs, {refused} refusals, {sum(broken.values())} tracebacks, seed {seed}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))

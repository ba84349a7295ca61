"""Trace one call of each kind, and print how long the way through the house is.

    python tools/trace_lesson.py

Functions and files of nimt that one call passes (`sys.setprofile`, after everything is loaded and compiled), how often
a task is built, a file is read and an engine is chosen, and the time of a short lesson without its steps.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import nimt

HOME = str(Path(nimt.__file__).parent)
STEPS = 5000


def a_lesson(**options: Any) -> nimt.Lesson:
    """Teach the lesson of the README, 247 steps."""
    x = nimt.Grid(np.linspace(-2, 4, 200))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), loss="square", learning_rate=0.1)
    return nimt.teach(learner, nimt.GreedyTeacher(k=1), x, np.sin, tol=1e-3, max_iterations=STEPS, **options)


def passed(call: Callable[[], Any]) -> tuple[set[tuple[str, str]], int]:
    """Return the functions of nimt that a call passes, as (file, name), and how often the file changes."""
    found: set[tuple[str, str]] = set()
    changes, before = 0, ""

    def note(frame: Any, event: str, _: Any) -> None:
        nonlocal changes, before
        if event != "call" or not frame.f_code.co_filename.startswith(HOME):
            return
        found.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        changes += frame.f_code.co_filename != before
        before = frame.f_code.co_filename

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found, changes


@contextlib.contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Count the tasks that are built, the files that are read and the engines that are chosen in the block."""
    from nimt.engines import choice as choosing
    from nimt.lesson import storage
    from nimt.task.task import Task

    counts = {"tasks built": 0, "files read": 0, "engines chosen": 0}

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return call

    before = Task.__init__, storage.read, choosing.choose
    Task.__init__ = counting("tasks built", before[0])  # type: ignore[method-assign]
    storage.read = counting("files read", before[1])
    choosing.choose = counting("engines chosen", before[2])
    try:
        yield counts
    finally:
        Task.__init__, storage.read, choosing.choose = before  # type: ignore[method-assign]


def seconds_of_set_up(times: int = 200) -> float:
    """Return the median seconds of a lesson without its steps."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        lesson = a_lesson()
        found.append(time.perf_counter() - began - lesson.elapsed)
    return float(np.median(found))


def resumed(folder: Path) -> None:
    """Go on with a run that was stopped, by the program."""
    from nimt.cli.app import run

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(["resume", str(folder), "-n", "30", "-q"])


def raced() -> None:
    """Teach one racer of the studio to the end."""
    from nimt.studio.racer import Racer
    from nimt.studio.requests import read_request

    request = read_request({"problem": {"kind": "named", "name": "gmm"}, "racers": [{"teacher": "greedy"}]})
    racer = Racer(request.racers[0], request.rules, request.setting)
    racer.begin()
    while not racer.over:
        racer.slice()


def main() -> None:
    """Print the table."""
    for _ in range(3):
        a_lesson()
    functions, changes = passed(a_lesson)
    files = {file for file, _ in functions}
    print(f"nimt.teach, 247 steps: {len(functions)} functions in {len(files)} files, {changes} changes of file")
    print(f"set-up of a lesson: {1e3 * seconds_of_set_up():.2f} ms (median of 200)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        from nimt.cli.app import run

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(["teach", "gmm", "-n", "20", "--tol", "0", "--out", str(folder), "-q"])
        with counted() as counts:
            resumed(folder)
        print("nimt resume:", ", ".join(f"{count} {name}" for name, count in counts.items()))
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in Path(HOME).rglob("*.py"))
    print(f"public names at the top: {len(nimt.__all__)}")
    print(f"lines in src/nimt: {lines:,}")


if __name__ == "__main__":
    main()

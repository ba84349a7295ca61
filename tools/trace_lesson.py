"""Trace one call of each kind, and print how long the way of its data is, as a table: first, now, aim.

    python tools/trace_lesson.py

Functions and files of nimt that one call passes (`sys.setprofile`, after everything is loaded and compiled), how often
a task is built, a file is read and an engine is chosen, the time of a short lesson without its steps, the seconds of
processor that new processes take, with their code compiled before, the public names and the lines. "First" is what was
measured when the aims were set.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
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
FIRST_LESSON = """
import numpy as np, nimt
learner = nimt.KernelLearner(nimt.rbf(width=0.5), loss="square", learning_rate=0.1)
nimt.teach(learner, nimt.GreedyTeacher(k=1), nimt.Grid(np.linspace(-2, 4, 200)), np.sin, tol=1e-3, max_iterations=5000)
"""


COMMANDS = (
    (("teach", "gmm", "--out", "with-figure", "--overwrite", "-q"), "6.8 s", "1.5 s"),
    (("teach", "gmm", "--figures", "none", "--out", "without", "--overwrite", "-q"), "6.8 s", "1.1 s"),
    (("plan", "gmm"), "3.6 s", "1.2 s"),
    (("forecast", "gmm"), "3.6 s", "1.2 s"),
)


def give_lesson(**options: Any) -> nimt.Lesson:
    """Teach the lesson of the README, 247 steps."""
    x = nimt.Grid(np.linspace(-2, 4, 200))
    learner = nimt.KernelLearner(nimt.rbf(width=0.5), loss="square", learning_rate=0.1)
    return nimt.teach(learner, nimt.GreedyTeacher(k=1), x, np.sin, tol=1e-3, max_iterations=STEPS, **options)


def trace(call: Callable[[], Any]) -> tuple[set[tuple[str, str]], int]:
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
def count_calls() -> Iterator[dict[str, int]]:
    """Count the tasks that are built, the files that are read and the engines that are chosen in the block."""
    from nimt.engines import choice as choosing
    from nimt.store import records
    from nimt.task.task import Task

    counts = {"tasks built": 0, "files read": 0, "engines chosen": 0}

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return call

    before = Task.__init__, records.read, choosing.choose
    Task.__init__ = counting("tasks built", before[0])  # type: ignore[method-assign]
    records.read = counting("files read", before[1])
    choosing.choose = counting("engines chosen", before[2])
    try:
        yield counts
    finally:
        Task.__init__, records.read, choosing.choose = before  # type: ignore[method-assign]


def seconds_of_set_up(times: int = 200) -> float:
    """Return the least seconds of a lesson without its steps: what else the machine does only adds to it."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        lesson = give_lesson()
        found.append(time.perf_counter() - began - lesson.elapsed)
    return min(found)


def seconds_of_process(*arguments: str, times: int = 3) -> float:
    """Return the least seconds of processor that a new Python takes for this, with compiled code and bytecode on disk.

    A package that is installed has its bytecode; here it is kept in a folder of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        given["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        found = []
        for _ in range(times + 1):  # the first one writes the bytecode
            before = os.times()
            subprocess.run([sys.executable, *arguments], check=True, cwd=folder, env=given, stdout=subprocess.DEVNULL)
            after = os.times()
            spent = (getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
            found.append(sum(spent))
        return min(found[1:])


def resume_run(folder: Path) -> None:
    """Go on with a run that was stopped, by the program."""
    from nimt.cli.app import run

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(["resume", str(folder), "-n", "30", "-q"])


def run_race() -> None:
    """Teach one racer of the studio to the end."""
    from nimt.studio.racer import Racer
    from nimt.studio.requests import read_recipe, read_setting

    setting = read_setting({"kind": "named", "name": "gmm"}, {"kind": "named", "name": "gmm:start"}, {})
    racer = Racer(read_recipe({"steps": 500, "tol": None}, {"teacher": "greedy", "rate": 0.05}), setting)
    racer.begin()
    while not racer.over:
        racer.slice()


def count_resume() -> dict[str, int]:
    """Return what going on with a run does, by the program."""
    from nimt.cli.app import run

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(["teach", "gmm", "-n", "20", "--tol", "0", "--out", str(folder), "-q"])
        with count_calls() as counts:
            resume_run(folder)
    return counts


def main() -> None:
    """Print the table."""
    for _ in range(3):
        give_lesson()
    functions, _ = trace(give_lesson)
    files = {file for file, _ in functions}
    resume = count_resume()
    with count_calls() as race:
        run_race()
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in Path(HOME).rglob("*.py"))
    rows = [
        ("`nimt.teach`, 247 steps: functions", "220", str(len(functions)), "90"),
        ("the same: files", "39", str(len(files)), "20"),
        ("set-up of a lesson", "2.3 ms", f"{1e3 * seconds_of_set_up():.1f} ms", "0.8 ms"),
        ("first lesson in a new process", "3.2 s", f"{seconds_of_process('-c', FIRST_LESSON):.2f} s", "1.0 s"),
        *(
            (f"`nimt {' '.join(words)}`", first, f"{seconds_of_process('-m', 'nimt', *words):.2f} s", aim)
            for words, first, aim in COMMANDS
        ),
        ("`nimt resume`: files read", "4", str(resume["files read"]), "1"),
        ("the same: tasks built", "3", str(resume["tasks built"]), "1"),
        ("a race: engines chosen", "2", str(race["engines chosen"]), "1"),
        ("public names at the top", "91", str(len(nimt.__all__)), "50"),
        ("lines in `src/nimt`", "41,500", f"{lines:,}", "36,000"),
    ]
    print("| what is measured | first | now | aim |\n|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()

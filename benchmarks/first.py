"""What a first lesson costs: in an environment where nothing is compiled yet, in a new process, and before it runs."""

from __future__ import annotations

import cProfile
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import nimt
from benchmarks import bounds
from benchmarks.results import timed

LESSON = """
import numpy as np
import nimt
picture = np.sin(np.arange(784.0)).reshape(28, 28)
learner = nimt.KernelLearner(nimt.rbf(width=0.5))
lesson = nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(picture), picture, max_iterations=1000)
assert lesson.engine == "grid"
"""
BYTECODE = tempfile.TemporaryDirectory()  # a package that is installed has its bytecode, which here may not be written
ROWS, COLUMNS = 300_000, 6
LOADED = ("numpy", "numba")  # what most of the time of a new process goes to
DRAWING = ("numba", "matplotlib.figure", "matplotlib.backends.backend_agg")
ONE_LINE = """
import numba
@numba.njit(cache=True)
def more(x):
    return x + 1.0
more(1.0)
"""


def first_lesson(bench):
    """Processor time of whole processes: it does not grow while other programs run, as the time by the clock does."""
    with tempfile.TemporaryDirectory() as folder:
        caches = [{**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / f"compiled-{number}")} for number in range(3)]
        fresh = min(processor_time("-c", LESSON, env=cache) for cache in caches)
        again = min(processor_time("-c", LESSON, env=caches[0]) for _ in range(5))
        least = Path(folder) / "one_line.py"  # what numba takes for the shortest function there is
        least.write_text(ONE_LINE)
        compiled = min(processor_time(str(least), env=cache) for cache in caches)
        kept = min(processor_time(str(least), env=caches[0]) for _ in range(3))
        left_out = modules_of(str(least)) - modules_of("-c", LESSON)
        loading = {name: min(processor_time("-c", f"import {name}") for _ in range(3)) for name in LOADED}
        notes = ", ".join(f"import {name} {seconds:.2f} s" for name, seconds in loading.items())
        bench.row("first lesson in a new environment, processor time", "<= 2.75 s", fresh,
                  note=f"{fresh - again:.1f} s of it compile; a function of one line {compiled:.2f} s",
                  bound=bounds.more(compiled, "compiling: numba compiles a function of one line in", "s"))  # fmt: skip
        bench.row("first lesson in a new process, processor time", "<= 0.75 s", again,
                  bound=bounds.imports(*LOADED),
                  note=f"{notes}; a function of one line that numba kept {kept:.2f} s, for which it loads "
                       f"{left_out} modules that a lesson leaves out")  # fmt: skip
        helped = min(processor_time("-m", "nimt", "--help") for _ in "abc")
        bench.row("nimt --help, processor time", "<= 0.75 s", helped, bound=bounds.imports("typer", "rich.console"))
        commands(bench, folder)
        rows = ROWS // 10 if bench.quick else ROWS
        table = write_table(Path(folder) / "table.csv", rows)
        planned = min(processor_time("-m", "nimt", "plan", str(table)) for _ in range(2))
        read = f"import pandas; pandas.read_csv({str(table)!r})"
        bench.row(f"table of {rows:,} x {COLUMNS} planned, reading included, processor time", "<= 5 s", planned,
                  bound=lambda: f"reading: pandas reads it in {processor_time('-c', read):.2f} s")  # fmt: skip


COMMANDS = {
    "nimt teach gmm --figures none": (1.1, ("teach", "gmm", "--figures", "none", "--out", "")),
    "nimt teach gmm --figures png": (1.5, ("teach", "gmm", "--figures", "png", "--out", "")),
    "nimt plan gmm": (1.2, ("plan", "gmm")),
    "nimt forecast gmm": (1.2, ("forecast", "gmm")),
}


def commands(bench, folder):
    """Whole commands by the clock, and their processor time, which other programs do not make longer."""
    wall, processor = np.min([clock("-c", LESSON) for _ in range(5)], axis=0)
    bench.row("first lesson in a new process, by the clock", "<= 1.0 s", wall,
              note=f"{processor:.2f} s of a core", bound=bounds.imports(*LOADED))  # fmt: skip
    for number, (command, (goal, arguments)) in enumerate(COMMANDS.items()):
        outs = [Path(folder) / f"run-{number}-{repeat}" for repeat in range(4)]
        times = [clock("-m", "nimt", *(part or str(out) for part in arguments)) for out in outs]
        wall, processor = np.min(times, axis=0)
        bench.row(f"{command}, by the clock", f"<= {goal} s", wall, note=f"{processor:.2f} s of a core",
                  bound=bounds.imports(*(DRAWING if "png" in arguments else LOADED)))  # fmt: skip
    bench.row("set-up of one lesson, 28x28", "<= 0.8 ms", set_up(),
              bound=lambda: f"calls of Python: {count_calls()} functions are called")  # fmt: skip


def set_up(repeat=300):
    """Return the milliseconds of a lesson without steps, the least of many."""
    teach_nothing()
    return 1e3 * timed(teach_nothing, repeat)[0]


def teach_nothing():
    picture = np.sin(np.arange(784.0)).reshape(28, 28)
    learner = nimt.KernelLearner(nimt.rbf(width=0.5))
    return nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid.like(picture), picture, max_iterations=0)


def count_calls():
    """Return how many functions the set-up of a lesson calls."""
    watch = cProfile.Profile()
    watch.runcall(teach_nothing)
    return pstats.Stats(watch).total_calls


def modules_of(*arguments):
    """Return how many modules of numba and scipy a program loads."""
    code = "import runpy, sys; given = sys.argv[1:]; exec(given[1]) if given[0] == '-c' else runpy.run_path(given[0])"
    count = "print(sum(name.split('.')[0] in ('numba', 'scipy') for name in sys.modules))"
    command = [sys.executable, "-c", f"{code}\n{count}", *arguments]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def clock(*arguments):
    """Return the seconds by the clock and of processor time that a Python of its own takes."""
    began = time.perf_counter()
    processor = processor_time(*arguments)
    return time.perf_counter() - began, processor


def write_table(path, rows):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(rows, COLUMNS))
    target = np.sin(features[:, 0]) + features[:, 1] * features[:, 2]
    names = ",".join([f"x{number}" for number in range(COLUMNS)] + ["y"])
    np.savetxt(path, np.column_stack([features, target]), delimiter=",", header=names, comments="", fmt="%.6g")
    return path


def processor_time(*arguments, env=None):
    """Return the seconds of processor time that a Python of its own takes."""
    given = {name: value for name, value in (env or os.environ).items() if name != "PYTHONDONTWRITEBYTECODE"}
    given["PYTHONPYCACHEPREFIX"] = BYTECODE.name
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=given)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

"""Processes that start together compile every function once, and lose nothing of each other."""

import os
import subprocess
import sys

import pytest

from nimt.plain_numba import PLAIN_NUMBA

PROCESSES = 3
PROGRAM = """
import sys
from nimt.engines._numba import caching


@caching.njit(cache=True)
def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


print("ready", flush=True)
sys.stdin.readline()
for length in map(int, sys.argv[1:]):
    assert total((1,) * length) == length  # a tuple of another length is another type
print(sum(total.stats.cache_misses.values()), flush=True)
"""


def start(folder, lengths):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")}
    command = [sys.executable, str(folder / "program.py"), *map(str, lengths)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process


def compiled_by(folder, wanted):
    """Start a process for each list of types, let them go on at the same time; return how many each compiled."""
    started = [start(folder, lengths) for lengths in wanted]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    return [int(process.communicate()[0]) for process in started]


@pytest.mark.skipif(PLAIN_NUMBA, reason="plain numba keeps nothing")
@pytest.mark.slow
def test_processes_that_start_together_compile_a_function_once_and_keep_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    same = compiled_by(tmp_path, [[1]] * PROCESSES)
    assert sum(same) == 1
    others = [range(2 + 8 * i, 10 + 8 * i) for i in range(PROCESSES)]  # of one function, saved at the same time
    assert compiled_by(tmp_path, others) == [8] * PROCESSES
    assert compiled_by(tmp_path, [range(1, 2 + 8 * PROCESSES)]) == [0]

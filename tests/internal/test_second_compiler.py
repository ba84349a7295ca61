"""A process that must not stand still lets another one compile; what it computes is the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nimt.engines._numba import second_compiler
from nimt.engines._numba.second_compiler import SecondCompiler, without_ctrl_c
from nimt.errors import NimtError
from nimt.plain_numba import PLAIN_NUMBA

pytestmark = pytest.mark.skipif(PLAIN_NUMBA, reason="of numba's inner workings")

STEPS = Path(second_compiler.__file__).parents[1] / "compiled_steps"
COMPILE = """
import threading
import numpy as np
from numba.core import event
from nimt.engines._numba.second_compiler import compiling_elsewhere

def main():
    from nimt.engines.compiled_steps.streaming import add_scaled
    f = np.array([1.0, 5.0])
    with compiling_elsewhere() as compiler, event.install_recorder("numba:run_pass") as passes:
        {lesson}
        print(len(passes.buffer), compiler.is_running)
        compiler.rest()
        print(compiler.is_running)

if __name__ == "__main__":
    main()
"""


def run(lesson, cache):
    """Run a process with an empty cache; return what it prints."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    program = COMPILE.format(lesson=lesson)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_nothing_is_compiled_in_the_process_that_asks(tmp_path):
    said = run("add_scaled(2.0, np.array([1.0, 2.0]), f); print(f)", tmp_path)
    assert said == ["[3. 9.]", "0 True", "False"]
    again = run("add_scaled(2.0, np.array([1.0, 2.0]), f); print(f)", tmp_path)
    assert again == ["[3. 9.]", "0 False", "False"]  # read from disk: nobody compiles


@pytest.mark.long
def test_a_compiler_that_fails_is_done_without(tmp_path):
    lesson = "compiler._start = lambda: (_ for _ in ()).throw(OSError('no process')); add_scaled(0.0, f, f); print(f)"
    said = run(lesson, tmp_path)
    assert said[0] == "[1. 5.]" and int(said[1].split()[0]) > 0  # compiled here


def test_whoever_waits_for_a_compiler_that_is_closed_is_told():
    compiler = SecondCompiler()
    compiler.close()
    with pytest.raises(NimtError, match="was ended"):
        compiler.compile("math", "sin", ())
    assert not compiler.is_running


@pytest.mark.long
def test_a_compiler_can_be_closed_while_it_works():
    compiler, said = SecondCompiler(), []

    def ask():
        try:
            compiler.compile("math", "no such function", ())
            compiler.compile("no such module", "sin", ())
            while True:  # it refuses, and is asked again, until it is closed
                compiler.compile("math", "no such function", ())
        except NimtError as error:
            said.append(str(error))

    asking = threading.Thread(target=ask)
    asking.start()
    while not compiler.is_running:
        time.sleep(0.01)
    compiler.close()
    asking.join(timeout=30)
    assert said == ["the process that compiles was ended"] and not compiler.is_running


@pytest.mark.skipif(os.name == "nt", reason="there a terminal tells all its processes")
def test_ctrl_c_is_not_for_the_compiler():
    """A terminal tells all its processes of Ctrl-C, also one that is just starting."""
    with without_ctrl_c(), subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        process.send_signal(signal.SIGINT)
        process.communicate(b"\n", timeout=60)
    assert process.returncode == 0
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_the_compiler_does_not_load_scikit_learn():
    """So that it compiles a second earlier."""
    steps = [f"nimt.engines.compiled_steps.{path.stem}" for path in STEPS.glob("[a-z]*.py")]
    assert steps
    script = f"import sys, nimt.engines._numba.second_compiler, {', '.join(steps)}; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0

"""In a container: nowhere to keep compiled code, no home, another user, a read-only installation."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nimt
import nimt.datasets

pytestmark = pytest.mark.exhaustive

NOBODY = 65534
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
# As if numba found no folder that it may write to.
NOWHERE = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
from nimt.cli import main
main()
"""
TEACH = ("teach", "gmm", "--from", "gmm:start", "--iterations", "20", "--tol", "0")


def test_without_a_folder_for_compiled_code(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE, *TEACH, "--engine", "grid", "--quiet", "--out", "run"],
        capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("compiled code cannot be kept") == 1 and len(done.stderr.splitlines()) == 1
    lesson = nimt.Lesson.load(tmp_path / "run" / "lesson.npz")
    assert lesson.engine == "grid" and len(lesson) == 20


def without_the_rights_of_root() -> None:
    """Let even root write only where it is permitted to; in a process of its own, before the program is loaded."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the rights of root are taken away as Linux does it")
def test_a_read_only_installation(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(Path(nimt.__file__).parent, source / "nimt", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "read-only").mkdir()
    out.mkdir()
    folders = [tmp_path / "read-only", *(path for path in source.rglob("*") if path.is_dir()), source, tmp_path]
    for folder in folders:
        folder.chmod(0o555)
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment |= {"PYTHONPATH": str(source), "HOME": str(tmp_path / "read-only"), "PYTHONSAFEPATH": "1"}

    try:
        done = subprocess.run(
            [sys.executable, "-m", "nimt", *TEACH, "--quiet", "--out", "run"], cwd=out, env=environment,
            capture_output=True, text=True, preexec_fn=without_the_rights_of_root, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (warning,) = done.stderr.splitlines()
        assert "compiled code cannot be kept" in warning
        assert (out / "run" / "report.html").exists()
    finally:
        for folder in reversed(folders):
            folder.chmod(0o755)


# A lesson killed and resumed, a sweep, forged files and random lessons, in one process: it compiles once.
AS_ANOTHER_USER = """
import multiprocessing, sys, time
import numpy as np
import nimt
import forging, oracle.__main__

grid = nimt.Grid(np.linspace(-1, 1, 30), np.linspace(-1, 1, 30))
learner = nimt.KernelLearner(nimt.rbf(0.1), learning_rate=1e-7)
lesson = (learner, nimt.GreedyTeacher(), grid, np.sin(4 * grid.points[:, 0]))
nimt.teach(*lesson, max_iterations=1)  # compiles
child = multiprocessing.get_context("fork").Process(
    target=nimt.teach, args=lesson, kwargs={"max_iterations": 10**9, "checkpoint": "checkpoint.npz"}
)
child.start()
time.sleep(8)  # two checkpoints at the interval that is usual
child.kill()
child.join()
resumed = nimt.resume("checkpoint.npz", time_limit=0.5)
again = nimt.teach(*lesson, max_iterations=len(resumed))
assert len(again) and np.array_equal(again.discrepancy, resumed.discrepancy)
assert np.array_equal(again.final, resumed.final)

x = np.linspace(-1, 1, 9)
given = nimt.sweep({"sine": (x, np.sin(x))}, {"kernel": learner}, {"greedy": lesson[1]}, max_iterations=3, out="sweep")
assert len(nimt.runs.Sweep.load("sweep")) == len(given)
forging.main(20, 1)
sys.exit(oracle.__main__.main(4, 3))
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("setpriv") is None or os.getuid() != 0, reason="only root becomes another user")
def test_another_user_without_a_home_on_a_read_only_installation(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(Path(nimt.__file__).parent, source / "nimt", ignore=shutil.ignore_patterns("__pycache__"))
    tests = Path(__file__).parents[1]
    shutil.copy(tests / "forging.py", source)
    shutil.copytree(tests / "oracle", source / "oracle", ignore=shutil.ignore_patterns("__pycache__"))
    out.mkdir()
    os.chown(out, NOBODY, NOBODY)
    user = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    reads = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")  # Python may be in a folder of root's
    done = subprocess.run(
        [*user, *reads, sys.executable, "-W", "ignore", "-c", AS_ANOTHER_USER], cwd=out, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(source), "PYTHONSAFEPATH": "1"}, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "4 lessons of seed 3 " in done.stdout and ": 0 wrong" in done.stdout
    assert not list(source.rglob("*.pyc")) and not list(source.rglob("*.nbi"))


def test_without_a_home_the_shipped_data_is_used(monkeypatch):
    def homeless(*_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NIMT_DATA", raising=False)
    monkeypatch.delenv("SCIKIT_LEARN_DATA", raising=False)
    monkeypatch.setattr("pathlib.Path.home", homeless)
    monkeypatch.setattr("pathlib.Path.expanduser", homeless)
    assert nimt.datasets.cheetah().name == "cat"
    assert [face.name for face in nimt.datasets.faces()] == ["Eileen Collins", "Grace Hopper"]
    assert nimt.datasets.data_folder() is None

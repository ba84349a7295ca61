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

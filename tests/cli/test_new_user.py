"""The path of somebody new, from the installation to the page, with the program as it is installed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nimt.lesson.lesson import Lesson

PROJECT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_from_the_installation_to_the_page(tmp_path):
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    source = tmp_path / "source"  # a copy, so that nothing is built inside the project
    source.mkdir()
    shutil.copytree(PROJECT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source / name)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, "--disable-pip-version-check", "--target", site, source], check=True)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def nimt(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, site / "bin" / "nimt", *arguments],
            cwd=work, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done

    told = nimt("demo").stdout
    assert "nimt teach nimt-demo/cat.png --from zero" in told
    shutil.copy(work / "nimt-demo" / "cat.png", work / "cat.png")

    # so long that it is interrupted in the middle on any machine
    lesson_options = ("--from", "zero", "--size", "32", "--engine", "reference", "-n", "10000000", "--tol", "0")
    command = [sys.executable, site / "bin" / "nimt", "teach", "cat.png", *lesson_options]
    with subprocess.Popen(command, cwd=work, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not (work / "nimt-cat" / "run.toml").exists():
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130, said
    assert "go on with: nimt resume nimt-cat" in said
    budget = len(Lesson.load_record(work / "nimt-cat" / "lesson.npz")) + 1000
    nimt("resume", "nimt-cat", "--iterations", str(budget))
    lesson = Lesson.load(work / "nimt-cat" / "lesson.npz")
    assert len(lesson) == budget and lesson.pool.shape == (32, 32)

    for folder in ("nimt-demo", "nimt-cat"):
        page = (work / folder / "report.html").read_text()
        assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")

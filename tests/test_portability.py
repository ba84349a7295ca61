"""Not only Linux: what other systems do not have is taken away, and nimt still runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nimt
from nimt.store.whole_files import write_text
from nimt.task import task as plan

SOURCE = Path(nimt.__file__).parent

WITHOUT = """
import os, signal, sys
import psutil  # has a part of its own for every system, and the one for Linux needs what is taken away
for name in ("resource", "grp", "pwd", "termios"):
    sys.modules[name] = None  # importing it fails, as on Windows
del signal.SIGHUP, os.sysconf
opened = os.open

def open_file(path, *arguments, **options):
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))  # Windows opens no folders
    return opened(path, *arguments, **options)

os.open = open_file
from nimt.cli.app import run
print([run(line.split()) for line in sys.argv[1:]])
"""


@pytest.mark.slow
def test_a_run_needs_nothing_that_only_unix_has(tmp_path):
    commands = (
        "teach gmm --iterations 40 --out run --quiet",
        "resume run --iterations 60 --quiet",
        "teach gmm --out run",
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", WITHOUT, *commands],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "[0, 0, 2]", done.stderr
    assert "holds a run already" in done.stderr
    assert not list((tmp_path / "run").glob(".nimt-lock"))


def test_free_memory_is_asked_of_the_system_and_not_of_proc(monkeypatch):
    import psutil

    class Memory:
        available = 12_345

    monkeypatch.setattr(psutil, "virtual_memory", Memory)
    assert plan.available_memory() == 12_345

    def unknown():
        raise OSError("no such call")

    monkeypatch.setattr(psutil, "virtual_memory", unknown)
    assert plan.available_memory() is None


def test_text_files_are_the_same_bytes_on_every_system(tmp_path, monkeypatch):
    asked = {}
    whole = Path.write_text

    def written(self, text, encoding=None, errors=None, newline=None):
        asked.update(encoding=encoding, newline=newline)
        return whole(self, text, encoding, errors, newline)

    monkeypatch.setattr(Path, "write_text", written)
    write_text(tmp_path / "run.toml", "a = 1\n")
    assert asked == {"encoding": "utf-8", "newline": "\n"}


@pytest.mark.parametrize("module", ["fcntl", "resource", "pwd", "grp", "termios"])
def test_modules_of_unix_alone_are_not_imported(module):
    names = (f"import {module}\n", f"from {module} import")
    assert not [path.name for path in SOURCE.rglob("*.py") if any(name in path.read_text("utf-8") for name in names)]

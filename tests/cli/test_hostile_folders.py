"""Folders of runs that somebody else put together: links, pipes and names meant for a terminal."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from nimt.lesson.lesson import Lesson

pytestmark = [
    pytest.mark.usefixtures("undrawn"),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="places that are no files are made as on Unix"),
]
TABLE = "si\x1b[31mze,k\x1b]0;owned\x07ind,price\n" + "".join(f"{i},a\x1b[2J{i % 2},{i * i}\n" for i in range(12))


@pytest.fixture
def run(nimt, tmp_path):
    assert nimt("teach", "gmm", "-n", "8", "--out", "run", "-q").code == 0
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def at_most_half_a_minute():
    """A pipe that nobody writes to is waited for without end."""

    def late(*_):
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


LINKED = {
    "examples.csv": [("export", "run")],
    "curve.csv": [("export", "run")],
    "learner.npz": [("export", "run")],
    "report.html": [("resume", "run", "-n", "9"), ("show", "run", "--figures")],
    "curve.png": [("resume", "run", "-n", "9"), ("show", "run", "--figures")],
    "summary.json": [("resume", "run", "-n", "9")],
    "run.toml": [("resume", "run", "-n", "9"), ("show", "run", "--figures")],
}


@pytest.mark.parametrize("name", LINKED)
def test_a_link_in_a_run_does_not_lead_a_command_to_another_file(nimt, run, tmp_path, name):
    other = tmp_path / "mine"
    if (run / name).exists():
        shutil.move(run / name, other)
    else:
        other.write_text("mine\n")
    (run / name).symlink_to(other)
    before = other.read_bytes()
    for command in LINKED[name]:
        answer = nimt(*command)
        assert answer.code == 2 and answer.is_one_sentence(), answer
        assert "is a link to" in answer.err
        assert other.read_bytes() == before


@pytest.mark.long
def test_a_sweep_does_not_write_through_a_link(nimt, tmp_path):
    (tmp_path / "study.toml").write_text('target = "gmm"\niterations = 3\n')
    assert nimt("sweep", "study.toml", "--out", "kept", "-q").code == 0
    (tmp_path / "mine").write_text("mine\n")
    for table in (tmp_path / "kept").glob("*.csv"):
        table.unlink()
        table.symlink_to(tmp_path / "mine")
        answer = nimt("sweep", "--resume", "kept", "-q")
        assert answer.code == 2 and "is a link to" in answer.err
    assert (tmp_path / "mine").read_text() == "mine\n"


@pytest.mark.long
@pytest.mark.parametrize("name", ["lesson.npz", "run.toml"])
def test_a_pipe_in_a_run_is_not_waited_for(nimt, run, name):
    (run / name).unlink()
    os.mkfifo(run / name)
    for command in (("show", "run"), ("export", "run"), ("resume", "run", "-n", "9"), ("resume", "run")):
        answer = nimt(*command)
        assert answer.code in (0, 2) and answer.err.count("nimt: error:") == (answer.code == 2), answer
    with pytest.raises(ValueError, match="a device or a pipe"):
        Lesson.load(run / name)


class Terminal:
    """Standard output that says it is a terminal."""

    def __init__(self, stream):
        self.stream = stream

    def isatty(self):
        return True

    def __getattr__(self, name):
        return getattr(self.stream, name)


@pytest.mark.long
def test_predictions_are_written_for_a_terminal_without_orders_to_it(nimt, tmp_path, monkeypatch):
    Path("table.csv").write_text(TABLE)
    assert nimt("teach", "table.csv", "-n", "8", "--out", "run", "-q").code == 0
    piped = nimt("predict", "run", "table.csv", "-q")
    assert "\x1b[31m" in piped.out, "a program reads the names as they are"
    monkeypatch.setattr(sys, "stdout", Terminal(sys.stdout))
    shown = nimt("predict", "run", "table.csv", "-q")
    assert shown.code == 0
    assert "\x1b" not in shown.out and "\x07" not in shown.out
    assert r"si\x1b[31mze" in shown.out
    assert len(shown.out.splitlines()) == len(piped.out.splitlines()) == 13

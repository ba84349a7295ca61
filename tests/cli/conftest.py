"""The program run in this process, and by a server that forks: a process of its own without the second of start-up."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from nimt.cli.app import run


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    def is_one_sentence(self) -> bool:
        lines = self.err.strip().splitlines()
        return len(lines) == 1 and lines[0].startswith("nimt: error: ") and "Traceback" not in self.err


@pytest.fixture
def nimt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: object) -> Answer:
        capfd.readouterr()
        code = run([str(part) for part in arguments])
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return ran


@dataclass
class Server:
    process: subprocess.Popen[str]
    folder: Path
    started: set[int] = field(default_factory=set)

    def start(self, *arguments: object, **how: Any) -> int:
        """Start a command in a process of its own and return its id; `how` is read in forking.py."""
        number = len(list(self.folder.glob("*.err")))
        order = {
            "args": [str(part) for part in arguments],
            "out": str(self.folder / f"{number}.out"),
            "err": str(self.folder / f"{number}.err"),
            **how,
        }
        (self.folder / f"{number}.err").touch()
        pid = int(self._ask(order))
        (self.folder / f"{pid}.name").write_text(str(number))
        self.started.add(pid)
        return pid

    def wait(self, pid: int) -> Answer:
        """Wait for its end; a process that was killed has the negative number of the signal as its code."""
        code = int(self._ask({"wait": pid}))
        self.started.discard(pid)
        number = (self.folder / f"{pid}.name").read_text()
        return Answer(code, (self.folder / f"{number}.out").read_text(), (self.folder / f"{number}.err").read_text())

    def run(self, *arguments: object, **how: Any) -> Answer:
        return self.wait(self.start(*arguments, **how))

    def kill(self, pid: int, number: int = signal.SIGKILL) -> Answer:
        os.kill(pid, number)  # the server has not reaped it, so the id is still its own
        return self.wait(pid)

    def _ask(self, order: dict[str, Any]) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    script = Path(__file__).with_name("forking.py")
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        made = Server(process, tmp_path_factory.mktemp("server"))
        yield made
        for pid in made.started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait until something is true, at most ten seconds."""

    def waited(is_so: Callable[[], bool], seconds: float = 10.0) -> None:
        end = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < end, "it never came true"
            time.sleep(0.005)

    return waited


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out: most of a short run's time, and not what most tests are about."""

    monkeypatch.setattr("nimt.reports.lesson_page.write_lesson_report", lambda lesson, folder, **_: [])

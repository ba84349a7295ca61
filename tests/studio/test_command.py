"""`nimt studio` as a person starts it."""

from __future__ import annotations

import importlib.util
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from nimt.cli.app import run
from nimt.studio.server import read_shipped_files

pytestmark = pytest.mark.long


def test_it_prints_its_address_serves_and_ends_by_ctrl_c():
    arguments = [sys.executable, "-m", "nimt", "studio", "--no-browser"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", process.stdout.readline())[0]
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            page = opener.open(address, timeout=60).read().decode()
            assert "<title>nimt studio</title>" in page
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=30) in (0, 130)
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "70000"], "--port must be a number from 0 to 65535"),
        (["--host", "no such host", "--token", "x" * 16], "cannot be listened on"),
        (["--host", "0.0.0.0"], "give a --token"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(arguments, said, capsys):
    assert run(["studio", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_taken_port_is_said(studio, capsys):
    assert run(["studio", "--port", str(studio.port)]) == 2
    assert "take another" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "uvicorn" else found(name, *more)
    )
    assert run(["studio"]) == 2
    assert "pip install 'nimt[studio]'" in capsys.readouterr().err


def test_the_library_knows_nothing_of_the_studio():
    code = (
        "import sys, nimt, nimt.cli.app; nimt.teach; "
        "print([name for name in sys.modules if 'nimt.studio' in name or 'starlette' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_a_page_asks_for_is_shipped():
    files = read_shipped_files()
    assert {"index.html", "studio.js", "studio.css", "recording.js", "replay.css", "icon.svg"} <= files.keys()
    for name, (text, _) in files.items():
        for asked in re.findall(r'from "\./([\w.]+)"|(?:href|src)="static/([\w.]+)"', text.decode()):
            assert "".join(asked) in files, f"{name} asks for {asked}"

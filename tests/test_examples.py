"""Every example is run whole, in this process; each takes --out, the folder for what it makes."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.slow

HOME = Path(__file__).parents[1]
LONG = ("digits", "forecasts")  # minutes of lessons
EXAMPLES = [
    pytest.param(path.stem, marks=[pytest.mark.exhaustive] if path.stem in LONG else [])
    for path in sorted((HOME / "examples").glob("*.py"))
]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run an example as `python examples/...` would, without a Python of its own, and return what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.syspath_prepend(str(HOME / "examples"))  # one of them imports another

    def ran(name, *options):
        monkeypatch.setattr(sys, "argv", [f"{name}.py", "--out", str(tmp_path), *options])
        runpy.run_path(str(HOME / "examples" / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    return ran


def synthesis_needs_ten_times_fewer_examples(printed):
    rows = {cells[1]: cells[2] for line in printed.splitlines() if len(cells := re.split(r"\s*\|\s*", line)) > 2}
    assert rows["gradient: greedy (GFT-1)"] == "3,056"
    assert int(rows["gradient: synthesis"]) <= 305
    assert rows["projecting: greedy (f)"] == "30"


PRINTS = {"which_teacher": synthesis_needs_ten_times_fewer_examples}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_draws(example, run, tmp_path):
    printed = run(example)
    assert printed.strip()
    if example in PRINTS:
        PRINTS[example](printed)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    for picture in pictures:
        with Image.open(picture) as image:
            assert min(image.size) > 200 and len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_the_mixture_needs_3056_steps(run):
    printed = run("mixture", "--max-iterations", "4000")
    rows = {row.split()[1]: row.split("│") for row in printed.splitlines() if row.startswith("│")}
    cells = {name: [cell.strip() for cell in row[2:5]] for name, row in rows.items()}
    assert cells == {
        "RFT-1": ["1", "4,000", "-"],
        "GFT-1": ["1", "3,056", "3,056"],
        "GFT-0.05": ["14", "3,081", "3,081"],
    }


def test_an_example_is_a_program(tmp_path):
    command = [sys.executable, "-W", "error", str(HOME / "examples" / "mixture.py"), "--max-iterations", "100"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "mixture.png").exists()


def test_the_digits_can_be_looked_at_quickly(run):
    printed = run("digits", "--learner", "kernel", "--seeds", "1", "--examples", "100")
    rows = {cells[1]: cells for line in printed.splitlines() if len(cells := re.split(r"\s*\|\s*", line)) > 2}
    assert {"random order", "greedy by loss", "uncertainty", "greedy by loss, labels of f*"} <= rows.keys()
    assert rows["greedy by loss, labels of f*"][4] != "-"  # it names nine in ten rightly within a hundred examples

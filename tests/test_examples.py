"""Every example is run as a reader would run it; each takes --out, the folder for what it makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.slow  # each starts a Python of its own

HOME = Path(__file__).parents[1]
LONG = ("digits", "forecasts")  # minutes of lessons
EXAMPLES = [
    pytest.param(path, marks=[pytest.mark.exhaustive] if path.stem in LONG else [], id=path.stem)
    for path in sorted((HOME / "examples").glob("*.py"))
]


def run(example, out, *options):
    environment = os.environ | {"MPLBACKEND": "Agg", "COLUMNS": "100"}
    command = [sys.executable, "-W", "error", str(example), "--out", str(out), *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, cwd=out)
    assert done.returncode == 0, done.stderr
    return done.stdout


def synthesis_needs_ten_times_fewer_examples(printed):
    rows = {cells[1]: cells[2] for line in printed.splitlines() if len(cells := re.split(r"\s*\|\s*", line)) > 2}
    assert rows["gradient: greedy (GFT-1)"] == "3,056"
    assert int(rows["gradient: synthesis"]) <= 305
    assert rows["projecting: greedy (f)"] == "30"


PRINTS = {"which_teacher": synthesis_needs_ten_times_fewer_examples}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_draws(example, tmp_path):
    printed = run(example, tmp_path)
    assert printed.strip()
    if example.stem in PRINTS:
        PRINTS[example.stem](printed)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    for picture in pictures:
        with Image.open(picture) as image:
            assert min(image.size) > 200 and len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_the_mixture_needs_3056_steps(tmp_path):
    printed = run(HOME / "examples" / "mixture.py", tmp_path / ".", "--max-iterations", "4000")
    rows = {row.split()[1]: row.split("│") for row in printed.splitlines() if row.startswith("│")}
    cells = {name: [cell.strip() for cell in row[2:5]] for name, row in rows.items()}
    assert cells == {
        "RFT-1": ["1", "4,000", "-"],
        "GFT-1": ["1", "3,056", "3,056"],
        "GFT-0.05": ["14", "3,081", "3,081"],
    }


def test_the_mixture_can_be_cut_short(tmp_path):
    run(HOME / "examples" / "mixture.py", tmp_path, "--max-iterations", "100")


def test_the_digits_can_be_looked_at_quickly(tmp_path):
    printed = run(HOME / "examples" / "digits.py", tmp_path, "--learner", "kernel", "--seeds", "1", "--examples", "100")
    rows = {cells[1]: cells for line in printed.splitlines() if len(cells := re.split(r"\s*\|\s*", line)) > 2}
    assert {"random order", "greedy by loss", "uncertainty", "greedy by loss, labels of f*"} <= rows.keys()
    assert rows["greedy by loss, labels of f*"][4] != "-"  # it names nine in ten rightly within a hundred examples

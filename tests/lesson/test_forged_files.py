"""A checksum is not a key: files that were changed and sealed again are refused with a sentence, or are lessons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORGING = Path(__file__).parents[1] / "forging.py"
COUNT = int(os.environ.get("NIMT_FORGED", "160"))


@pytest.mark.slow
def test_forged_files_never_end_in_a_traceback_or_a_signal():
    done = subprocess.run(
        [sys.executable, FORGING, str(COUNT), os.environ.get("NIMT_SEED", "0")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "refused" in done.stdout


@pytest.mark.slow
def test_commands_that_read_forged_runs_never_end_in_a_traceback_or_a_signal():
    done = subprocess.run(
        [sys.executable, FORGING.with_name("forging_runs.py"), str(COUNT // 20), os.environ.get("NIMT_SEED", "0")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "0 tracebacks" in done.stdout

"""A checksum is not a key: files that were changed and sealed again are refused with a sentence, or are lessons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FORGING = Path(__file__).with_name("forging.py")
COUNT = int(os.environ.get("NIMT_FORGED", "400"))


@pytest.mark.slow
def test_forged_files_never_end_in_a_traceback_or_a_signal():
    done = subprocess.run(
        [sys.executable, FORGING, str(COUNT), os.environ.get("NIMT_SEED", "0")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "refused" in done.stdout

"""A job in the background ignores Ctrl-C, and must still end when it is asked to."""

import signal
import subprocess
import sys
import time

import pytest

from nimt.cli.console import INTERRUPTED

pytestmark = pytest.mark.long


def test_a_job_in_the_background_ends_on_sigterm_with_its_checkpoint(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "nimt", "teach", "gmm", "--learning-rate", "1e-9", "--tol", "0", "--quiet"]
    command += ["--iterations", "1000000000", "--engine", "reference", "--out", str(out)]
    started = subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    try:
        for _ in range(600):
            if (out / "run.toml").exists():
                break
            time.sleep(0.1)
        time.sleep(0.5)
        started.send_signal(signal.SIGTERM)
        assert started.wait(timeout=60) == INTERRUPTED
    finally:
        started.kill()
    assert (out / "lesson.npz").exists()

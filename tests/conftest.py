import signal

import pytest
from hypothesis import settings

# a shell starts background jobs with Ctrl-C ignored, and what they start would ignore it too
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples every time, and no example fails because the machine was busy
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=30, database=None)
settings.load_profile("fixed")


@pytest.fixture
def every_step(monkeypatch):
    """Let a lesson look up after every step, so that a test can stop it where it likes."""
    monkeypatch.setattr("nimt.teaching.running.INTERVAL", 0.0)

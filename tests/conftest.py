import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from nimt.datasets import Picture, cheetah

# a shell starts background jobs with Ctrl-C ignored, and what they start would ignore it too
signal.signal(signal.SIGINT, signal.default_int_handler)

# what a test writes need not survive a power cut, and waiting for the disk takes longer than most tests
os.fsync = lambda handle: None

# the same examples every time, and no example fails because the machine was busy
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=30, database=None)
settings.load_profile("fixed")


@pytest.fixture
def every_step(monkeypatch):
    """Let a lesson look up after every step, so that a test can stop it where it likes."""
    monkeypatch.setattr("nimt.session.session.INTERVAL", 0.0)


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    """Mark every test that asks for data that cannot be shipped, or for a browser, so that none is forgotten."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "published_cheetah" in fixtures:
            item.add_marker("data")
        if "browser" in fixtures:
            item.add_marker("slow")
    _leave_samples(items)


def _leave_samples(items):
    """Of a test of many cases that is marked `sampled(n)`, leave every n-th to the everyday tests."""
    counts: dict[str, int] = {}
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled is None:
            continue
        name = item.nodeid.partition("[")[0]
        if counts.get(name, 0) % sampled.args[0]:
            item.add_marker("exhaustive")
        counts[name] = counts.get(name, 0) + 1


@pytest.fixture(scope="session")
def published_cheetah() -> Picture:
    """Return the picture that cannot be shipped."""
    folder = os.environ.get("NIMT_DATA")
    if not folder:
        pytest.skip("needs the published cheetah.jpg: set NIMT_DATA to the folder it is in")
    picture = cheetah(Path(folder))
    if not picture.original:
        pytest.skip(f"needs the published cheetah.jpg, and NIMT_DATA={folder} does not hold it")
    return picture

"""Every file format that is read, with bytes flipped, cut off, or made up: a value or a sentence, never a traceback."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import nimt
from nimt.cli.settings import RunSettings, read_config, toml_value
from nimt.errors import NimtError
from nimt.sources import read_source

pytestmark = pytest.mark.long

LONGEST = 5.0  # seconds for one file of a few hundred bytes, on a busy machine


def small_picture(path: Path, **options: object) -> None:
    values = np.random.default_rng(0).integers(0, 256, size=(9, 7, 3), dtype=np.uint8)
    Image.fromarray(values).save(path, **options)


def small_lesson(path: Path, checkpoint: Path | None = None) -> None:
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(1.0) + nimt.linear(), initial=[0.0, 1.0, 0.5]), nimt.RandomTeacher(),
        [0.0, 1.0, 2.0], [1.0, 0.0, 2.0], max_iterations=4, snapshots=[2], checkpoint=checkpoint,
    )  # fmt: skip
    if checkpoint is None:
        lesson.save(path)


@pytest.fixture(autouse=True)
def smaller_pictures(monkeypatch):
    """A damaged header may claim the ten million pixels that are allowed, which are read right and take a while."""
    monkeypatch.setattr("nimt.datasets.limits.PIXELS_OF_ANY_FILE", 1_000_000)


FORMATS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "a.png": (small_picture, lambda path: read_source(str(path))),
    "a.jpg": (small_picture, lambda path: read_source(str(path))),
    "a.webp": (small_picture, lambda path: read_source(str(path))),
    "a.tiff": (small_picture, lambda path: read_source(str(path))),
    "a.gif": (small_picture, lambda path: read_source(str(path))),
    "a.npy": (lambda path: np.save(path, np.arange(12.0).reshape(3, 4)), lambda path: read_source(str(path))),
    "a.npz": (lambda path: np.savez_compressed(path, a=np.arange(12.0)), lambda path: read_source(str(path))),
    "a.csv": (lambda path: path.write_text("a,b\n1,2.5\n-3e-4,1\n5,6\n"), lambda path: read_source(str(path))),
    "a.toml": (lambda path: path.write_text(RunSettings(target="gmm", pool=0.5).to_toml()), read_config),
    "lesson.npz": (small_lesson, nimt.Lesson.load),
    "checkpoint.npz": (lambda path: small_lesson(path, path), lambda path: nimt.resume(path, time_limit=1.0)),
}


def assert_value_or_sentence(read: Callable[[Path], object], path: Path) -> bool:
    """Say whether it was read."""
    began = time.monotonic()
    try:
        read(path)
        return True
    except NimtError as error:
        assert str(error).strip()  # noqa: PT017 (either is right)
        return False
    finally:
        assert time.monotonic() - began < LONGEST


@pytest.mark.parametrize("name", FORMATS)
def test_flipped_and_missing_bytes(tmp_path, name):
    make, read = FORMATS[name]
    path = tmp_path / name
    make(path)
    whole = path.read_bytes()
    assert assert_value_or_sentence(read, path)
    rng = np.random.default_rng(sum(name.encode()))
    refused = 0
    for trial in range(120):
        content = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            content[int(rng.integers(len(content)))] = int(rng.integers(256))
        if trial % 4 == 0:
            del content[int(rng.integers(len(content))) :]
        path.write_bytes(content)
        for rest in tmp_path.glob("*.previous"):
            rest.unlink()
        refused += not assert_value_or_sentence(read, path)
    assert refused > 0, "no damage was ever noticed"


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(min_size=1, max_size=400), begins=st.integers(0, 60))
def test_made_up_bytes(tmp_path, name, content, begins):
    make, read = FORMATS[name]
    path = tmp_path / name
    path.unlink(missing_ok=True)  # what was made up is not nimt's to replace
    make(path)
    path.write_bytes(path.read_bytes()[:begins] + content)
    for rest in tmp_path.glob("*.previous"):
        rest.unlink()
    assert_value_or_sentence(read, path)


TABLES = st.lists(
    st.lists(
        st.one_of(st.floats().map(repr), st.integers().map(str), st.text(max_size=5), st.just("")),
        min_size=1, max_size=4,
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=TABLES, separator=st.sampled_from(",;\t"), end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_made_up_tables(tmp_path, rows, separator, end):
    path = tmp_path / "a.csv"
    text = end.join(separator.join(row) for row in rows)
    path.write_bytes(text.encode("utf-8", errors="replace") or b" ")
    assert_value_or_sentence(lambda file: read_source(str(file)), path)


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_goes_through_toml(text):
    import tomllib

    assert tomllib.loads(f"a = {toml_value(text)}")["a"] == text


@settings(max_examples=60, deadline=None)
@given(
    number=st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
)
def test_any_number_goes_through_toml(number):
    import tomllib

    assert tomllib.loads(f"a = {toml_value(number)}")["a"] == number

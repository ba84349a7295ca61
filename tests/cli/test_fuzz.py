"""Every file format that is read, with bytes flipped, cut off, or made up: a value or a sentence, never a traceback."""

from __future__ import annotations

import gzip
import struct
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import nimt
from nimt.datasets.idx import read_idx
from nimt.errors import NimtError
from nimt.kernels.expressions import WORDS, parse_kernel
from nimt.recipe.recipe import FIELDS, Recipe, read_settings
from nimt.recipe.toml import write_line
from nimt.sources import read_source
from nimt.sources.tables import Columns, read_table

pytestmark = pytest.mark.slow

LONGEST = 5.0  # seconds for one file of a few hundred bytes, on a busy machine


def small_picture(path: Path, **options: object) -> None:
    values = np.random.default_rng(0).integers(0, 256, size=(9, 7, 3), dtype=np.uint8)
    Image.fromarray(values).save(path, **options)


def small_idx(path: Path, packed: bool) -> None:
    content = bytes((0, 0, 8, 3)) + struct.pack(">III", 2, 3, 4) + bytes(range(24))
    path.write_bytes(gzip.compress(content) if packed else content)


def small_lesson(path: Path, checkpoint: Path | None = None) -> None:
    lesson = nimt.teach(
        nimt.KernelLearner(nimt.rbf(1.0) + nimt.linear(), initial=[0.0, 1.0, 0.5]), nimt.RandomTeacher(),
        [0.0, 1.0, 2.0], [1.0, 0.0, 2.0], max_iterations=4, tol=None, snapshots=[2], checkpoint=checkpoint,
    )  # fmt: skip
    if checkpoint is None:
        lesson.save(path)


def small_parquet(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": np.arange(9) / 3, "word": list("abcabcabc"), "is": [True, None] * 4 + [False], "y": np.arange(9)}
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path, row_group_size=4)


def small_excel(path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    for row in (["a", "word", "y"], [1, "x", 2.5], [-3e-4, "y", 1], [5, "x", 6]):
        book.active.append(row)
    book.save(path)


@pytest.fixture(autouse=True)
def smaller_pictures(monkeypatch):
    """A damaged header may claim the ten million pixels that are allowed, which are read right and take a while."""
    monkeypatch.setattr("nimt.datasets.limits.PIXELS_OF_ANY_FILE", 1_000_000)


FORMATS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "a.png": (small_picture, lambda path: read_source(str(path))),
    "a.jpg": (small_picture, lambda path: read_source(str(path))),
    "a.webp": (small_picture, lambda path: read_source(str(path))),
    "a.tiff": (small_picture, lambda path: read_source(str(path))),
    "a.bmp": (small_picture, lambda path: read_source(str(path))),
    "a.ppm": (small_picture, lambda path: read_source(str(path))),
    "progressive.jpg": (lambda path: small_picture(path, progressive=True), lambda path: read_source(str(path))),
    "deep.png": (
        lambda path: Image.fromarray(np.arange(63, dtype=np.uint16).reshape(9, 7)).save(path),
        lambda path: read_source(str(path)),
    ),
    "images.idx": (lambda path: small_idx(path, packed=False), lambda path: read_idx(path, 3)),
    "images.gz": (lambda path: small_idx(path, packed=True), lambda path: read_idx(path, 3)),
    "a.tsv": (lambda path: path.write_text("a\tb\n1\t2.5\n-3e-4\t1\n5\t6\n"), lambda path: read_source(str(path))),
    "a.gif": (small_picture, lambda path: read_source(str(path))),
    "a.npy": (lambda path: np.save(path, np.arange(12.0).reshape(3, 4)), lambda path: read_source(str(path))),
    "a.npz": (lambda path: np.savez_compressed(path, a=np.arange(12.0)), lambda path: read_source(str(path))),
    "a.parquet": (small_parquet, lambda path: read_table(path, Columns(duplicates="mean", missing="mean"))),
    "a.xlsx": (small_excel, lambda path: read_source(str(path))),
    "a.csv": (lambda path: path.write_text("a,b\n1,2.5\n-3e-4,1\n5,6\n"), lambda path: read_source(str(path))),
    "a.toml": (lambda path: path.write_text(Recipe(target="gmm", pool=0.5).to_toml()), read_settings),
    "lesson.npz": (small_lesson, nimt.Lesson.load),
    "checkpoint.npz": (lambda path: small_lesson(path, path), lambda path: nimt.resume(path, time_limit=1.0)),
}


def assert_value_or_sentence(read: Callable[[Path], object], path: Path) -> bool:
    """Say whether it was read."""
    began = time.process_time()
    try:
        read(path)
        return True
    except NimtError as error:
        assert str(error).strip()  # noqa: PT017 (either is right)
        return False
    finally:
        assert time.process_time() - began < LONGEST


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

    assert tomllib.loads(write_line("a", text))["a"] == text


@settings(max_examples=60, deadline=None)
@given(
    number=st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
)
def test_any_number_goes_through_toml(number):
    import tomllib

    assert tomllib.loads(write_line("a", number))["a"] == number


NUMBERS = st.sampled_from(
    [
        "1",
        "0",
        "0.5",
        "-1",
        "1e-300",
        "1e300",
        "1e99",
        "1e400",
        "5e-324",
        "16",
        "17",
        "99999999999999999999",
        "True",
        "None",
        "1j",
        "'fixed'",
        "'x'",
        "b'a'",
        "...",
        "nan",
    ]
)
LISTS = st.recursive(
    NUMBERS, lambda parts: st.lists(parts, max_size=3).map(lambda own: f"({', '.join(own)})"), max_leaves=4
)
NAMES = st.sampled_from([*WORDS, "os", "__import__", "RBF.__init__"])
OPTIONS = st.sampled_from(
    [
        "length_scale",
        "nu",
        "alpha",
        "periodicity",
        "sigma_0",
        "constant_value",
        "length_scale_bounds",
        "width",
        "dimension",
        "smoothness",
        "c",
        "x",
    ]
)
ARGUMENTS = st.lists(st.one_of(LISTS, st.builds("{}={}".format, OPTIONS, LISTS), st.just("*RBF(1)")), max_size=3)
CALLS = st.builds(lambda name, given: f"{name}({', '.join(given)})", NAMES, ARGUMENTS)
KERNELS = st.recursive(
    CALLS,
    lambda parts: st.one_of(
        st.builds(
            "({} {} {})".format, parts, st.sampled_from(["+", "*", "-", "/", "**", "@", "%", "and", "if", ","]), parts
        ),
        st.builds("{} * {}".format, LISTS, parts),
        st.builds("({})**{}".format, parts, LISTS),
        st.builds("-{}".format, parts),
    ),
    max_leaves=6,
)


@settings(max_examples=600)
@given(text=KERNELS, dimension=st.integers(1, 3))
def test_made_up_kernels(text, dimension):
    assert_value_or_sentence(lambda _: parse_kernel(text, dimension=dimension), Path())


@settings(max_examples=150)
@given(text=st.text(max_size=60), dimension=st.integers(1, 3))
def test_any_text_is_a_kernel_or_a_sentence(text, dimension):
    assert_value_or_sentence(lambda _: parse_kernel(text, dimension=dimension), Path())


LARGE = ["1e400", "9" * 400, "9" * 5000, "0x" + "f" * 5000]
PLAIN = ["1", "0", "-1", "0.5", "true", "nan", "inf", "1979-05-27", "07:32:00"]
QUOTED = ['"gmm"', "'a'", '""', r'"\u0000"', r'"\uD7FF"', "'''a\nb'''"]
VALUES = st.recursive(
    st.sampled_from([*PLAIN, *LARGE, *QUOTED]),
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(lambda own: f"[{', '.join(own)}]"), parts.map(lambda own: f"{{a.b = {own}}}")
    ),
    max_leaves=5,
)
KEYS = st.one_of(st.sampled_from(sorted(FIELDS)), st.sampled_from(["a.b", r'"a\u001b"', "x", "target.x"]))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.builds("{} = {}".format, KEYS, VALUES), max_size=4))
def test_made_up_settings(tmp_path, lines):
    path = tmp_path / "a.toml"
    path.write_text("\n".join([*lines, "# the end"]), encoding="utf-8")

    def whole_way(file: Path) -> None:
        """Read the settings, write them, and read them again."""
        found = Recipe.of(None, {"config": str(file)})
        file.write_text(found.to_toml(), encoding="utf-8")
        assert Recipe(**read_settings(file)).to_toml() == found.to_toml()

    assert_value_or_sentence(whole_way, path)

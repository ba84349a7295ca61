"""Whatever is given: exit code 2, one sentence that names it, no traceback, nothing half-written."""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


def picture(path: Path, side: int = 12) -> Path:
    ramp = np.linspace(0, 255, side * side).reshape(side, side).astype(np.uint8)
    Image.fromarray(ramp).save(path)
    return path


def png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb(path: Path) -> Path:
    """A few bytes that claim 60,000 x 60,000 pixels."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    content = png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + png_chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    return path


def odd_tiff(path: Path) -> None:
    """A picture whose header claims fifteen colours a pixel, which Pillow also remarks on in its log."""
    Image.fromarray(np.zeros((5, 5, 3), np.uint8)).save(path)
    content = path.read_bytes()
    entry = b"\x15\x01\x03\x00\x01\x00\x00\x00"
    assert entry in content
    place = content.index(entry) + len(entry)
    path.write_bytes(content[:place] + b"\x0f" + content[place + 1 :])


def assert_refused(answer, *words: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.is_one_sentence(), answer.err
    for word in words:
        assert word in answer.err, (word, answer.err)


def assert_nothing_written(folder: Path, *given: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(given)


FILES = {
    "not-a-picture.png": (lambda p: p.write_bytes(b"hello, I am text"), ("not a picture",)),
    "cut.png": (lambda p: (picture(p, 64), p.write_bytes(p.read_bytes()[: p.stat().st_size // 2])), ("damaged",)),
    "cut.jpg": (lambda p: (picture(p, 64), p.write_bytes(p.read_bytes()[: p.stat().st_size // 2])), ("damaged",)),
    "odd.tiff": (odd_tiff, ("picture",)),
    "bomb.png": (bomb, ("pixels", "shrink")),
    "empty.png": (lambda p: p.write_bytes(b""), ("empty",)),
    "empty.npy": (lambda p: p.write_bytes(b""), ("empty",)),
    "empty.npz": (lambda p: p.write_bytes(b""), ("empty",)),
    "empty.csv": (lambda p: p.write_bytes(b""), ("empty",)),
    "folder.png": (lambda p: p.mkdir(), ("is a folder",)),
    "folder.csv": (lambda p: p.mkdir(), ("is a folder",)),
    "folder": (lambda p: p.mkdir(), ("a folder",)),
    "file.xyz": (lambda p: p.write_bytes(b"abc"), ("no kind nimt reads",)),
    "objects.npy": (lambda p: np.save(p, np.array([{"a": 1}, None], dtype=object)), ("pickled objects",)),
    "objects.npz": (lambda p: np.savez(p, a=np.array([{"a": 1}], dtype=object)), ("pickled objects",)),
    "two.npz": (lambda p: np.savez(p, a=np.zeros(3), b=np.ones(3)), ("holds 2 arrays", "a, b")),
    "text.npy": (lambda p: np.save(p, np.array(["a", "b"])), ("<U1",)),
    "complex.npy": (lambda p: np.save(p, np.array([1j, 2.0])), ("complex128",)),
    "nan.npy": (lambda p: np.save(p, np.array([1.0, np.nan])), ("nan", "index 1")),
    "scalar.npy": (lambda p: np.save(p, np.array(1.0)), ("shape ()",)),
    "none.npy": (lambda p: np.save(p, np.zeros((0, 3))), ("shape (0, 3)",)),
    "four.npy": (lambda p: np.save(p, np.zeros((2, 2, 2, 2))), ("1 to 3 dimensions",)),
    "one.npy": (lambda p: np.save(p, np.zeros(1)), ("single point",)),
    "lying.npy": (
        lambda p: p.write_bytes(_npy_header("(99999999999,)") + b"\0" * 80),
        ("promises 99999999999 numbers",),
    ),
    "not.npy": (lambda p: p.write_bytes(b"not an array at all"), ("cannot be read as an array",)),
    "zip.npz": (lambda p: _zip(p, "readme.txt", b"hello"), ("cannot be read as an array",)),
    "missing.csv": (lambda p: p.write_text("x,y\n1,2\n2,\n"), ("no value in row 3", "'y'")),
    "nan.csv": (lambda p: p.write_text("x,y\n1,2\nNaN,3\n"), ("no value in row 3", "'x'")),
    "infinite.csv": (lambda p: p.write_text("x,y\n1,2\ninf,3\n"), ("finite", "row 3")),
    "words.csv": (
        lambda p: p.write_text("x,y\n1,2\n2,3\n3,4\noops,5\n"),
        ("the text 'oops' in row 5", "'x'", "among numbers", "--features"),
    ),
    "one-row.csv": (lambda p: p.write_text("x,y\n1,2\n"), ("1 row", "at least 2")),
    "header.csv": (lambda p: p.write_text("x,y\n"), ("0 row",)),
    "ragged.csv": (lambda p: p.write_text("x,y\n1,2\n1,2,3\n"), ("3 column(s) in row 3",)),
    "same-names.csv": (lambda p: p.write_text("x,x\n1,2\n2,3\n"), ("two columns named 'x'",)),
    "one-column.csv": (lambda p: p.write_text("y\n1\n2\n"), ("feature",)),
    "binary.csv": (lambda p: p.write_bytes(bytes(range(256))), ("UTF-8",)),
    "quotes.csv": (lambda p: p.write_text('x,y\n"1,2\n'), ("comma-separated",)),
    "blank.csv": (lambda p: p.write_text("\n\n\n"), ("no rows",)),
}  # fmt: skip


def _npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def _zip(path: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, content)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", ["target", "initial"])
def test_a_file_that_cannot_be_used(nimt, tmp_path, name, place):
    make, words = FILES[name]
    make(tmp_path / name)
    arguments = (name,) if place == "target" else ("digit:0", "--from", name)
    answer = nimt("teach", *arguments, "--out", "run")
    if place == "initial" and name == "one.npy":
        words = ("same points",)
    assert_refused(answer, *words)
    assert_nothing_written(tmp_path, name)


def test_an_array_of_objects_is_never_unpickled(nimt, tmp_path):
    """A pickle that would leave a mark, were it loaded."""

    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    trap = np.empty(1, dtype=object)
    trap[0] = Trap()
    np.savez(tmp_path / "trap.npz", a=trap)
    np.save(tmp_path / "trap.npy", trap)
    for name in ("trap.npz", "trap.npy"):
        assert_refused(nimt("teach", name), "pickled objects")
        assert nimt("show", name).code == 2
    assert not (tmp_path / "sprung").exists()


def test_a_zip_bomb_is_not_unpacked(nimt, tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", np.zeros(3_000_000))
    assert (tmp_path / "bomb.npz").stat().st_size < 30_000
    assert_refused(nimt("teach", "bomb.npz"), "unpacks to 24000", "uncompressed")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("teach",), ("TARGET is missing",)),
        (("teach", "nowhere.png"), ("no file",)),
        (("teach", "nowhere"), ("neither a function known by name",)),
        (("teach", "zero"), ("error: zero does not say on which points",)),
        (("teach", "https://example.org/a.png"), ("'https://example.org/a.png'", "download")),
        (("teach", "gmm", "--from", "HTTP://example.org/a"), ("'HTTP://example.org/a'", "download")),
        (("teach", "gmm", "--teacher", "whole", "-k", "5"), ("whole", "leave out -k")),
        (("teach", "gmm", "--teacher", "whole", "-k", "1"), ("whole", "leave out -k")),
        (("compare", "gmm", "--teachers", "whole:5"), ("whole", "not 5")),
        (("compare", "gmm", "--teachers", "whole:1"), ("whole", "not 1")),
        (("teach", "gmm", "--kernel", "3"), ("'3' is a number, not a kernel",)),
        (("teach", "gmm", "--kernel", "foo"), ("'foo'", "wendland", "RationalQuadratic")),
        (("teach", "digit:0", "--from", "gmm"), ("1 variable(s)", "dimension 2")),
        (("teach", "gmm", "--from", "digit:8"), ("same points",)),
        (("teach", "gmm", "--teacher", "kind"), ("greedy, imitation, importance", "'kind'")),
        (("teach", "gmm", "-k", "0"), ("k must be", "0")),
        (("teach", "gmm", "-k", "2.5"), ("share in (0, 1]", "2.5")),
        (("teach", "gmm", "-k", "5.0"), ("error: -k as a float is a share", "for a count write 5")),
        (("teach", "gmm", "-k", "281"), ("1 to 280", "281")),
        (("teach", "gmm", "-k", "many"), ("k must be a number", "'many'")),
        (("teach", "gmm", "--pool", "1.5"), ("pool", "1.5")),
        (("teach", "gmm", "--other-target", "sine", "--probability", "2"), ("probability", "2")),
        (("teach", "gmm", "--other-target", "nowhere"), ("nowhere",)),
        (("teach", "gmm", "--kernel", "cosine"), ("cosine",)),
        (("teach", "gmm", "--kernel", "__import__('os').system('true')"), ("calls",)),
        (("teach", "gmm", "--width", "-1"), ("width", "-1")),
        (("teach", "gmm", "--width", "nan"), ("width", "nan")),
        (("teach", "gmm", "--width", "wide"), ("--width",)),
        (("teach", "gmm", "--loss", "guess"), ("square", "'guess'")),
        (("teach", "gmm", "--loss", "logistic"), ("-1 and +1",)),
        (("teach", "gmm", "--learning-rate", "fast"), ("number, or auto", "'fast'")),
        (
            ("teach", "gmm", "--learning-rate", "-1"),
            ("error: --learning-rate must be a positive number or 'auto', got -1",),
        ),
        (("teach", "gmm", "--iterations", "-1"), ("error: --iterations must", "-1")),
        (("teach", "gmm", "--iterations", "ten"), ("--iterations",)),
        (("teach", "gmm", "--tol", "-1"), ("error: --tol must be a finite number >= 0, got -1",)),
        (("teach", "gmm", "--measure", "feet"), ("paper", "'feet'")),
        (("teach", "gmm", "--seed", "-1"), ("seed", "-1")),
        (("teach", "gmm", "--time-limit", "-1"), ("error: --time-limit must be a positive number, got -1",)),
        (("teach", "gmm", "--cmap", "virids"), ("error: --cmap must name", "viridis")),
        (("teach", "gmm", "--holdout", "2"), ("error: --holdout must be a share",)),
        (("teach", "gmm", "--communicate", "5"), ("error: --communicate mixes outputs", "leave --communicate out")),
        (("teach", "gmm", "--teacher", "greedy-per-output"), ("leave -per-output out of --teacher",)),
        (
            ("teach", "gmm", "--engine", "neighbours", "--kernel", "linear"),
            ("error: --engine neighbours cannot run this lesson", "use --engine auto"),
        ),
        (("teach", "gmm", "--teacher", "synthesis", "--other-target", "sine"), ("leave --other-target out",)),
        (("teach", "gmm", "--every", "0"), ("every", "0")),
        (("teach", "cat", "--every", "1", "--iterations", "10000000"), ("raise it",)),
        (("teach", "gmm", "--engine", "steam"), ("error: --engine must", "linear, got 'steam'")),
        (("teach", "cat", "--size", "-3"), ("size", "-3")),
        (("teach", "cat", "--size", "1"), ("single point",)),
        (("teach", "gmm", "--normalise", "much"), ("standard", "'much'")),
        (("teach", "gmm", "--unknown"), ("--unknown",)),
        (("teach", "gmm", "--config", "nowhere.toml"), ("no file",)),
        (("teach", "a\0b.png"), ("null",)),
        (("compare", "gmm", "--teachers", "greedy:1,greedy:1"), ("twice",)),
        (("compare", "gmm", "--teachers", "greedy:1,"), ("teacher must be",)),
        (("compare", "gmm", "--teachers", "greedy:x"), ("k must be a number",)),
        (("compare", "gmm", "--seeds", "0"), ("seeds", "0")),
        (("show", "nowhere"), ("no file",)),
        (("resume", "nowhere"), ("no folder",)),
        (("nothing",), ("nothing",)),
    ],
)
def test_an_option_that_cannot_be_used(nimt, tmp_path, arguments, words):
    assert_refused(nimt(*arguments), *words)
    assert_nothing_written(tmp_path)


def test_another_size_is_resampled_with_a_word_or_refused(undrawn, nimt, tmp_path):
    picture(tmp_path / "large.png", 16)
    picture(tmp_path / "small.png", 8)
    command = ("teach", "large.png", "--from", "small.png", "--iterations", "5", "--out", "run")
    assert_refused(nimt(*command, "--strict"), "small.png is 8 x 8", "large.png 16 x 16", "--strict")
    assert_nothing_written(tmp_path, "large.png", "small.png")
    answer = nimt(*command)
    assert answer.code == 0
    assert "small.png is 8 x 8 and large.png 16 x 16: small.png was resampled" in answer.err


def test_a_path_with_spaces_and_unicode(undrawn, nimt, tmp_path):
    picture(tmp_path / "eine schöne Katze 🐈.png")
    answer = nimt("teach", "eine schöne Katze 🐈.png", "--iterations", "5", "--out", "ein Ordner ü")
    assert answer.code == 0, answer.err
    assert (tmp_path / "ein Ordner ü" / "lesson.npz").exists()
    assert nimt("resume", "ein Ordner ü", "--iterations", "8").code == 0


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody without permission")
def test_no_permission(server):
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o755)
        np.save(folder / "secret.npy", np.zeros(4))
        np.save(folder / "open.npy", np.arange(4.0))
        (folder / "secret.npy").chmod(0)
        (folder / "open.npy").chmod(0o644)
        (folder / "free").mkdir()
        (folder / "free").chmod(0o777)
        answer = server.run("teach", folder / "secret.npy", "--out", folder / "free" / "run", user=65534)
        assert_refused(answer, "may not be read")
        answer = server.run("teach", folder / "open.npy", "--out", folder / "run", user=65534)
        assert_refused(answer, "cannot be made")
        (folder / "run").mkdir(mode=0o755)
        answer = server.run("teach", folder / "open.npy", "--out", folder / "run", user=65534)
        assert_refused(answer, "may not be written to")
    finally:
        shutil.rmtree(folder)


def test_an_out_that_is_a_file_or_holds_a_run(undrawn, nimt, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert_refused(nimt("teach", "gmm", "--out", "file"), "is a file")
    assert nimt("teach", "sine", "--iterations", "3", "--out", "run").code == 0
    before = (tmp_path / "run" / "lesson.npz").read_bytes()
    assert_refused(nimt("teach", "gmm", "--out", "run"), "holds a run already", "--overwrite")
    assert_refused(nimt("teach", "gmm", "--out", "run", "--overwrite", "-k", "999"), "999")
    assert (tmp_path / "run" / "lesson.npz").read_bytes() == before
    assert nimt("teach", "gmm", "--iterations", "3", "--out", "run", "--overwrite").code == 0
    assert (tmp_path / "run" / "lesson.npz").read_bytes() != before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("target = 'gmm'\nspeed = 3\n", ("'speed'", "not a setting")),
        ("target = 'gmm'\niterations = 'ten'\n", ("iterations", "whole number")),
        ("target = 'gmm'\niterations = true\n", ("iterations", "whole number")),
        ("target = 'gmm'\ntol = nan\n", ("tol", "number")),
        ("target = 3\n", ("target", "text")),
        ("iterations = 3\n", ("TARGET is missing",)),
        ("target = \n", ("TOML",)),
        ("[[[[", ("TOML",)),
        ("a = " + "[" * 5000, ("TOML",)),
    ],
)
def test_a_config_that_cannot_be_used(nimt, tmp_path, text, words):
    (tmp_path / "run.toml").write_text(text)
    assert_refused(nimt("teach", "--config", "run.toml"), *words)
    assert_nothing_written(tmp_path, "run.toml")


@pytest.mark.long
def test_a_damaged_lesson_is_named(undrawn, nimt, tmp_path):
    assert nimt("teach", "sine", "--iterations", "3", "--out", "run").code == 0
    path = tmp_path / "run" / "lesson.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert_refused(nimt("show", "run"), str(Path("run") / "lesson.npz"))
    path.unlink()
    assert_refused(nimt("show", "run"), "nimt resume run")

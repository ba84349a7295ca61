"""Small files that would exhaust the machine: none under a megabyte takes more than 500 MB, or more than seconds."""

from __future__ import annotations

import gzip
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.exhaustive

MOST_MEMORY = 500_000_000  # bytes, of the whole process
MOST_SECONDS = 60  # it should be 5; a busy machine is given more, and what is meant here took minutes
LARGEST = 1_000_000  # bytes of a file

# Reads one thing, and tells what that took; a sentence is as good as a value.
READING = """
import json, sys
from nimt.errors import NimtError

how, path = sys.argv[1:]
said = ""
try:
    if how == "plan":
        from nimt.cli.app import run
        said = run(["plan", path])
    elif how == "full size":
        from nimt.cli.app import run
        said = run(["plan", path, "--size", "0"])
    elif how == "config":
        from nimt.cli.app import run
        said = run(["plan", "--config", path])
    elif how == "idx":
        from nimt.datasets.idx import read_idx
        read_idx(path, 3)
    elif how == "kernel":
        from nimt.kernels.expressions import parse_kernel
        parse_kernel(open(path).read())
    elif how == "cheetah":
        from nimt.datasets import prepare_like_the_cheetah
        prepare_like_the_cheetah(path)
except NimtError as error:
    said = str(error)
with open("/proc/self/status") as status:  # the usual ru_maxrss begins with what the parent had
    (peak,) = [int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:")]
print(json.dumps([said, peak]))
"""


def png(width: int, height: int, depth: int = 8, colours: int = 0) -> bytes:
    """A PNG of zeros, as small as they pack."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    samples = {0: 1, 2: 3, 6: 4}[colours]
    row = b"\0" * (1 + (width * samples * depth + 7) // 8)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(row * 100) for _ in range(height // 100)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height // 100 * 100, depth, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def padded(content: bytes) -> bytes:
    """Bytes after the end, which are not looked at: a larger file may hold more pixels."""
    return content + b"\0" * (LARGEST - 1 - len(content))


def picture(path: Path, width: int, height: int, mode: str = "RGB", **options: object) -> None:
    Image.new(mode, (width, height)).save(path, **options)
    path.write_bytes(padded(path.read_bytes()))


def npz(path: Path, count: int, dtype: str) -> None:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a.npy", "w") as file,
    ):
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        left = count * np.dtype(dtype).itemsize
        while left > 0:
            left -= file.write(b"\0" * min(left, 1 << 20))


def npz_with_a_long_header(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("a.npy", "w") as file,
    ):
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", 900 << 20))
        for _ in range(900):
            file.write(b" " * (1 << 20))


def many_members(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for index in range(9_000):
            archive.writestr(str(index), b"")


def many_scans(path: Path) -> None:
    """A progressive JPEG whose last scan is there again and again."""
    Image.new("L", (4000, 3900)).save(path, format="JPEG", progressive=True)
    content = path.read_bytes()
    last = content.rindex(b"\xff\xda")
    scan = content[last:-2]
    path.write_bytes(content[:-2] + scan * ((LARGEST - len(content)) // len(scan)) + content[-2:])


def table(path: Path, columns: int, rows: int, names: str = "c{}") -> None:
    lines = [",".join(names.format(index) for index in range(columns)), *[",".join(["1"] * columns)] * rows]
    path.write_text("\n".join(lines))


def points(path: Path) -> None:
    """As many different points as fit."""
    path.write_text("x,y\n" + "".join(f"{index},1\n" for index in range(110_000)))


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def idx(path: Path) -> None:
    with gzip.open(path, "wb") as file:
        file.write(bytes((0, 0, 8, 3)) + struct.pack(">III", 1_000_000, 28, 28))
        for _ in range(784):
            file.write(b"\0" * 1_000_000)


def parquet(path: Path, rows: int = 2, **columns: object) -> None:
    """A parquet file of the columns a and y, and some more."""
    arrow = pytest.importorskip("pyarrow")
    numbers = {"a": np.arange(rows) % 7, "y": np.arange(rows) % 5}
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns | numbers), path, compression="zstd")


def excel(path: Path, part: str, begin: bytes, again: bytes, count: int, end: bytes) -> None:
    """An Excel file of which one part is as long as so many bytes may unpack to: the rest of the file is noise."""
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["a", "y"])
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = begin + again * count + end
    parts["noise"] = os.urandom(700_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def word_again_and_again(path: Path) -> None:
    """A dictionary of one long word, and 200,000 places in it."""
    arrow = pytest.importorskip("pyarrow")
    places = arrow.array(np.zeros(200_000, np.int32))
    parquet(path, 200_000, w=arrow.DictionaryArray.from_arrays(places, arrow.array(["w" * 400_000])))


def differences(path: Path) -> None:
    """Long words, of which each is stored by the few letters that the word before did not have."""
    arrow = pytest.importorskip("pyarrow")
    words = arrow.array(["w" * 40_000 + str(index) for index in range(9_000)])
    table = arrow.table({"w": words, "y": np.arange(9_000)})
    pytest.importorskip("pyarrow.parquet").write_table(
        table, path, use_dictionary=False, column_encoding={"w": "DELTA_BYTE_ARRAY", "y": "PLAIN"}
    )


def lying_footer(path: Path) -> None:
    """A word of 300 MB in a page whose size the footer denies."""
    parquet(path, w=["w" * 300_000_000, ""])
    content = path.read_bytes()
    declared = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(0).column(0)
    path.write_bytes(content.replace(varint(declared.total_uncompressed_size), varint(40, 5)))


def varint(number: int, length: int = 1) -> bytes:
    """A positive number as Thrift writes it, with at least so many bytes."""
    number <<= 1
    digits = []
    while number or len(digits) < length:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits[:-1], digits[-1] & 127])


def gzipped(path: Path, begin: bytes, again: bytes, count: int) -> None:
    with gzip.open(path, "wb") as file:
        file.write(begin)
        for _ in range(100):
            file.write(again * (count // 100))


SPACE = b' xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
SHEET, CLOSED = ("xl/worksheets/sheet1.xml", b"<worksheet" + SPACE + b"<sheetData>"), (b"</sheetData></worksheet>",)
ROW, FAR = b"<row><c><v>1</v></c></row>", b'<row><c r="JZZ1"><v>1</v></c></row>'
WORDS = ("xl/sharedStrings.xml", b"<sst" + SPACE)

FILES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "200 million zeros.npz": ("plan", lambda path: npz(path, 200_000_000, "|u1")),
    "as many zeros as allowed.npz": ("plan", lambda path: npz(path, (1 << 21) - 999, "<f8")),
    "bytes that are allowed.npz": ("plan", lambda path: npz(path, 1 << 21, "|u1")),
    "60 million floats.npz": ("plan", lambda path: npz(path, 60_000_000, "<f8")),
    "a header of 900 MB.npz": ("plan", npz_with_a_long_header),
    "9,000 members.npz": ("plan", many_members),
    "a million bytes.npy": ("plan", lambda path: np.save(path, np.zeros(999_000, np.uint8))),
    "50 megapixels.png": ("plan", lambda path: path.write_bytes(png(10_000, 5_000))),
    "50 megapixels, padded.png": ("plan", lambda path: path.write_bytes(padded(png(10_000, 5_000)))),
    "50 megapixels of 1 bit.png": ("plan", lambda path: path.write_bytes(png(10_000, 5_000, depth=1))),
    "16 megapixels.png": ("plan", lambda path: path.write_bytes(padded(png(4_000, 3_900, colours=2)))),
    "16 transparent megapixels.png": ("plan", lambda path: path.write_bytes(padded(png(4_000, 3_900, colours=6)))),
    "16 deep megapixels.png": ("plan", lambda path: path.write_bytes(padded(png(4_000, 3_900, depth=16)))),
    "16 megapixels in full.png": ("full size", lambda path: path.write_bytes(padded(png(4_000, 3_900)))),
    "2 megapixels in full.png": ("full size", lambda path: path.write_bytes(padded(png(2_000, 1_000)))),
    "16 megapixels.jpg": ("plan", lambda path: picture(path, 4_000, 3_900)),
    "16 progressive megapixel.jpg": ("plan", lambda path: picture(path, 4_000, 3_900, progressive=True, subsampling=0)),
    "16 megapixels of ink.jpg": ("plan", lambda path: picture(path, 4_000, 3_900, "CMYK")),
    "thousands of scans.jpg": ("plan", many_scans),
    "16 megapixels.webp": ("plan", lambda path: picture(path, 4_000, 3_900, lossless=True)),
    "16 transparent megapixels.webp": ("plan", lambda path: picture(path, 4_000, 3_900, "RGBA", lossless=True)),
    "16 megapixels.tiff": ("plan", lambda path: picture(path, 4_000, 3_900, compression="tiff_deflate")),
    "16 megapixels of floats.tiff": ("plan", lambda path: picture(path, 4_000, 3_900, "F", compression="tiff_deflate")),
    "16 megapixels.gif": ("plan", lambda path: picture(path, 4_000, 3_900, "P")),
    "16 megapixels like the cheetah.png": (
        "cheetah", lambda path: path.write_bytes(padded(png(4_000, 3_900, colours=6))),
    ),
    "a name twice among 100,000.csv": ("plan", lambda path: table(path, 100_000, 1, "x")),
    "160,000 columns.csv": ("plan", lambda path: table(path, 160_000, 2, "1")),
    "9,999 columns.csv": ("plan", lambda path: table(path, 9_999, 40)),
    "one long line.csv": ("plan", text("1," * 499_000)),
    "one long cell.csv": ("plan", text("x,y\n" + "1" * 990_000)),
    "one long quoted cell.csv": ("plan", text('x,y\n"' + "\n" * 990_000)),
    "only ends of lines.csv": ("plan", text("\n" * 990_000)),
    "many rows.csv": ("plan", text("x,y\n" + "1,1\n" * 245_000)),
    "many points.csv": ("plan", points),
    "a long key.toml": ("config", text(".".join(["a"] * 200_000) + " = 1")),
    "a key as long as allowed.toml": ("config", text(".".join(["a"] * 32_000) + " = 1")),
    "many tables.toml": ("config", text("".join(f"[a{index}]\n" for index in range(8_000)))),
    "many arrays.toml": ("config", text("a = " + "[" * 30_000)),
    "many digits.toml": ("config", text("size = " + "9" * 65_000)),
    "many quotes.toml": ("config", text("target = " + '"""' + '\\"' * 32_000)),
    "rows without end.csv.gz": ("plan", lambda path: gzipped(path, b"x,y\n", b"0,0\n", 70_000_000)),
    "empty lines.csv.gz": ("plan", lambda path: gzipped(path, b"x,y\n1,2\n3,4\n", b"\n", 16_000_000)),
    "wide rows.csv.gz": ("plan", lambda path: gzipped(path, b"", b"1," * 9_990 + b"1\n", 5_000)),
    "millions of rows.xlsx": ("plan", lambda path: excel(path, *SHEET, ROW, 2_500_000, *CLOSED)),
    "far apart.xlsx": ("plan", lambda path: excel(path, *SHEET, FAR, 99_000, *CLOSED)),
    "millions of words.xlsx": ("plan", lambda path: excel(path, *WORDS, b"<si><t>a</t></si>", 4_000_000, b"</sst>")),
    "20 million zeros.parquet": ("plan", lambda path: parquet(path, 10_000_000)),
    "a list of 50 million.parquet": ("plan", lambda path: parquet(path, z=[np.zeros(50_000_000), []])),
    "a word of 300 MB.parquet": ("plan", lambda path: parquet(path, z=["z" * 300_000_000, ""])),
    "a long word again and again.parquet": ("plan", word_again_and_again),
    "long words as differences.parquet": ("plan", differences),
    "a footer that lies.parquet": ("plan", lying_footer),
    "zeros.gz": ("idx", idx),
    "a long sum.kernel": ("kernel", text(" + ".join(["RBF(1)"] * 55))),
    "a deep power.kernel": ("kernel", text("(" * 60 + "RBF(1)" + ")**16" * 60)),
    "many scales.kernel": ("kernel", text("RBF((" + "1," * 240 + "))")),
}  # fmt: skip


EVERYDAY = ("200 million zeros.npz", "50 megapixels.png", "a name twice among 100,000.csv", "a long key.toml")
CASES = [pytest.param(name, marks=() if name in EVERYDAY else pytest.mark.slow) for name in FILES]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process how much it took")
@pytest.mark.parametrize("name", CASES)
def test_a_small_file_stays_small(tmp_path, name):
    how, make = FILES[name]
    path = tmp_path / name
    make(path)
    assert path.stat().st_size < LARGEST
    done = subprocess.run(
        [sys.executable, "-c", READING, how, str(path)],
        capture_output=True, text=True, timeout=MOST_SECONDS, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr) < 3_000
    said, memory = json.loads(done.stdout.splitlines()[-1])
    assert memory < MOST_MEMORY, f"{memory / 1e6:.0f} MB; {said} {done.stderr}"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process how much it took")
def test_a_long_row_is_refused_before_it_is_held(tmp_path):
    """A quarter of a gigabyte in one row took ten times its size."""
    path = tmp_path / "one row.csv"
    with open(path, "wb") as file:
        for _ in range(240):
            file.write(b"1," * (1 << 19))
    done = subprocess.run(
        [sys.executable, "-c", READING, "plan", str(path)],
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    said, memory = json.loads(done.stdout.splitlines()[-1])
    assert said == 2 and memory < MOST_MEMORY
    assert "a line of more than" in done.stderr

"""How large what is read may become: judged by what a file declares, before it is unpacked.

A few kilobytes can declare a hundred million values. A small file may therefore become only so large, and a larger one
in proportion to its bytes; who means it saves the same values uncompressed.
"""

from __future__ import annotations

from pathlib import Path

from nimt.errors import InvalidInput
from nimt.wording import Wording

MOST_VALUES = 1 << 26
VALUES_OF_ANY_FILE = 1 << 21
VALUES_PER_BYTE = 2

MOST_PIXELS = 50_000_000
PIXELS_OF_ANY_FILE = 10_000_000
PIXELS_PER_BYTE = 16
VALUES_OF_ANY_PICTURE = 1 << 22  # of a picture that is taught as large as it is, in a file of this many bytes or fewer:
SMALL_PICTURE = 1 << 20

UNPACKED_OF_ANY_FILE = 1 << 24  # bytes
UNPACKED_PER_BYTE = 100


def check_values(count: int, file: Path) -> None:
    """Refuse more values than a file of its size may hold."""
    most = min(MOST_VALUES, max(VALUES_OF_ANY_FILE, VALUES_PER_BYTE * file.stat().st_size))
    if count > most:
        raise InvalidInput(
            f"{str(file)!r} holds {count:,} values, and of {_size(file)} at most {most:,} are read: thin "
            f"them out, or save them uncompressed"
        )


def check_pixels(width: int, height: int, file: Path) -> None:
    """Refuse a picture with more pixels than a file of its size may hold."""
    most = min(MOST_PIXELS, max(PIXELS_OF_ANY_FILE, PIXELS_PER_BYTE * file.stat().st_size))
    if width * height > most:
        raise InvalidInput(
            f"the picture {str(file)!r} has {width} x {height} pixels, and of {_size(file)} at most {most:,} are read: "
            f"shrink it first"
        )


def check_full_size(pixels: int, outputs: int, file: Path) -> None:
    """Refuse to teach every pixel of a picture whose file is small for so many: a photo has a byte for 16 values."""
    beyond = max(0, file.stat().st_size - SMALL_PICTURE)
    most = min(MOST_VALUES, VALUES_OF_ANY_PICTURE + PIXELS_PER_BYTE * beyond)
    if pixels * outputs > most:
        raise InvalidInput(
            f"{str(file)!r} holds {pixels * outputs:,} values, and of {_size(file)} at most {most:,} are read",
            way_out=Wording("give size=", "give --size").embed(after=" a smaller number of pixels"),
        )


def check_unpacked(size: int, file: Path) -> None:
    """Refuse a packed file that unpacks to far more bytes than it has."""
    most = max(UNPACKED_OF_ANY_FILE, UNPACKED_PER_BYTE * file.stat().st_size)
    if size > most:
        raise InvalidInput(
            f"{str(file)!r} unpacks to {size} bytes, and of {_size(file)} at most {most} are read: save it uncompressed"
        )


def _size(file: Path) -> str:
    return f"a file of {file.stat().st_size:,} bytes"

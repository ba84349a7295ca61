"""The IDX format of MNIST and EMNIST: a magic number, sizes, then bytes; compressed with gzip or not."""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from nimt.counting import say_count
from nimt.datasets.limits import check_unpacked
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput

Bytes = npt.NDArray[np.uint8]

IMAGES = 3
LABELS = 1

# The largest file in use (EMNIST byclass) has 0.55 GB; a damaged header must not ask for much more memory than that.
_LARGEST = 1 << 30


def read_idx(path: str | os.PathLike[str], dimensions: int, checksum: str | None = None) -> Bytes:
    """Read an IDX file of unsigned bytes.

    The first four bytes are 0, 0, 8 (unsigned byte) and the number of dimensions; the sizes follow as big-endian
    32-bit integers, then the values in C order. gzip is recognised by its own first bytes, not by the file's name.

    Parameters
    ----------
    path : path-like
        The file, compressed or not.
    dimensions : int
        3 for images (count, height, width), 1 for labels (count,).
    checksum : str, optional
        SHA-256 of the uncompressed content, in hexadecimal.

    Returns
    -------
    ndarray of uint8, read-only
    """
    path = readable_file(path, _LARGEST)
    try:
        with _open(path) as file:
            sizes, header = _header(file, dimensions, path)
            values = _content(file, sizes, path)
    except (OSError, EOFError, zlib.error) as problem:
        raise InvalidInput(f"the file {str(path)!r} cannot be read ({problem}): copy it again") from problem
    if checksum is not None:
        digest = hashlib.sha256(header)
        digest.update(values)
        if digest.hexdigest() != checksum:
            raise InvalidInput(
                f"the file {str(path)!r} is not the published one (its SHA-256 is {digest.hexdigest()[:12]}..., "
                f"expected {checksum[:12]}...): copy it again, or pass verify=False to use it as it is"
            )
    return np.frombuffer(values, dtype=np.uint8).reshape(sizes)


def _open(path: Path) -> BinaryIO:
    with open(path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if compressed else open(path, "rb")


def _header(file: BinaryIO, dimensions: int, path: Path) -> tuple[tuple[int, ...], bytes]:
    length = 4 + 4 * dimensions
    header = file.read(length)
    expected = bytes((0, 0, 8, dimensions))
    if header[:4] != expected:
        raise InvalidInput(
            f"the file {str(path)!r} starts with {header[:4].hex()!r}, and an IDX file of "
            f"{'images' if dimensions == IMAGES else 'labels'} starts with {expected.hex()!r}: give the right file"
        )
    if len(header) < length:
        raise InvalidInput(f"the file {str(path)!r} ends inside its header: copy it again")
    return struct.unpack(f">{dimensions}I", header[4:]), header


def _content(file: BinaryIO, sizes: tuple[int, ...], path: Path) -> bytes:
    expected = 1
    for size in sizes:
        expected *= size
    if not 0 < expected <= _LARGEST:
        raise InvalidInput(
            f"the header of {str(path)!r} announces sizes {sizes}, {expected} bytes where 1 to {_LARGEST} are allowed: "
            "copy it again"
        )
    check_unpacked(expected, path)
    values = file.read(expected)
    if len(values) < expected:
        raise InvalidInput(
            f"the file {str(path)!r} holds {len(values)} of the {expected} bytes announced: copy it again"
        )
    if file.read(1):
        raise InvalidInput(f"the file {str(path)!r} goes on after the {expected} bytes announced: copy it again")
    return values


def read_labelled(
    images: str | os.PathLike[str],
    labels: str | os.PathLike[str],
    checksums: tuple[str | None, str | None] = (None, None),
) -> tuple[Bytes, Bytes]:
    """Read 28x28 images and their labels from two IDX files that belong together.

    Returns
    -------
    images : ndarray of shape (count, 28, 28)
        uint8, as stored.
    labels : ndarray of shape (count,)
        uint8.
    """
    pictures = read_idx(images, IMAGES, checksums[0])
    classes = read_idx(labels, LABELS, checksums[1])
    if pictures.shape[1:] != (28, 28):
        raise InvalidInput(f"the images in {str(images)!r} are {pictures.shape[1:]}, not (28, 28): give the right file")
    if len(pictures) != len(classes):
        raise InvalidInput(
            f"{str(images)!r} holds {say_count(len(pictures), 'image', 'd')} and {str(labels)!r} "
            f"{say_count(len(classes), 'label', 'd')}: "
            "give two files of the same set"
        )
    return pictures, classes

"""One npz file for one record: no pickle, never half-written, checked when read."""

from __future__ import annotations

import hashlib
import json
import os
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from nimt.errors import CorruptLesson
from nimt.store.codings import AnyArray, encode
from nimt.store.packing import REST, Packer, most_unpacked, with_arrays
from nimt.store.whole_files import whole_file

FORMAT = 5
CHECKSUM_BYTES = 32  # SHA-256
WORTH = 1.1  # times smaller: what compressing an array must bring


def write(
    path: str | os.PathLike[str], kind: str, content: dict[str, Any], *, worth: float = WORTH, durable: bool = True
) -> None:
    """Write a dictionary of numbers, text, lists, dictionaries and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
        After a crash, a full disk or a kill the previous file is still there, unchanged.
    kind : str
        What the file is, checked by `read`.
    content : dict
    worth : float
        An array is compressed if that makes it this many times smaller, as far as a few pieces of it tell. Compressing
        is slower than writing, unless an array becomes much smaller; infinite to write all as they are.
    durable : as in `whole_file`
    """
    with whole_file(Path(path), durable=durable) as temporary, open(temporary, "w+b") as file:
        packer = Packer(small=worth < np.inf)
        _write_archive(file, kind, content, packer, worth)
        if packer.unpacked > most_unpacked(file.tell()):  # `read` would take it for a trap
            file.seek(0)
            file.truncate()
            _write_archive(file, kind, content, Packer(small=False), np.inf)
        _seal(file)


def _write_archive(file: IO[bytes], kind: str, content: dict[str, Any], packer: Packer, worth: float) -> None:
    plain = packer.without_arrays(content)
    steps = dict(packer.steps)
    arrays: dict[str, AnyArray] = {}
    compressed = {"header"}
    for name, array in packer.arrays.items():
        found = encode(array, worth)
        arrays[name] = found.array
        if found.compress:
            compressed.add(name)
        if found.rest is not None:
            arrays[name + REST] = found.rest
        if found.how:
            steps[name] = steps.get(name, {}) | found.how
    header = json.dumps({"nimt": kind, "format": FORMAT, "packing": steps, "content": plain}).encode()
    arrays["header"] = np.frombuffer(header, dtype=np.uint8)
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for name, array in arrays.items():
            archive.compression = zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy_format.write_array(member, array, allow_pickle=False)
    file.seek(0, os.SEEK_END)


def read(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Read what `write` wrote, or raise `CorruptLesson`; a missing file raises FileNotFoundError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise CorruptLesson(f"{path} is a folder, a device or a pipe, not a {kind}")
    try:
        with open(path, "rb") as file:
            if not _is_whole(file):
                raise CorruptLesson(
                    f"{path} is not a {kind} written by nimt, or it was cut short, altered or damaged: "
                    f"its checksum does not match"
                )
            limit = most_unpacked(os.fstat(file.fileno()).st_size)
            with zipfile.ZipFile(file) as archive:
                if sum(member.file_size for member in archive.infolist()) > limit:
                    raise CorruptLesson(
                        f"{path} would take more than {limit:,} bytes of memory, unlike what nimt writes"
                    )
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                arrays: dict[str, AnyArray] = {name: content[name] for name in content.files}
    except FileNotFoundError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        KeyError,
        ValueError,
        MemoryError,
        NotImplementedError,
        RuntimeError,
        OverflowError,
        SyntaxError,
        TypeError,
        tokenize.TokenError,  # numpy reads array headers as Python literals
    ) as error:
        if isinstance(error, CorruptLesson):
            raise
        raise CorruptLesson(
            f"{path} cannot be read as a {kind} ({error}): it is damaged, cut short or not written by nimt"
        ) from None
    except OSError as error:
        raise CorruptLesson(f"{path} cannot be read as a {kind}: {error}") from None
    if "header" not in arrays:
        raise CorruptLesson(f"{path} was not written by nimt: it has no header")
    try:
        header = json.loads(arrays.pop("header").tobytes())
        found, version, plain = header["nimt"], header["format"], header["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CorruptLesson(f"{path} was altered: its header cannot be read") from None
    if found != kind:
        raise CorruptLesson(f"{path} holds a {found}, not a {kind}")
    if version != FORMAT:
        raise CorruptLesson(
            f"{path} has format {version}, this version of nimt reads {FORMAT}: use the version it was written with"
        )
    try:
        record = with_arrays(plain, arrays, header.get("packing", {}), limit)
    except (KeyError, RecursionError):
        raise CorruptLesson(f"{path} was altered: its header names arrays it does not hold") from None
    if not isinstance(record, dict):
        raise CorruptLesson(f"{path} was altered: its header holds no record")
    return record


def _seal(file: IO[bytes]) -> None:
    """End the archive with a comment, the checksum of every byte before it."""
    file.seek(-2, os.SEEK_END)
    file.write(CHECKSUM_BYTES.to_bytes(2, "little"))  # a zip ends with the length of its comment
    checksum = _checksum(file, file.tell())
    file.seek(0, os.SEEK_END)
    file.write(checksum)


def _is_whole(file: IO[bytes]) -> bool:
    """Say whether the file ends with the checksum of all before it, and go back to its beginning."""
    length = file.seek(0, os.SEEK_END) - CHECKSUM_BYTES
    whole = length > 0 and _checksum(file, length) == file.read()
    file.seek(0)
    return whole


def _checksum(file: IO[bytes], length: int) -> bytes:
    total = hashlib.sha256()
    file.seek(0)
    while length > 0 and (block := file.read(min(length, 2**20))):
        total.update(block)
        length -= len(block)
    return total.digest()

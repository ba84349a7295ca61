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
from numpy.typing import NDArray

from nimt.errors import CorruptLesson
from nimt.files import whole_file

FORMAT = 1
CHECKSUM_BYTES = 32  # SHA-256
ARRAY = "array"  # a dictionary with this one key stands for the array of that name


def write(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write a dictionary of numbers, text, lists, dictionaries and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
        After a crash, a full disk or a kill the previous file is still there, unchanged.
    kind : str
        What the file is, checked by `read`.
    content : dict
    """
    arrays: dict[str, NDArray[Any]] = {}
    plain = _take_arrays_out(content, arrays)
    header = json.dumps({"nimt": kind, "format": FORMAT, "content": plain}).encode()
    arrays["header"] = np.frombuffer(header, dtype=np.uint8)
    with whole_file(Path(path)) as temporary, open(temporary, "w+b") as file:
        np.savez(file, allow_pickle=False, **arrays)
        _seal(file)


def read(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Read what `write` wrote, or raise `CorruptLesson`; a missing file raises FileNotFoundError."""
    try:
        with open(path, "rb") as file:
            if not _is_whole(file):
                raise CorruptLesson(
                    f"{path} is not a {kind} written by nimt, or it was cut short, altered or damaged: "
                    f"its checksum does not match"
                )
            with zipfile.ZipFile(file) as archive:
                if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                    raise CorruptLesson(f"{path} is a compressed archive, which nimt never writes")
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                arrays = {name: content[name] for name in content.files}
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
        record = _put_arrays_back(plain, arrays)
    except (KeyError, RecursionError):
        raise CorruptLesson(f"{path} was altered: its header names arrays it does not hold") from None
    if not isinstance(record, dict):
        raise CorruptLesson(f"{path} was altered: its header holds no record")
    return record


def _take_arrays_out(content: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(content, np.ndarray):
        name = f"array_{len(arrays)}"
        arrays[name] = content
        return {ARRAY: name}
    if isinstance(content, dict):
        return {str(key): _take_arrays_out(value, arrays) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_take_arrays_out(value, arrays) for value in content]
    return content


def _put_arrays_back(plain: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(plain, dict):
        if set(plain) == {ARRAY} and isinstance(plain[ARRAY], str):  # a teacher may call what it remembers "array"
            return arrays[plain[ARRAY]]
        return {key: _put_arrays_back(value, arrays) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_put_arrays_back(value, arrays) for value in plain]
    return plain


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

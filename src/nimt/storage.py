"""One npz file for one record: no pickle, written at once or not at all, checked when read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nimt.errors import CorruptLesson

FORMAT = 1
ARRAY = "array"  # a dictionary with this one key stands for the array of that name


def write(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write a dictionary of numbers, text, lists, dictionaries and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
        A crash, a full disk or a kill leaves what was there before.
    kind : str
        What the file is, checked by `read`.
    content : dict
    """
    arrays: dict[str, NDArray[Any]] = {}
    plain = _take_arrays_out(content, arrays)
    header = json.dumps({"nimt": kind, "format": FORMAT, "content": plain}).encode()
    arrays["header"] = np.frombuffer(header, dtype=np.uint8)
    arrays["digest"] = np.frombuffer(_digest(arrays), dtype=np.uint8)
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """Read what `write` wrote, or raise `CorruptLesson` with a sentence; a missing file stays FileNotFoundError."""
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise CorruptLesson(f"{path} is a compressed archive, which nimt never writes")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
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
            f"{path} cannot be read as a {kind} ({error}): it is damaged, cut short or foreign"
        ) from None
    except OSError as error:
        raise CorruptLesson(f"{path} cannot be read as a {kind}: {error}") from None
    if "header" not in arrays or "digest" not in arrays:
        raise CorruptLesson(f"{path} was not written by nimt: it has no header")
    digest = arrays.pop("digest").tobytes()
    if digest != _digest(arrays):
        raise CorruptLesson(f"{path} was altered or damaged: its checksum does not match")
    try:
        header = json.loads(arrays.pop("header").tobytes())
        found, version, plain = header["nimt"], header["format"], header["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CorruptLesson(f"{path} was altered: its header cannot be read") from None
    if found != kind:
        raise CorruptLesson(f"{path} holds a {found}, not a {kind}")
    if version != FORMAT:
        raise CorruptLesson(f"{path} has format {version}, this nimt reads {FORMAT}: use the nimt it was written with")
    content = _put_arrays_back(plain, arrays)
    assert isinstance(content, dict)
    return content


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
        if set(plain) == {ARRAY}:
            return arrays[plain[ARRAY]]
        return {key: _put_arrays_back(value, arrays) for key, value in plain.items()}
    if isinstance(plain, list):
        return [_put_arrays_back(value, arrays) for value in plain]
    return plain


def _digest(arrays: dict[str, NDArray[Any]]) -> bytes:
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.tobytes() if array.ndim == 0 else array.view(np.uint8).data if array.size else b"")
    return total.digest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

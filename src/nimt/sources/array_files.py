"""Arrays from `.npy` and `.npz` files, without pickle, and within a limit of size."""

from __future__ import annotations

import os
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from nimt.datasets.limits import check_unpacked, check_values
from nimt.datasets.places import readable_file
from nimt.errors import InvalidInput
from nimt.pools.pool import Grid, values_on
from nimt.sources.source import Source

LARGEST_ARRAY = 1 << 29  # bytes
# What numpy's reader and zipfile raise on damaged bytes.
DAMAGE = (
    ValueError,
    EOFError,
    KeyError,
    TypeError,
    SyntaxError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    UnicodeDecodeError,
    AttributeError,
    IndexError,
    tokenize.TokenError,
)


def read_array(path: str | os.PathLike[str]) -> Source:
    """Read a `.npy` file, or a `.npz` file with one array, as a function on its grid of indices.

    Parameters
    ----------
    path : path-like
        An array of 1 to 3 dimensions of finite real numbers.
    """
    file = readable_file(path, LARGEST_ARRAY)
    try:
        array = _from_npz(file) if zipfile.is_zipfile(file) else _from_npy(file)
    except InvalidInput:
        raise
    except DAMAGE as problem:
        raise InvalidInput(
            f"{str(file)!r} cannot be read as an array ({_first_line(problem)}): save it again"
        ) from None
    if array.dtype.kind not in "biuf":
        raise InvalidInput(f"{str(file)!r} holds {array.dtype} values: an array of real numbers is needed")
    if not 1 <= array.ndim <= 3 or array.size == 0:
        raise InvalidInput(f"{str(file)!r} holds an array of shape {array.shape}: 1 to 3 dimensions are needed, none 0")
    pool = Grid.like(array)
    notes: tuple[str, ...] = ()
    if array.ndim == 3 and array.shape[2] == 3:
        told = "is taught as a function of three variables; save it as a picture (.png) to teach it in colour"
        notes = (f"{file.name} has the shape {array.shape} and {told}",)
    return Source(file.name, pool, values_on(pool, array, file.name), dimension=pool.dimension, notes=notes)


def _from_npy(path: Path) -> NDArray[Any]:
    with open(path, "rb") as file:
        return _check_and_read(file, path, path.stat().st_size)


def _from_npz(path: Path) -> NDArray[Any]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) != 1:
            names = ", ".join(member.filename.removesuffix(".npy")[:40] for member in members[:5]) or "none"
            more = ", ..." if len(members) > 5 else ""
            raise InvalidInput(
                f"{str(path)!r} holds {len(members)} arrays ({names}{more}) and one is needed: save that one alone"
            )
        check_unpacked(members[0].file_size, path)
        with archive.open(members[0]) as file:
            return _check_and_read(file, path, members[0].file_size)


def _check_and_read(file: IO[bytes], path: Path, size: int) -> NDArray[Any]:
    """Check the header, then read: no pickled objects, and no more numbers than the file has bytes for."""
    version = npy_format.read_magic(file)
    read_header = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of headers that Python 2 wrote
        shape, fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise InvalidInput(
            f"{str(path)!r} holds pickled objects, which can run any program when loaded: save plain numbers instead"
        )
    count = 1
    for length in shape:
        if length < 0:
            raise InvalidInput(f"{str(path)!r} names the shape {shape}: it is damaged")
        count *= length
    if dtype.itemsize == 0 or count * dtype.itemsize > size:
        raise InvalidInput(
            f"{str(path)!r} promises {count} numbers and has {size} bytes: it is damaged or cut short, save it again"
        )
    check_values(count, path)
    data = file.read(count * dtype.itemsize)
    array = np.frombuffer(data, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).transpose() if fortran else array.reshape(shape)


def _first_line(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines()
    return lines[0][:200] if lines else type(problem).__name__

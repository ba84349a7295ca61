"""Arrays that are larger than memory, in files: `.npy`, or Zarr; the ending of the path says which."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import DTypeLike

from nimt.errors import InvalidInput, MissingExtra, MissingFile, NimtError

KINDS = ("npy", "zarr")


def open_array(path: Path, mode: Any = "r") -> Any:
    """Return the array in a file or a Zarr folder, without reading it; "r+" to write into it."""
    if not path.exists():
        raise MissingFile(f"there is no file {str(path)!r}")
    with naming_the_array(path):
        if path.suffix == ".zarr":
            return load_zarr().open_array(path, mode=mode)
        return np.load(path, mmap_mode=mode, allow_pickle=False)


@contextlib.contextmanager
def naming_the_array(path: Path) -> Iterator[None]:
    """Turn what NumPy or Zarr says of a file that cannot be read into a sentence."""
    try:
        yield
    except NimtError:
        raise
    except (ValueError, EOFError, TypeError, KeyError, OSError, RuntimeError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidInput(f"{str(path)!r} is not read as an array of numbers (.npy, .zarr): {reason}") from None


def make_array(path: Path, shape: tuple[int, ...], chunk: tuple[int, ...], dtype: DTypeLike) -> None:
    """Make a file with an array of zeros, to be filled part by part; one that is there is lost."""
    remove_array(path)
    if path.suffix == ".zarr":
        load_zarr().create_array(path, shape=shape, chunks=chunk, dtype=dtype)
        return
    open_memmap(path, mode="w+", dtype=dtype, shape=shape).flush()
    if hasattr(os, "posix_fallocate"):  # a write into a memory map that finds no room would end the process
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)


def remove_array(path: Path) -> None:
    """Remove the array at a path, if there is one."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_kind(kind: str) -> None:
    """Refuse a kind of file that cannot be written here, before any work."""
    if kind == "zarr":
        load_zarr()


def load_zarr() -> Any:
    """Return the package zarr, which is an extra."""
    try:
        import zarr
    except ImportError:
        raise MissingExtra("arrays in .zarr need the package zarr: pip install 'nimt[zarr]'") from None
    return zarr

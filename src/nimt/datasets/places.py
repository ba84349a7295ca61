"""Where data files are looked for, and the checks that every file passes before it is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from nimt.errors import InvalidInput

# The layout of torchvision, or one folder per dataset.
_SUBFOLDERS = ("", "mnist", "emnist", "MNIST/raw", "EMNIST/raw")


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder that data is read from: the one given, else $NIMT_DATA, else None.

    Nothing is looked for anywhere else, so a lesson uses the same data whatever lies in a home folder.

    Examples
    --------
    >>> from nimt.datasets import data_folder
    >>> data_folder(".").is_dir()
    True
    """
    if folder is None:
        folder = os.environ.get("NIMT_DATA")
        if not folder:
            return None
    path = as_path(folder, expand=True)
    if not is_there(path):
        raise InvalidInput(f"there is no data folder {str(path)!r}: create it or name another")
    if not path.is_dir():
        raise InvalidInput(f"the data folder {str(path)!r} is not a folder: name the folder the files are in")
    return path


def no_such_data(what: str, folder: Path | None) -> InvalidInput:
    """Return the error that says where data was looked for, and how to name another folder."""
    place = "no data folder is named" if folder is None else f"it is not in {str(folder)!r}"
    return InvalidInput(f"{what} was not found ({place}): set NIMT_DATA to the folder it is in, or pass that folder")


def find(names: Iterable[str], folder: Path | None) -> Path | None:
    """Return the first file of one of these names in the folder or its usual subfolders, or None."""
    if folder is None:
        return None
    for name in names:
        for subfolder in _SUBFOLDERS:
            path = folder / subfolder / name
            if is_there(path):
                return path
    return None


def as_path(path: str | os.PathLike[str], *, expand: bool = False) -> Path:
    """Return a Path, with a leading ~ replaced if `expand`; refuse what is not a valid path."""
    try:
        path = Path(os.fsdecode(path))
        path = path.expanduser() if expand else path
    except (TypeError, ValueError):
        raise InvalidInput(f"a path is text or a pathlib.Path, got {path!r}") from None
    except RuntimeError:
        raise InvalidInput(f"no home folder is known for the path {str(path)!r}: write it without ~") from None
    if "\0" in str(path):
        raise InvalidInput(f"the path {str(path)!r} holds a null character: remove it")
    if not _is_utf8(str(path)):  # it could be read, and written to no settings, page or terminal
        raise InvalidInput(f"the path {str(path)!r} is not UTF-8: rename it")
    return path


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_there(path: Path) -> bool:
    """Say whether something is at the path; a path that cannot be checked counts as missing."""
    try:
        return path.exists()
    except OSError:
        return False


def readable_file(path: str | os.PathLike[str], largest: int) -> Path:
    """Return the path of a file that can be read: it exists, is regular, readable, not empty and not too large."""
    path = as_path(path)
    shown = str(path)
    if not is_there(path):
        raise InvalidInput(f"there is no file {shown!r} within reach: check the path")
    if path.is_dir():
        raise InvalidInput(f"{shown!r} is a folder: name a file in it")
    if not path.is_file():
        raise InvalidInput(f"{shown!r} is a device or a pipe, not a regular file: copy its content to a file first")
    if not os.access(path, os.R_OK):
        raise InvalidInput(f"the file {shown!r} may not be read: change its permissions")
    size = path.stat().st_size
    if size == 0:
        raise InvalidInput(f"the file {shown!r} is empty (0 bytes): copy it again")
    if size > largest:
        raise InvalidInput(
            f"the file {shown!r} has {size} bytes, more than the {largest} allowed here: shrink it first"
        )
    return path


def read_shipped(name: str) -> bytes:
    """Return the content of a file that ships with the package."""
    return (files("nimt.datasets") / "files" / name).read_bytes()

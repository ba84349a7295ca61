"""Files that are written completely or not at all, and that replace only files of their kind."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from nimt.errors import InvalidInput

# How the npz files of lessons and checkpoints begin: a zip member of one of these names.
ARCHIVE = b"PK\x03\x04"
OUR_MEMBERS = (b"array_0.npy", b"header.npy")


@contextlib.contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give a temporary path beside `path`, and move the file to `path` only if no error occurred.

    After a crash, a full disk or a kill, the previous file is unchanged. A link is followed and stays a link. A path
    that is not a regular file is refused. A lesson or a checkpoint replaces only a file that nimt wrote.

    Parameters
    ----------
    path : Path
        The temporary path has the same suffix, for writers that look at it.
    durable : bool
        Whether to wait until it is on the disk; if not, a machine that loses its power may lose it.
    """
    place = place_of(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{place.stem}.", suffix=f".part{place.suffix}", dir=place.parent)
    except OSError as error:  # name the file that was asked for, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if durable:
            with open(temporary, "r+b") as file:
                os.fsync(file.fileno())
        if is_archive_of_ours(temporary):
            refuse_what_is_not_ours(place)
        os.chmod(temporary, _permissions(place))
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8, completely or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def place_of(path: Path) -> Path:
    """Return the path that is written, the target of a link; refuse an existing path that is not a regular file."""
    try:
        place = Path(os.path.realpath(path)) if path.is_symlink() else path
        mode = place.stat().st_mode
    except FileNotFoundError:
        return place
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be examined ({error.strerror}): give another name") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise InvalidInput(f"{str(path)!r} is {kind}, and only a regular file can be replaced: give another name")
    return place


def refuse_links(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder in which one of these names is a link: what it leads to was not named by the caller."""
    for name in names:
        path = folder / name
        if path.is_symlink():
            raise InvalidInput(
                f"{str(path)!r} is a link to {os.readlink(path)!r}, which would be written over: remove the link first"
            )


def refuse_what_is_not_ours(path: Path) -> None:
    """Refuse to write a lesson or a checkpoint over a file that is neither."""
    place = place_of(path)
    if place.exists() and place.stat().st_size > 0 and not is_archive_of_ours(place):
        raise InvalidInput(f"{str(path)!r} is a file that nimt did not write: give another name, or remove it first")


def is_archive_of_ours(path: Path) -> bool:
    """Say whether a file begins as lessons and checkpoints do; the rest of it may still be damaged."""
    with open(path, "rb") as file:
        beginning = file.read(64)
    if not beginning.startswith(ARCHIVE) or len(beginning) < 30:
        return False
    (length,) = struct.unpack("<H", beginning[26:28])
    return beginning[30 : 30 + length] in OUR_MEMBERS


def _permissions(place: Path) -> int:
    """Return the permissions of the file that is replaced, or those of a new one."""
    try:
        return place.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask

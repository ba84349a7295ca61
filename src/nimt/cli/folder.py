"""The folder of a run: one run at a time, and nothing in it that another run left half-done."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from nimt.errors import InvalidInput

CHECKPOINTS = ("checkpoint.npz", "checkpoint.npz.previous")
RESULTS = ("lesson.npz", "comparison.json", *CHECKPOINTS)
WRITTEN_BY_NIMT = b"# nimt "  # how a run.toml begins
UNFINISHED = re.compile(r"^\..*\.part(\.\w+)?$|^checkpoint\.npz\.next$")


class RunFolder:
    """Where a run writes.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stays = False

    @classmethod
    def chosen(cls, out: str | None, name: str) -> RunFolder:
        """Return the folder that --out names, or one of its own where --out was left out."""
        if out is None:
            return cls.of_their_own(name)
        if not out.strip():
            raise InvalidInput(f"--out is {out!r}: name a folder, or leave --out out for a new one")
        return cls(Path(out))

    @classmethod
    def of_their_own(cls, name: str) -> RunFolder:
        """Return a folder here that is not there yet: nimt-cat, nimt-cat-2, ..."""
        stem = "nimt-" + (re.sub(r"[^\w.]+", "-", name).strip("-.") or "lesson")
        number = 1
        while (path := Path(stem if number == 1 else f"{stem}-{number}")).exists():
            number += 1
        return cls(path)

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.npz"

    @property
    def config(self) -> Path:
        return self.path / "run.toml"

    @property
    def lesson(self) -> Path:
        return self.path / "lesson.npz"

    def has_checkpoint(self) -> bool:
        """Say whether there is one to go on from, be it the one before the last."""
        return bool(self._checkpoints())

    def went_on(self) -> bool:
        """Say whether the checkpoint is ahead of the lesson, as after a stop; a finished run writes its lesson last."""
        written = [path.stat().st_mtime_ns for path in (*self._checkpoints(), self.lesson) if path.exists()]
        return self.has_checkpoint() and (not self.lesson.exists() or written[-1] < max(written))

    def checkpoint_bytes(self) -> int:
        """Return what the checkpoints take on disk."""
        return sum(path.stat().st_size for path in self._checkpoints())

    def drop_checkpoints(self) -> None:
        """Remove the checkpoints, the older one first, so that the newest is never the one missing."""
        for path in reversed(self._checkpoints()):
            path.unlink(missing_ok=True)

    def _checkpoints(self) -> list[Path]:
        return [path for name in CHECKPOINTS if (path := self.path / name).exists()]

    def holds_run_of(self, settings: str) -> bool:
        """Say whether the run in the folder has these settings, written as in run.toml."""
        try:
            return self.config.read_text(encoding="utf-8") == settings
        except (OSError, UnicodeDecodeError):
            return False

    def keep(self) -> None:
        """Let the folder stay whatever happens from now on: the run has begun, and run.toml says how to go on."""
        self._stays = True

    @contextlib.contextmanager
    def claimed_anew(self, *, overwrite: bool) -> Iterator[None]:
        """Make the folder ours for a new run; if the run never begins, leave everything as it was found."""
        made = self._make()
        try:
            with self._locked():
                taken = [name for name in RESULTS if (self.path / name).exists()]
                if not overwrite:
                    self._refuse_if_used(taken)
                for name in taken:
                    (self.path / name).unlink()
                self._sweep()
                yield
        except BaseException:
            if made and not self._stays:
                self._remove_if_unused()
            raise

    @contextlib.contextmanager
    def claimed_again(self) -> Iterator[None]:
        """Make the folder ours to go on with its run."""
        if not self.path.is_dir():
            raise InvalidInput(f"there is no folder {str(self.path)!r}: name the one that 'nimt teach' wrote to")
        with self._locked():
            if not self.config.exists() and not self.has_checkpoint():
                raise InvalidInput(
                    f"{str(self.path)!r} holds no run of nimt: name the folder that 'nimt teach' wrote to"
                )
            self._sweep()
            yield

    def _refuse_if_used(self, taken: list[str]) -> None:
        """Refuse a folder with a run in it, or with anything that no run wrote and a run might write over."""
        where = str(self.path)
        if "comparison.json" in taken:
            raise InvalidInput(f"{where!r} holds a comparison already: give another --out, or --overwrite")
        if taken and self._is_ours():
            raise InvalidInput(
                f"{where!r} holds a run already ({taken[0]}): go on with 'nimt resume {shlex.quote(where)}', give "
                f"another --out, or --overwrite"
            )
        found = sorted(path.name for path in self.path.iterdir() if not path.name.startswith("."))
        if found and not self._is_ours():
            raise InvalidInput(
                f"{where!r} holds {found[0]!r}, which no run of nimt wrote: give --out an empty or a new folder, or "
                f"--overwrite"
            )

    def _is_ours(self) -> bool:
        """Say whether a run wrote run.toml, rather than somebody who keeps settings there."""
        with contextlib.suppress(OSError), open(self.config, "rb") as file:
            return file.read(len(WRITTEN_BY_NIMT)) == WRITTEN_BY_NIMT
        return False

    def _make(self) -> bool:
        """Create the folder; say whether that was needed."""
        if self.path.is_dir():
            return False
        if self.path.exists():
            raise InvalidInput(f"{str(self.path)!r} is a file: give --out a folder")
        try:
            self.path.mkdir(parents=True)
        except OSError as error:
            raise InvalidInput(f"the folder {str(self.path)!r} cannot be made: {error.strerror}") from None
        return True

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock on the folder itself: the kernel lets go of it whenever and however the process ends."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InvalidInput(
                    f"another run is writing to {str(self.path)!r}: wait for it, or give another --out"
                ) from None
            if not os.access(self.path, os.W_OK | os.X_OK):
                raise InvalidInput(f"the folder {str(self.path)!r} may not be written to: give another --out")
            yield
        finally:
            os.close(handle)

    def _remove_if_unused(self) -> None:
        """Remove the folder where nothing but the settings came into it."""
        with contextlib.suppress(OSError):
            self._sweep()
            if {path.name for path in self.path.iterdir()} <= {self.config.name}:
                self.config.unlink(missing_ok=True)
                self.path.rmdir()

    def _sweep(self) -> None:
        """Remove what a killed run was in the middle of writing."""
        for path in self.path.iterdir():
            if UNFINISHED.match(path.name):
                path.unlink(missing_ok=True)


def repeated(folder: Path) -> str:
    """Say how the comparison in a folder is given again."""
    where, config = shlex.quote(str(folder)), shlex.quote(str(folder / "run.toml"))
    return f"given again as a whole: nimt compare --config {config} --out {where} --overwrite"

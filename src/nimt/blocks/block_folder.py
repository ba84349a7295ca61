"""The folder of a lesson by blocks: what it is, how far it is, and the arrays that it leaves."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from nimt.blocks.block_store import PLAIN, FolderStore, naming_full_disk
from nimt.errors import InvalidInput
from nimt.store import records
from nimt.store.claims import ClaimedFolder
from nimt.wording import Wording

TASK, TURNS = "lesson by blocks", "turns of a lesson by blocks"
RESULTS = {"values": np.float64, "coefficients": np.float64, "picks": np.int32}


class BlockFolder(ClaimedFolder):
    """Where a lesson by blocks is kept.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.store = FolderStore(path)

    @property
    def task_file(self) -> Path:
        return self.path / "task.npz"

    @property
    def turns_file(self) -> Path:
        return self.path / "turns.npz"

    def result(self, name: str) -> Path:
        """Return the file of an array of results."""
        return self.path / f"{name}.npy"

    def make(self, task: dict[str, Any]) -> None:
        """Begin a lesson here; refuse a folder that holds one."""
        if self.task_file.exists():
            where = str(self.path)
            ways = Wording(
                f"go on with nimt.resume_blocks({where!r}), or name another folder",
                f"go on with 'nimt resume {shlex.quote(where)}', give another --out, or --overwrite",
            )
            raise InvalidInput(f"{where!r} holds a lesson by blocks already", way_out=ways)
        with naming_full_disk(self.path):
            self.store.prepare()
            records.write(self.task_file, TASK, task)

    def clear(self) -> None:
        """Remove the lesson that is here, if one is."""
        if self.task_file.exists():
            for name in ("patches", "blocks"):
                shutil.rmtree(self.path / name, ignore_errors=True)
            for file in (self.turns_file, *map(self.result, RESULTS), self.task_file):
                file.unlink(missing_ok=True)

    def read_task(self) -> dict[str, Any]:
        """Return what the lesson is."""
        if not self.task_file.is_file():
            raise InvalidInput(f"{str(self.path)!r} holds no lesson by blocks: name the folder of one")
        return records.read(self.task_file, TASK)

    def write_turns(self, state: dict[str, Any]) -> None:
        """Write how far the lesson is."""
        with naming_full_disk(self.path):
            records.write(self.turns_file, TURNS, state, worth=PLAIN)

    def read_turns(self) -> dict[str, Any] | None:
        """Return how far the lesson is, None before its first turn."""
        return records.read(self.turns_file, TURNS) if self.turns_file.is_file() else None

    def make_results(self, shape: tuple[int, ...]) -> None:
        """Make the arrays of the results, which blocks then fill."""
        with naming_full_disk(self.path):
            for name, kind in RESULTS.items():
                open_memmap(self.result(name), mode="w+", dtype=kind, shape=shape).flush()
                reserve(self.result(name))

    def open_result(self, name: str, mode: Any = "r") -> Any:
        """Return an array of results, in the file."""
        return np.load(self.result(name), mmap_mode=mode, allow_pickle=False)


def reserve(path: Path) -> None:
    """Take the room of a file on the disk: a write into its memory map that finds none would end the process."""
    if hasattr(os, "posix_fallocate"):  # not on every system
        with open(path, "r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)

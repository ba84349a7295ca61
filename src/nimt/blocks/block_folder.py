"""The folder of a lesson by blocks: what it is, how far it is, and the arrays that it leaves."""

from __future__ import annotations

import itertools
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from nimt.blocks.block_store import PLAIN, FolderStore, naming_full_disk
from nimt.blocks.stored_arrays import KINDS, make_array, open_array, remove_array
from nimt.blocks.targets import Partition
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

    def result(self, name: str, kind: str | None = None) -> Path:
        """Return the file of an array of results: of a kind, or that which is there."""
        found = [self.path / f"{name}.{ending}" for ending in KINDS if kind in (None, ending)]
        return next((path for path in found if path.exists()), found[0])

    @property
    def results(self) -> list[Path]:
        """The files of the arrays of results."""
        return [self.result(name) for name in RESULTS]

    def make(self, task: dict[str, Any]) -> None:
        """Begin a lesson here; refuse a folder that holds one."""
        if self.task_file.exists():
            where = str(self.path)
            ways = Wording(
                f"go on with nimt.blocks.resume_blocks({where!r}), or name another folder",
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
            self._remove_results()
            for file in (self.turns_file, self.task_file):
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

    def _remove_results(self) -> None:
        for name, kind in itertools.product(RESULTS, KINDS):
            remove_array(self.result(name, kind))

    def make_results(self, kind: str, shape: tuple[int, ...], chunk: tuple[int, ...]) -> None:
        """Make the arrays of the results, "npy" or "zarr", which blocks then fill."""
        with naming_full_disk(self.path):
            self._remove_results()
            for name, dtype in RESULTS.items():
                make_array(self.result(name, kind), shape, chunk, dtype)

    def write_results(self, cut: Partition, block: int, results: dict[str, Any]) -> None:
        """Write the results of a block into the arrays of the whole lesson."""
        with naming_full_disk(self.path):
            for name, values in results.items():
                array = self.open_result(name, "r+")
                cut.write_own(block, values, array)
                if isinstance(array, np.memmap):
                    array.flush()

    def open_result(self, name: str, mode: Any = "r") -> Any:
        """Return an array of results, in the file."""
        return open_array(self.result(name), mode)

"""Where blocks leave what they send to each other and their checkpoints: in memory, or in a folder."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np

from nimt.arrays import Array
from nimt.errors import CorruptLesson, InvalidInput
from nimt.store import records
from nimt.store.whole_files import write_text

PATCHES, STATE = "patches of a block", "state of a block"
PLAIN = np.inf  # how much smaller an array must become to be compressed: never, which is faster


class MemoryStore:
    """In the memory of one process; there are no checkpoints."""

    def __init__(self) -> None:
        self._sent: dict[tuple[int, int], dict[int, Array]] = {}

    def send(self, block: int, turn: int, patches: dict[int, Array]) -> None:
        self._sent[block, turn] = patches

    def receive(self, block: int, turn: int, other: int) -> Array:
        return self._sent[block, turn][other]

    def forget(self, block: int, turn: int) -> None:
        self._sent.pop((block, turn), None)


class FolderStore:
    """In a folder that every worker reaches; each file is sealed and written whole.

    What was sent last from this process is not read again.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._latest: dict[int, tuple[int, dict[int, Array]]] = {}  # by block: the turn, and what was sent

    def prepare(self) -> None:
        """Make the folders."""
        for name in ("patches", "blocks"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def _patch(self, block: int, turn: int) -> Path:
        return self.folder / "patches" / f"block-{block}-turn-{turn}.npz"

    def _state(self, block: int) -> Path:
        return self.folder / "blocks" / f"block-{block}.npz"

    def send(self, block: int, turn: int, patches: dict[int, Array]) -> None:
        with naming_full_disk(self.folder):
            sizes = {str(other): len(values) for other, values in patches.items()}
            content = {"sizes": sizes, "values": np.concatenate(list(patches.values()))}  # one array is written faster
            records.write(self._patch(block, turn), PATCHES, content, worth=PLAIN, durable=False)
        self._latest[block] = turn, patches

    def receive(self, block: int, turn: int, other: int) -> Array:
        sent, patches = self._latest.get(block, (-1, {}))
        if sent == turn:
            return patches[other]
        content = records.read(self._patch(block, turn), PATCHES)
        begin = 0
        for name, size in content["sizes"].items():
            if name == str(other):
                return np.asarray(content["values"][begin : begin + size])
            begin += size
        raise CorruptLesson(f"block {block} sent nothing to block {other} at turn {turn}")

    def forget(self, block: int, turn: int) -> None:
        self._patch(block, turn).unlink(missing_ok=True)

    def check_target(self, block: int, fingerprint: str) -> None:
        """Keep the fingerprint of the target that a block holds, and refuse another one later."""
        path = self.folder / "blocks" / f"block-{block}.sha256"
        if not path.exists():
            with naming_full_disk(self.folder):
                write_text(path, fingerprint)
        elif path.read_text(encoding="utf-8") != fingerprint:
            raise InvalidInput(
                f"the target changed since the lesson began, at the points of block {block}: restore it, or begin "
                f"again in a new folder"
            )

    def save(self, block: int, state: dict[str, Any]) -> None:
        """Write the checkpoint of a block."""
        with naming_full_disk(self.folder):
            records.write(self._state(block), STATE, state, worth=PLAIN)

    def has(self, block: int) -> bool:
        """Say whether there is a checkpoint of a block."""
        return self._state(block).exists()

    def load(self, block: int) -> dict[str, Any]:
        """Read the checkpoint of a block."""
        return records.read(self._state(block), STATE)


@contextlib.contextmanager
def naming_full_disk(folder: Path) -> Any:
    """Turn what the system says of a full disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(
            f"the folder {str(folder)!r} cannot be written to ({error.strerror}): make room there, and go on with "
            f"nimt resume; nothing that was taught is lost"
        ) from None

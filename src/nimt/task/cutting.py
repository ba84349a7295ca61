"""`Blocks`: how a lesson is cut into blocks, and who teaches them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

from nimt.arrays import check_count, is_number, is_whole
from nimt.errors import InvalidInput


@dataclass(frozen=True)
class Blocks:
    """Cut a lesson into blocks that are taught at the same time: `nimt.teach(..., engine=nimt.Blocks((8, 8)))`.

    Every turn each block shows its own largest errors until they are below `share` of the largest error of all. Blocks
    that are taught together are so far apart that they do not touch. So the lesson depends on the blocks, never on who
    teaches them; with one block it is `GreedyTeacher()` without blocks.

    Parameters
    ----------
    blocks : int, or a tuple with one number for each axis of a grid
        How many. Each must be twice as wide as the kernel reaches.
    workers : int, optional
        Threads; by default one for each core.
    client : distributed.Client, optional
        Teach on its cluster instead; it needs a `folder` that every worker reaches.
    folder : path, optional
        Where blocks are kept, so that the lesson survives workers that are lost, and `nimt.blocks.resume_blocks` goes
        on.
    memory : int, optional
        Bytes that blocks may take in each worker; those that are not taught are then put away in the folder.
    results : {"npy", "zarr"}, optional
        The files in the folder in which blocks write f, what was added and what was shown; by default that of the
        target. Machines that share a folder over a network write to Zarr safely: never two at a time to one chunk.
    share : float
        Of the largest error, between 0 and 1: nearer to 1 is nearer to the lesson without blocks, in more turns.

    Examples
    --------
    >>> Blocks((8, 8)).share
    0.5
    """

    blocks: int | tuple[int, ...]
    workers: int | None = None
    client: Any = None
    folder: str | PathLike[str] | None = None
    memory: int | None = None
    results: str | None = None
    share: float = 0.5

    def __post_init__(self) -> None:
        many = self.blocks if isinstance(self.blocks, tuple | list) else (self.blocks,)
        if not many or not all(is_whole(count) and int(count) >= 1 for count in many):
            problem = f"must be a number of at least 1, or one for each axis, got {self.blocks!r}"
            raise InvalidInput(problem, parameter="blocks")
        counts = tuple(int(count) for count in many)
        object.__setattr__(self, "blocks", counts if isinstance(self.blocks, tuple | list) else counts[0])
        for name in ("workers", "memory"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), at_least=1, at_most=None)
        if not is_number(self.share) or not 0.0 < float(self.share) < 1.0:
            raise InvalidInput(f"must be between 0 and 1, got {self.share!r}", parameter="share")
        if self.results not in (None, "npy", "zarr"):
            raise InvalidInput(f"must be 'npy' or 'zarr', got {self.results!r}", parameter="results")
        if self.results is not None and self.folder is None:
            raise InvalidInput("results= says what is written in a folder: give Blocks(folder=...)")
        if self.client is not None and self.folder is None:
            raise InvalidInput("blocks on a cluster need a folder that every worker reaches: give Blocks(folder=...)")
        if self.memory is not None and self.folder is None:
            raise InvalidInput("memory= puts blocks away in a folder: give Blocks(folder=...)")

"""A lesson by blocks from its beginning, or from its folder, to its results."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from nimt.blocks.block_folder import RESULTS, BlockFolder
from nimt.blocks.block_lesson import BlockLesson, BlockRecord
from nimt.blocks.block_store import FolderStore, MemoryStore
from nimt.blocks.block_task import BlockTask
from nimt.blocks.driving import BlockProgress, Driver
from nimt.blocks.holding import Holder
from nimt.blocks.local_workers import BlockWorkers, Call, LocalWorkers, Question
from nimt.blocks.stored_arrays import check_kind
from nimt.counting import readable
from nimt.errors import NotEnoughMemory
from nimt.session.interrupts import defer_interrupt
from nimt.task.cutting import Blocks
from nimt.task.options import Stop
from nimt.task.task import available_memory
from nimt.wording import Wording

SAVE_EVERY = 8  # turns

Callback = Callable[[BlockProgress], object]


class BlockRun:
    """A lesson by blocks under way.

    Parameters
    ----------
    task : BlockTask
    stop : Stop
    blocks : Blocks
    folder : BlockFolder or None
    """

    def __init__(self, task: BlockTask, stop: Stop, blocks: Blocks, folder: BlockFolder | None) -> None:
        self.task, self.stop, self.blocks, self.folder = task, stop, blocks, folder
        self.store: MemoryStore | FolderStore = MemoryStore() if folder is None else folder.store
        self.kind: str = blocks.results or task.target.kind
        if folder is not None:
            check_kind(self.kind)
        self._forgotten: list[int] = [1] * len(task.partition)  # of each block: the first turn that is kept

    @contextlib.contextmanager
    def _hire(self) -> Iterator[BlockWorkers]:
        made: BlockWorkers
        if self.blocks.client is not None:
            from nimt.blocks.dask_workers import DaskWorkers

            assert self.folder is not None
            made = DaskWorkers(self.blocks.client, self.task, self.folder.path, self.blocks.memory)
        else:
            holder = Holder(self.task, self.store, self.blocks.memory)
            made = LocalWorkers(holder, count_threads(self.task, self.blocks))
        try:
            yield made
        finally:
            made.close()

    def run(
        self,
        *,
        watch: Callback | None = None,
        seconds: float | None = None,
        on_interrupt: str = "return",
    ) -> BlockLesson:
        """Teach to the end, and return the lesson."""
        with defer_interrupt() as interrupted, self._hire() as workers:
            every = None if self.folder is None else SAVE_EVERY
            driver = Driver(self.task, workers, self.stop, self.blocks.share, every)
            stored = None if self.folder is None else self.folder.read_turns()
            if stored is None:
                driver.begin(list(workers.advance([Call(block, []) for block in range(len(self.task.partition))])))
            else:
                driver.restore(stored)
            driver.run(lambda: self._after_round(driver), seconds, interrupted.is_set, watch)
            if self.folder is not None:
                driver.save_all()
                self.folder.write_turns(driver.state())
            lesson = self._lesson(driver, workers)
        if on_interrupt == "raise" and interrupted.is_set():
            raise KeyboardInterrupt(f"the lesson was interrupted after {len(lesson)} examples")
        return lesson

    def _after_round(self, driver: Driver) -> None:
        if self.folder is not None:
            self.folder.write_turns(driver.state())
        if driver.colour == 0:
            for block in range(len(driver.tops)):
                for turn in range(self._forgotten[block], driver.find_oldest_needed(block)):
                    self.store.forget(block, turn)
                    self._forgotten[block] = turn + 1

    def _lesson(self, driver: Driver, workers: BlockWorkers) -> BlockLesson:
        cut, task, folder = self.task.partition, self.task, self.folder
        count = len(cut)
        assert driver.outcome is not None
        if folder is not None:
            folder.make_results(self.kind, task.whole.shape, cut.chunk)
            for together in cut.written_together:
                asked = [Question(block, driver.orders[block], "write", driver.inbox(block)) for block in together]
                list(workers.ask(asked))
            final, coefficients, picks = map(folder.open_result, RESULTS)
            read: Callable[[int], BlockRecord] | None = lambda block: _load_record(task, folder, block)  # noqa: E731
        else:
            arrays = {name: np.empty(task.whole.shape, dtype) for name, dtype in RESULTS.items()}
            asked = [Question(block, [], "results", driver.inbox(block)) for block in range(count)]
            for block, results in enumerate(workers.ask(asked)):
                for name, values in results.items():
                    cut.write_own(block, values, arrays[name])
            final, coefficients, picks = arrays.values()
            kept = list(workers.ask([Question(block, [], "record") for block in range(count)])) if task.records else []
            read = lambda block: BlockRecord(*kept[block])  # noqa: E731
        return BlockLesson(
            driver.outcome, np.array(driver.curve, dtype=np.float64), final, coefficients, picks, driver.elapsed, task,
            driver.stop, None if folder is None else folder.path, read if task.records else None,
        )  # fmt: skip


def _load_record(task: BlockTask, folder: BlockFolder, block: int) -> BlockRecord:
    state = folder.store.load(block)
    indices, coefficients, discrepancy = state["record"]
    lengths, before = state["lengths"].tolist(), state["before"].tolist()
    return BlockRecord(task.partition.number(block, indices), coefficients, discrepancy, lengths, before)


def count_threads(task: BlockTask, blocks: Blocks) -> int:
    """Return how many threads teach blocks in this process: no more than have room for a block each."""
    most = blocks.workers or os.cpu_count() or 1
    return most if blocks.memory is None else max(1, min(most, blocks.memory // task.largest_block))


def check_room(task: BlockTask, blocks: Blocks) -> None:
    """Refuse blocks that do not fit into the memory of a worker, before anything is read."""
    one = task.largest_block
    if blocks.memory is not None and one > blocks.memory:
        raise NotEnoughMemory(
            f"one block takes about {readable(one)}, and a worker may use {readable(blocks.memory)}",
            way_out=Wording(
                "cut the lesson into more blocks, or raise memory=", "give more --blocks, or raise --memory"
            ),
        )
    free = available_memory() if blocks.client is None and blocks.memory is None else None
    everything = task.bytes_of(range(len(task.partition)))
    if free is not None and everything > free:
        raise NotEnoughMemory(
            f"the blocks take about {readable(everything)}, and {readable(free)} are free",
            way_out=Wording(
                "give Blocks(folder=..., memory=...), which keeps those that are not taught on disk",
                "give --memory, so that blocks which are not taught wait on disk",
            ),
        )


def as_folder(path: str | os.PathLike[str]) -> BlockFolder:
    """Return the folder of a lesson by blocks, made if it is not there."""
    place = Path(path)
    place.mkdir(parents=True, exist_ok=True)
    return BlockFolder(place)

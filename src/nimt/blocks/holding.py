"""The blocks that one process holds: made, brought up to date, put away on disk when memory is short."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from nimt.blocks.block import Block
from nimt.blocks.block_folder import BlockFolder
from nimt.blocks.block_store import FolderStore, MemoryStore
from nimt.blocks.block_task import BlockTask
from nimt.blocks.orders import Orders, Report
from nimt.blocks.row_block import make_block
from nimt.errors import CorruptLesson

Result = TypeVar("Result")


class Holder:
    """The blocks of a lesson in this process.

    Parameters
    ----------
    lesson : BlockTask
    store : MemoryStore or FolderStore
    memory : int or None
        Bytes that blocks may take here; others are put away. None for all there is.
    """

    def __init__(self, lesson: BlockTask, store: MemoryStore | FolderStore, memory: int | None = None) -> None:
        self.lesson = lesson
        self.store = store
        self.memory = memory
        self._blocks: OrderedDict[int, Block] = OrderedDict()
        self._opening: set[int] = set()  # that are not among them yet
        self._saved: dict[int, int] = {}  # the turn of the checkpoint of each, where one is known
        self._locks: defaultdict[int, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()  # of the three above

    def advance(self, number: int, orders: Sequence[Orders], *, save: bool = False) -> Report:
        """Bring a block to the turn of the latest of these orders, which follow its checkpoint; return its report.

        A block that is not here, or behind, is read from its checkpoint or made, and takes the turns that it missed:
        they show the same examples as they did elsewhere.
        """

        def work(block: Block) -> Report:
            for each in orders:
                if each.turn <= block.turn:
                    continue
                patches = {other: self.store.receive(other, turn, number) for other, turn in each.inbox}
                _, sent = block.take_turn(each, patches)
                if sent:
                    self.store.send(number, each.turn, sent)
            if save:
                self._save(block)
            return block.latest._replace(saved=self._saved.get(number, -1))

        return self._with_block(number, work, orders[0].turn - 1 if orders else 0)

    def ask(self, number: int, orders: Sequence[Orders], what: str, inbox: Sequence[tuple[int, int]] = ()) -> Any:
        """Return something of a block after these orders: its `measure`, `record` or `results`; or `write` these.

        `inbox` are the neighbours that changed something since then.
        """
        self.advance(number, orders)

        def work(block: Block) -> Any:
            block.absorb({other: self.store.receive(other, turn, number) for other, turn in inbox})
            if what == "measure":
                return block.measure()
            if what == "record":
                return (*block.join_record(), list(block.lengths), list(block.before))
            results = block.results()
            if what == "write" and isinstance(self.store, FolderStore):
                return BlockFolder(self.store.folder).write_results(self.lesson.partition, number, results)
            return results

        return self._with_block(number, work, 0)

    def _with_block(self, number: int, work: Callable[[Block], Result], least: int) -> Result:
        with self._lock:
            lock = self._locks[number]
        with lock:
            block = self._blocks.get(number)
            if block is None or block.turn < least:
                self._make_room_for(number)
                block = self._open(number)
                if block.turn < least:
                    raise CorruptLesson(
                        f"the checkpoint of block {number} is missing, or older than turn {least}: restore it, or "
                        f"begin again in a new folder"
                    )
            result = work(block)
            with self._lock:
                self._blocks[number] = block
                self._blocks.move_to_end(number)
                self._opening.discard(number)
        return result

    def _open(self, number: int) -> Block:
        block = make_block(self.lesson, number)
        if isinstance(self.store, FolderStore):
            self.store.check_target(number, block.fingerprint)
            if self.store.has(number):
                block.restore(self.store.load(number))
                self._saved[number] = block.turn
        return block

    def _save(self, block: Block) -> None:
        if isinstance(self.store, FolderStore) and self._saved.get(block.number) != block.turn:
            self.store.save(block.number, block.state())
            self._saved[block.number] = block.turn

    def _make_room_for(self, number: int) -> None:
        """Put blocks away until one more fits: first what was used last, whose next turn is farthest away."""
        with self._lock:
            self._blocks.pop(number, None)
            self._opening.add(number)
            others = list(reversed(self._blocks))
        if self.memory is None or not isinstance(self.store, FolderStore):
            return
        for other in others:
            with self._lock:
                if self.lesson.bytes_of([*self._blocks, *self._opening]) <= self.memory:
                    return
                lock = self._locks[other]
            if not lock.acquire(blocking=False):  # another thread works on it
                continue
            try:
                if (block := self._blocks.get(other)) is not None:
                    self._save(block)
                    with self._lock:
                        self._blocks.pop(other, None)
            finally:
                lock.release()

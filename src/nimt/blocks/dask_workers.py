"""Workers of a Dask cluster that teach blocks; the folder of the lesson is all that they share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any, TypeVar

from distributed import Client, KilledWorker
from distributed.comm.core import CommClosedError

from nimt.blocks.block_store import FolderStore
from nimt.blocks.block_task import BlockTask
from nimt.blocks.holding import Holder
from nimt.blocks.local_workers import Call, Question
from nimt.blocks.orders import Report
from nimt.errors import LessonInterrupted
from nimt.runs.dask_cluster import Shared, with_shared

Result = TypeVar("Result")

TRIES = 20  # how often a call is made again whose worker was lost
LOST = (KilledWorker, CancelledError, CommClosedError, asyncio.CancelledError, OSError)

_held: dict[str, Holder] = {}  # the blocks in this process, by lesson


class DaskWorkers:
    """Workers of a cluster; each block goes to the same one, as long as that lives.

    Another worker that is given a block reads its checkpoint and takes the turns that it missed.

    Parameters
    ----------
    client : distributed.Client
    lesson : BlockTask
    folder : Path
        That every worker reaches.
    memory : int or None
        For each worker, as in `Holder`.
    """

    def __init__(self, client: Client, lesson: BlockTask, folder: Path, memory: int | None) -> None:
        self.client, self.folder, self.memory = client, folder.absolute(), memory
        self.count = len(lesson.partition)
        self.shared = Shared(client, [lesson])
        self.ticket = next(iter(self.shared.tickets.values()))
        self.homes: dict[int, str] = {}

    def advance(self, calls: Sequence[Call]) -> Iterable[Report]:
        return self._ask([(call.block, "advance", (call.block, list(call.orders), call.save)) for call in calls])

    def ask(self, questions: Sequence[Question]) -> Iterable[Any]:
        return self._ask([(question.block, "ask", tuple(question)) for question in questions])

    def _ask(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> Iterator[Any]:
        """Yield the answers in the order of the calls; those whose worker was lost are asked for again."""
        answers: dict[int, Any] = {}
        told = 0
        for _ in range(TRIES):
            open_calls = [number for number in range(told, len(calls)) if number not in answers]
            if not open_calls:
                break
            self._find_homes()
            futures = {number: self._submit(*calls[number]) for number in open_calls}
            for number, future in futures.items():
                try:
                    answers[number] = future.result()
                except LOST as error:
                    if self.client.status != "running":
                        raise self._say_lost(error) from None
                while told in answers:
                    yield answers.pop(told)
                    told += 1
        if told < len(calls):
            raise self._say_lost(KilledWorker)

    def _submit(self, block: int, what: str, call: tuple[Any, ...]) -> Any:
        place = (str(self.folder), self.memory, self.shared.name)
        try:
            return self.client.submit(
                with_shared, work_here, self.ticket, place, what, call, pure=False, workers=[self.homes[block]],
                allow_other_workers=True,
            )  # fmt: skip
        except LOST as error:
            raise self._say_lost(error) from None

    def _find_homes(self) -> None:
        """Give every block a worker: neighbours in number to one; those of a lost worker to the others."""
        if self.client.status != "running":
            raise self._say_lost(CommClosedError)
        try:
            found = sorted(self.client.scheduler_info(n_workers=-1).get("workers", {}))
        except LOST as error:
            raise self._say_lost(error) from None
        for block in range(self.count):
            if found and self.homes.get(block) not in found:
                fresh = block not in self.homes
                self.homes[block] = found[block * len(found) // self.count if fresh else block % len(found)]
            self.homes.setdefault(block, "")

    def _say_lost(self, error: object) -> LessonInterrupted:
        name = getattr(error, "__name__", type(error).__name__)
        return LessonInterrupted(
            f"the cluster was lost ({name}), and nothing that was taught is lost: start it again, and go on with "
            f"nimt.resume_blocks({str(self.folder)!r}) or nimt resume"
        )

    def close(self) -> None:
        with contextlib.suppress(Exception):  # the cluster may be gone
            self.client.run(forget_lesson, self.shared.name, on_error="ignore")
            self.shared.close()


def work_here(lesson: BlockTask, place: tuple[str, int | None, str], what: str, call: tuple[Any, ...]) -> Any:
    """Do on a worker what a call says, with the blocks that are there."""
    folder, memory, name = place
    holder = _held.get(name)
    if holder is None:
        holder = _held.setdefault(name, Holder(lesson, FolderStore(Path(folder)), memory))
    if what == "advance":
        block, orders, save = call
        return holder.advance(block, orders, save=save)
    work: Callable[..., Any] = holder.ask
    return work(*call)


def forget_lesson(name: str) -> None:
    """Drop the blocks of a lesson that is over."""
    _held.pop(name, None)

"""Workers of a Dask cluster that teach blocks; the folder of the lesson is all that they share."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Sequence
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
from nimt.runs.dask_cluster import Shared, call_with_shared

Result = TypeVar("Result")

TRIES = 20  # how often a call is made again whose worker was lost
TOGETHER = 4  # blocks of one worker in one call, at most
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
        self.threads: dict[str, int] = {}  # of each worker

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
            parts = self._share_out([(number, calls[number][0]) for number in open_calls])
            futures = [(part, self._submit([calls[number] for number in part])) for part in parts]
            for part, future in futures:
                try:
                    answers.update(zip(part, future.result(), strict=True))
                except LOST as error:
                    if self.client.status != "running":
                        raise self._say_lost(error) from None
                while told in answers:
                    yield answers.pop(told)
                    told += 1
        if told < len(calls):
            raise self._say_lost(KilledWorker)

    def _share_out(self, calls: list[tuple[int, int]]) -> list[list[int]]:
        """Return numbers of calls that are made together, since a worker is reached as fast for a few as for one."""
        of_home: dict[str, list[int]] = {}
        for number, block in calls:
            of_home.setdefault(self.homes[block], []).append(number)
        parts = []
        for home, own in of_home.items():
            many = min(TOGETHER, -(-len(own) // self.threads.get(home, 1)))  # each of its threads has something to do
            parts += [own[first : first + many] for first in range(0, len(own), many)]
        return sorted(parts)

    def _submit(self, calls: list[tuple[int, str, tuple[Any, ...]]]) -> Any:
        place = (str(self.folder), self.memory, self.shared.name)
        try:
            return self.client.submit(
                call_with_shared, work_here, self.ticket, place, [call[1:] for call in calls], pure=False,
                workers=[self.homes[calls[0][0]]], allow_other_workers=True,
            )  # fmt: skip
        except LOST as error:
            raise self._say_lost(error) from None

    def _find_homes(self) -> None:
        """Give every block a worker: neighbours in number to one; those of a lost worker to the others."""
        if self.client.status != "running":
            raise self._say_lost(CommClosedError)
        try:
            workers = self.client.scheduler_info(n_workers=-1).get("workers", {})
        except LOST as error:
            raise self._say_lost(error) from None
        found = sorted(workers)
        self.threads = {home: max(1, int(told.get("nthreads", 1))) for home, told in workers.items()}
        for block in range(self.count):
            if found and self.homes.get(block) not in found:
                fresh = block not in self.homes
                self.homes[block] = found[block * len(found) // self.count if fresh else block % len(found)]
            self.homes.setdefault(block, "")

    def _say_lost(self, error: object) -> LessonInterrupted:
        name = getattr(error, "__name__", type(error).__name__)
        return LessonInterrupted(
            f"the cluster was lost ({name}), and nothing that was taught is lost: start it again, and go on with "
            f"nimt.blocks.resume_blocks({str(self.folder)!r}) or nimt resume"
        )

    def close(self) -> None:
        with contextlib.suppress(Exception):  # the cluster may be gone
            self.client.run(forget_lesson, self.shared.name, on_error="ignore")
            self.shared.close()


def work_here(
    lesson: BlockTask, place: tuple[str, int | None, str], calls: list[tuple[str, tuple[Any, ...]]]
) -> list[Any]:
    """Do on a worker what some calls say, with the blocks that are there."""
    folder, memory, name = place
    holder = _held.get(name)
    if holder is None:
        holder = _held.setdefault(name, Holder(lesson, FolderStore(Path(folder)), memory))
    return [_answer(holder, what, call) for what, call in calls]


def _answer(holder: Holder, what: str, call: tuple[Any, ...]) -> Any:
    if what == "advance":
        block, orders, save = call
        return holder.advance(block, orders, save=save)
    return holder.ask(*call)


def forget_lesson(name: str) -> None:
    """Drop the blocks of a lesson that is over."""
    _held.pop(name, None)

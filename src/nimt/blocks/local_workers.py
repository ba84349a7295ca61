"""Threads of this process that teach blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

from nimt.blocks.holding import Holder
from nimt.blocks.orders import Orders, Report


class Call(NamedTuple):
    """What a worker is asked to do with a block: to go on as `Holder.advance` does."""

    block: int
    orders: Sequence[Orders]
    save: bool = False


class Question(NamedTuple):
    """What a worker is asked of a block, as `Holder.ask` says."""

    block: int
    orders: Sequence[Orders]
    what: str
    inbox: Sequence[tuple[int, int]] = ()


class BlockWorkers(Protocol):
    """Those who teach the blocks; the answers come one by one in the order of the calls, whoever was first."""

    def advance(self, calls: Sequence[Call]) -> Iterable[Report]: ...

    def ask(self, questions: Sequence[Question]) -> Iterable[Any]: ...

    def close(self) -> None: ...


class LocalWorkers:
    """Threads; compiled code runs in them at the same time.

    Parameters
    ----------
    holder : Holder
    count : int
    """

    def __init__(self, holder: Holder, count: int) -> None:
        self.holder = holder
        self.pool = ThreadPoolExecutor(count, thread_name_prefix="nimt-block")

    def advance(self, calls: Sequence[Call]) -> Iterable[Report]:
        return self.pool.map(lambda call: self.holder.advance(call.block, call.orders, save=call.save), calls)

    def ask(self, questions: Sequence[Question]) -> Iterable[Any]:
        return self.pool.map(lambda question: self.holder.ask(*question), questions)

    def close(self) -> None:
        self.pool.shutdown()

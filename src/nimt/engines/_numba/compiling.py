"""How long compiling, or loading what was compiled, took: a lesson reports it apart from its steps."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from nimt.collecting import without_collecting
from nimt.plain_numba import PLAIN_NUMBA


@dataclass
class CompileTime:
    """Seconds that one thread spent on compiling, or on loading what was compiled."""

    seconds: float = 0.0
    thread: int = field(default_factory=threading.get_ident)
    began: list[float] = field(default_factory=list)  # a compilation may start within another

    def start(self) -> None:
        if threading.get_ident() == self.thread:
            self.began.append(time.perf_counter())

    def end(self) -> None:
        if threading.get_ident() == self.thread and self.began:
            start = self.began.pop()
            self.seconds += 0.0 if self.began else time.perf_counter() - start


_loading = threading.Lock()
_loaded: list[ModuleType] = []  # numba, once all of it is loaded


def load_numba() -> None:
    """Load numba, one thread at a time: two threads that load it at once can wait for each other for ever."""
    if _loaded:
        return
    with _loading, without_collecting():
        numba = importlib.import_module("numba")
        if not PLAIN_NUMBA:
            _load_arrays()
        _loaded.append(numba)


def _load_arrays() -> None:
    """Load numba's arrays, which every compiled function needs, without scipy.linalg, which takes a third as long.

    It is loaded only to see that scipy has BLAS, which it has; compiled code that calls BLAS loads it by itself.
    """
    if "numba.np.arraymath" in sys.modules:
        return
    asked: Any = importlib.import_module("numba.np.linalg")
    look = asked.ensure_blas
    asked.ensure_blas = lambda: None
    try:
        arrays: Any = importlib.import_module("numba.np.arraymath")
    finally:
        asked.ensure_blas = look
    arrays.ensure_blas = look


def numba_is_loaded() -> bool:
    return "numba" in sys.modules


@contextlib.contextmanager
def compile_time() -> Iterator[CompileTime]:
    """Measure the seconds that this thread spends on compiling within the block.

    If numba is not loaded, nothing is compiled, and numba is not loaded to find that out. Plain numba does not tell.
    """
    found = CompileTime()
    if PLAIN_NUMBA or "numba" not in sys.modules:
        yield found
        return
    if not _loaded:
        load_numba()  # another thread may be loading it
    from numba.core import event

    listener = _listener_class()(found)
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    try:
        yield found
    finally:
        event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]


@functools.cache  # once: making a class takes longer than a step
def _listener_class() -> type[Any]:
    from numba.core import event

    class Listener(event.Listener):
        """Tell a clock when a compilation starts and ends."""

        def __init__(self, clock: CompileTime) -> None:
            self.clock = clock

        def on_start(self, _: object) -> None:
            self.clock.start()

        def on_end(self, _: object) -> None:
            self.clock.end()

    return Listener

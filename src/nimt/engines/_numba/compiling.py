"""How long compiling, or loading what was compiled, took: a lesson reports it apart from its steps."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from nimt.collecting import without_collecting
from nimt.plain_numba import PLAIN_NUMBA


class _Clock(threading.local):
    """Seconds that each thread spent on compiling, or on loading what was compiled, since numba was loaded."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.began: list[float] = []  # a compilation may start within another


_clock = _Clock()
_loading = threading.Lock()
_loaded: list[ModuleType] = []  # numba, once all of it is loaded


def load_numba() -> None:
    """Load numba, one thread at a time: two threads that load it at once can wait for each other for ever."""
    if _loaded:
        return
    with _loading, without_collecting():
        if _loaded:
            return
        if PLAIN_NUMBA:
            _loaded.append(importlib.import_module("numba"))
            return
        with _without_coverage():
            numba = importlib.import_module("numba")
        _listen()
        _loaded.append(numba)


@contextlib.contextmanager
def _without_coverage() -> Iterator[None]:
    """Keep numba from loading coverage, which takes a fifth as long: who measures coverage has loaded it before."""
    if "coverage" in sys.modules:
        yield
        return
    sys.modules["coverage"] = None  # type: ignore[assignment]  # for Python that there is none
    try:
        yield
    finally:
        del sys.modules["coverage"]


def prepare_to_compile() -> None:
    """Load what numba needs to compile arrays, without scipy.linalg, which takes a third as long.

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


def seconds_compiling() -> float:
    """Return how long this thread has compiled so far: what a block compiles is the difference of two.

    If numba is not loaded, nothing is compiled, and numba is not loaded to find that out. Plain numba does not tell.
    """
    if not _loaded and not PLAIN_NUMBA and "numba" in sys.modules:
        load_numba()  # it was loaded by somebody else, or is being loaded by another thread
    return _clock.seconds


def _listen() -> None:
    """Let numba tell when a compilation starts and ends."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, _: object) -> None:
            _clock.began.append(time.perf_counter())

        def on_end(self, _: object) -> None:
            start = _clock.began.pop() if _clock.began else time.perf_counter()
            _clock.seconds += 0.0 if _clock.began else time.perf_counter() - start

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]

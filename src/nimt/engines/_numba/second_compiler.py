"""A process that compiles for another one, which must not stand still: a server that answers people.

numba compiles in Python, so that every other thread of its process gets its turn late; and a compilation leaves so many
objects behind that collecting garbage takes tenths of a second. What another process compiled is only read from disk.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

from nimt.engines._numba.compiling import load_numba
from nimt.errors import NimtError
from nimt.plain_numba import PLAIN_NUMBA

LOWER_PRIORITY = 5  # the page and the lessons come first


class SecondCompiler:
    """Compile functions of `compiled_steps` in a process of its own, which leaves them in numba's cache on disk.

    The process is started when something is missing, and started again if it ended.

    Examples
    --------
    >>> SecondCompiler().is_running
    False
    """

    def __init__(self) -> None:
        self._process: Any = None
        self._line: Connection | None = None
        self._asking = threading.Lock()
        self._is_closed = False

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def compile(self, module: str, name: str, signature: Any) -> bool:
        """Have a function compiled; return whether that went well. Whoever calls waits, without any lock of numba."""
        with self._asking:
            try:
                if self._is_closed:
                    raise EOFError
                if not self.is_running:
                    self._start()
                assert self._line is not None
                self._line.send((module, name, signature))
                return bool(self._line.recv())
            except (OSError, EOFError):
                self._end()
                if self._is_closed:
                    raise NimtError("the process that compiles was ended") from None
                return False

    def rest(self) -> None:
        """End the process for now; it starts again when something is missing."""
        with self._asking:
            self._end()

    def close(self) -> None:
        """End the process for good; whoever waits for it, or asks again, gets an error."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.terminate()  # the line is cut, and the lock is free
        self.rest()

    def _start(self) -> None:
        self._end()
        spawning = multiprocessing.get_context("spawn")  # this process has threads, so that it cannot be copied
        self._line, theirs = spawning.Pipe()
        process = spawning.Process(target=answer, args=(theirs,), name="nimt-compiler", daemon=True)
        with contextlib.closing(theirs), without_ctrl_c():
            process.start()
        self._process = process  # only one that was started can be ended

    def _end(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.terminate()
            self._process.join()
        self._line = self._process = None


@contextlib.contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Start processes that never hear of Ctrl-C: it is for this process, which ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # of this thread; a new process has its mask
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def answer(line: Connection) -> None:
    """Compile what is asked for until the other process is gone."""
    with contextlib.suppress(AttributeError, OSError):
        os.nice(LOWER_PRIORITY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            module, name, signature = line.recv()
            try:
                getattr(importlib.import_module(module), name).compile(signature)
            except Exception:
                line.send(False)  # the other process compiles it itself, and says what is wrong
            else:
                line.send(True)


def load_all_of_numba() -> None:
    """Load numba and what it would load at the first call of a compiled function."""
    if PLAIN_NUMBA:
        load_numba()
        return
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


@contextlib.contextmanager
def compiling_elsewhere() -> Iterator[SecondCompiler]:
    """Compile nothing in this process within the block, as long as the other process can; with plain numba it cannot.

    Examples
    --------
    >>> with compiling_elsewhere() as compiler:
    ...     pass  # lessons of any thread wait for the other process where something is to be compiled
    """
    compiler = SecondCompiler()
    if PLAIN_NUMBA:
        yield compiler
        return
    from nimt.engines._numba import caching

    before, caching.elsewhere = caching.elsewhere, compiler.compile
    try:
        yield compiler
    finally:
        caching.elsewhere = before
        compiler.close()

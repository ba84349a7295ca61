"""How long compiling took. A lesson reports it apart, because it happens once per installation."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class CompileTime:
    """Seconds that this thread spent on compiling."""

    seconds: float = 0.0


@contextlib.contextmanager
def compile_time() -> Iterator[CompileTime]:
    """Measure the seconds that this thread spends on compiling within the block.

    If numba is not loaded, nothing is compiled, and numba is not loaded to find that out.
    """
    found = CompileTime()
    if "numba" not in sys.modules:
        yield found
        return
    from numba.core import event

    thread = threading.get_ident()
    began: list[float] = []  # a compilation may start within another

    class Clock(event.Listener):
        def on_start(self, _: object) -> None:
            if threading.get_ident() == thread:
                began.append(time.perf_counter())

        def on_end(self, _: object) -> None:
            if threading.get_ident() == thread and began:
                start = began.pop()
                found.seconds += 0.0 if began else time.perf_counter() - start

    clock = Clock()
    event.register("numba:compile", clock)  # type: ignore[no-untyped-call]
    try:
        yield found
    finally:
        event.unregister("numba:compile", clock)  # type: ignore[no-untyped-call]

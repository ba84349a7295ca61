"""Ctrl-C during a lesson: it never interrupts a step, nor the writing of a file."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

WAIT = 0.005  # seconds between two looks at lessons that are to end


class Flag(threading.Event):
    """One per running lesson; setting it ends that lesson."""

    def __init__(self, group: object) -> None:
        super().__init__()
        self.group = group


_under_way: list[Flag] = []
_thread = threading.local()  # whose `group` the lessons of a thread belong to
_writing: list[None] = []  # not empty while a checkpoint is written


@contextlib.contextmanager
def defer_interrupt() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C into a flag, so that it never interrupts a step; a second one is raised.

    None is raised while a checkpoint is written: the lesson ends after that anyway. A process that ignores Ctrl-C
    continues to ignore it.
    """
    flag = Flag(getattr(_thread, "group", None))
    before = signal.getsignal(signal.SIGINT)
    _under_way.append(flag)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        try:
            yield flag
        finally:
            _under_way.remove(flag)
        return

    def note(number: int, frame: FrameType | None) -> None:
        if flag.is_set() and not _writing:
            (before if callable(before) else signal.default_int_handler)(number, frame)
        flag.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
        _under_way.remove(flag)


@contextlib.contextmanager
def delay_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; it then ends the lesson."""
    _writing.append(None)
    try:
        yield
    finally:
        _writing.pop()


def interrupt() -> None:
    """Do what Ctrl-C does, also where Ctrl-C is ignored: end the running lesson after its step, or raise.

    For programs that are asked to end in another way, for example by SIGTERM.
    """
    if not _under_way or (_under_way[-1].is_set() and not _writing):
        raise KeyboardInterrupt
    _under_way[-1].set()


@contextlib.contextmanager
def lessons_of(group: object) -> Iterator[None]:
    """Let the lessons that this thread runs in the block belong to a group, which `interrupt_group` ends."""
    _thread.group = group
    try:
        yield
    finally:
        _thread.group = None


def interrupt_group(group: object) -> None:
    """End the running lessons of a group after their steps, and wait until they are over."""
    while theirs := [flag for flag in list(_under_way) if flag.group is group]:
        for flag in theirs:
            flag.set()
        time.sleep(WAIT)


@contextlib.contextmanager
def watch_interrupt() -> Iterator[None]:
    """Let `end_if_interrupted` end long work of this thread that is no lesson, as the lessons of its group end."""
    flag = _thread.work = Flag(getattr(_thread, "group", None))
    _under_way.append(flag)
    try:
        yield
    finally:
        _under_way.remove(flag)
        _thread.work = None


def end_if_interrupted() -> None:
    """Raise KeyboardInterrupt in work that is to end: a thread hears of Ctrl-C in no other way."""
    flag = getattr(_thread, "work", None)
    if flag is not None and flag.is_set():
        raise KeyboardInterrupt

"""numba's compiler, where compiled code can be kept on disk and where it cannot."""

from __future__ import annotations

import functools
import hashlib
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types
from numba.core.runtime.nrt import rtsys

from nimt.collecting import without_collecting
from nimt.engines._numba.compiling import prepare_to_compile
from nimt.engines._numba.turns import Turn, save_in_turn, take_turn_to_compile

HERE, ENGINES = Path(__file__).parent, Path(__file__).parents[1]
COMPILED_STEPS = ENGINES / "compiled_steps"
ALSO_COMPILED = [HERE, ENGINES.with_name("losses"), ENGINES.with_name("teachers") / "scores"]

_said: list[str] = []  # the sentence, once it was said
_contents: dict[Path, str] = {}  # digests that were computed


class _Here(threading.local):
    """What this thread does: whether it compiles after all, and its turns to compile, the innermost last."""

    def __init__(self) -> None:
        self.is_compiling = False
        self.turns: list[Turn] = []


_here = _Here()

elsewhere: Callable[[str, str, Any], bool] | None = None
"""Who compiles a function, given its module, name and signature, if not this process (`second_compiler`)."""


_runtime: Any = rtsys


class _Missing(Exception):
    """The compiled code is not on disk, and is to be compiled elsewhere."""


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called, and keep the result on disk where there is a place for it.

    A read-only installation without a home folder, as in a container, has none: numba then refuses to compile at all,
    and without the cache it does.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _keep_if_possible(_in_one_go(numba.njit(cache=cache, **options)(function)))
        except RuntimeError as problem:
            if "cannot cache" not in str(problem):
                raise
            _say_that_nothing_is_kept()
            return _in_one_go(numba.njit(**options)(function))

    return compiled


def _in_one_go(dispatcher: Any) -> Any:
    """Do not let Python search for unused objects while a function is loaded or compiled, and count both as compiling.

    numba itself tells of what it compiles, not of what it loads, which takes tenths of a second in a new process.
    """
    made = without_collecting()(dispatcher.compile)

    def compiled(signature: Any) -> Any:
        with event.trigger_event("numba:compile", data={}):
            return made(signature)

    dispatcher.compile = compiled
    return dispatcher


def content_of(folder: Path) -> str:
    """Return a digest of all source files in a folder, and of the others that decide what is compiled and how.

    Examples
    --------
    >>> content_of(COMPILED_STEPS) == content_of(COMPILED_STEPS)
    True
    """
    if folder not in _contents:
        digest = hashlib.sha256((ENGINES / "codes.py").read_bytes())
        for place in (folder, *ALSO_COMPILED):
            for path in sorted(place.glob("*.py")):
                digest.update(path.read_bytes())
        _contents[folder] = digest.hexdigest()
    return _contents[folder]


def _keep_if_possible(dispatcher: Any) -> Any:
    """Keep compiled code as long as no compiled function changes, and let a lesson go on if it cannot be kept.

    A function contains the code of those it calls, and numba looks at the file of the function alone. It cannot be kept
    on a full disk, or if it belongs to another user. numba has no option for either, so that its cache is told here.
    """
    cache = dispatcher._cache
    # in the version, which numba compares before it unpickles the rest: that may name modules that have moved
    cache._cache_file._version = (cache._cache_file._version, content_of(COMPILED_STEPS))
    cache._cache_file.save = functools.partial(save_in_turn, cache._cache_file)
    cache.load_overload = _missing_if_elsewhere(_without_failing(_without_preparing(cache)), cache)
    dispatcher._compilation_chain_init_hook = lambda: None  # extensions of numba are looked for when something compiles
    cache.save_overload = _without_failing(cache.save_overload)
    dispatcher.compile = _elsewhere_first(_in_turn(dispatcher.compile), dispatcher.py_func)
    return dispatcher


def _without_preparing(cache: Any) -> Callable[..., Any]:
    """Load code without what numba does before it compiles: to declare all that it knows takes longer than to load.

    A function that is not on disk is compiled as always, and numba then prepares for it.
    """

    def load(signature: Any, context: Any) -> Any:
        _runtime.initialize(context)  # what compiled code calls when it runs
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, context)

    return load


def _missing_if_elsewhere(load: Callable[..., Any], cache: Any) -> Callable[..., Any]:
    take_turn = _without_failing(take_turn_to_compile)

    def loaded(signature: Any, context: Any) -> Any:
        found = load(signature, context)
        if found is not None:
            return found
        if elsewhere is not None and not _here.is_compiling:
            raise _Missing
        turn = take_turn(cache, signature)
        if turn is not None:
            _here.turns.append(turn)
            found = load(signature, context)  # another process may have compiled it before this turn came
        if found is None:
            prepare_to_compile()
        return found

    return loaded


def _in_turn(compile_it: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """End the turn to compile that was taken when nothing was on disk; what was compiled is there by now."""

    def compiled(signature: Any) -> Any:
        outer = len(_here.turns)
        try:
            return compile_it(signature)
        finally:
            while len(_here.turns) > outer:
                _here.turns.pop().end()

    return compiled


def _elsewhere_first(compile_here: Callable[[Any], Any], function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Wait for the other process outside of numba's compiler, whose lock other threads need to load what they use."""

    def compiled(signature: Any) -> Any:
        try:
            return compile_here(signature)
        except _Missing:
            pass
        if elsewhere is not None:
            with event.trigger_event("numba:compile", data={}):
                elsewhere(function.__module__, function.__name__, signature)
        _here.is_compiling = True  # if it is still missing
        try:
            return compile_here(signature)
        finally:
            _here.is_compiling = False

    return compiled


def _without_failing(access: Callable[..., Any]) -> Callable[..., Any]:
    def tried(*overload: Any) -> Any:
        try:
            return access(*overload)
        except OSError:
            _say_that_nothing_is_kept()
            return None  # as for code that was never kept

    return tried


def _say_that_nothing_is_kept() -> None:
    if not _said:
        _said.append(
            "compiled code cannot be kept, since no folder for it can be read and written, and every process compiles "
            "again: set NUMBA_CACHE_DIR to a folder that can"
        )
        warnings.warn(_said[0], UserWarning, stacklevel=4)


# Wrappers that nothing calls are left out, and only what Python calls is kept: both would take time to compile.
_for_compiled_code: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_uncounted: dict[str, Any] = {**_for_compiled_code, "_nrt": False}
_kinds: Any = types

compiled = njit(cache=True, nogil=True, no_cfunc_wrapper=True)  # what Python calls


def part(function: Callable[..., Any]) -> Any:
    """Compile what only compiled functions call: it works on the arrays it is given, and returns numbers.

    numba counts references to arrays wherever they are taken from a tuple or handed on, with instructions for which the
    processor waits; to choose a diverse pack this took longer than the work. Here nothing is counted, so that a part
    can neither make an array, which numba refuses, nor return one, which would be freed too early.
    """
    dispatcher: Any = numba.njit(**_uncounted)(function)
    compile_it = dispatcher.compile

    def compiled_and_checked(signature: Any) -> Any:
        compiled_one = compile_it(signature)
        for kind in (kept.return_type for kept in dispatcher.nopython_signatures):
            if any(isinstance(one, _kinds.Buffer) for one in (kind, *getattr(kind, "types", ()))):
                raise TypeError(f"{function.__name__} is a part and returns {kind}: it may return numbers only")
        return compiled_one

    dispatcher.compile = compiled_and_checked
    return dispatcher


inlined: Any = numba.njit(inline="always", **_for_compiled_code)  # a part so short that compiling it apart takes longer
rule = njit(cache=True, nogil=True, no_cfunc_wrapper=True, inline="always")  # such a part that Python calls, too

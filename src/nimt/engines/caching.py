"""numba's compiler, where compiled code can be kept on disk and where it cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

_said: list[str] = []  # the sentence, once it was said


def njit(*, cache: bool, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called, and keep the result on disk where there is a place for it.

    A read-only installation without a home folder, as in a container, has none: numba then refuses to compile at all,
    and without the cache it does.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _kept_if_possible(numba.njit(cache=cache, **options)(function))
        except RuntimeError as problem:
            if "cannot cache" not in str(problem):
                raise
            _say_that_nothing_is_kept()
            return numba.njit(**options)(function)

    return compiled


def _kept_if_possible(dispatcher: Any) -> Any:
    """Let a lesson go on if its compiled code cannot be read or written: on a full disk, or as another user.

    numba has no option for this, so that its cache is told here.
    """
    cache = dispatcher._cache
    cache.load_overload = _without_failing(cache.load_overload)
    cache.save_overload = _without_failing(cache.save_overload)
    return dispatcher


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

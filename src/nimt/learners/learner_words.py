"""Learners by the names that the command line and the studio give them."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from nimt.learners.learner import Described


@functools.cache
def list_learners() -> dict[str, type[Described]]:
    """Return the learners that have a word; kernel, the usual one, is first.

    Examples
    --------
    >>> list(list_learners())
    ['kernel', 'classroom', 'orthogonal']
    """
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"nimt.learners.{module.name}")
    words = {kind.__dict__["word"]: kind for kind in _below(Described) if "word" in kind.__dict__}
    return dict(sorted(words.items(), key=lambda pair: (pair[0] != "kernel", pair[0])))


def _below(kind: type[Described]) -> Iterator[type[Described]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)

"""Nonparametric iterative machine teaching: which examples bring a learner to a target in the fewest steps.

The public names, and where each lives, are listed in `__init__.pyi`. A name is loaded when it is first used.
"""

import lazy_loader

from nimt._version import __version__
from nimt.collecting import without_collecting

ROOMS = {  # can be reached as attributes, and are not listed at the top
    "blocks", "classes", "errors", "lesson", "measures", "operators", "pools", "runs", "schedules", "session",
    "sources", "task", "teaching_sets",
}  # fmt: skip

_loaded, _, _listed = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*(name for name in _listed if name not in ROOMS), "__version__"]


def __getattr__(name: str) -> object:
    with without_collecting():
        return _loaded(name)


def __dir__() -> list[str]:
    return sorted(__all__)

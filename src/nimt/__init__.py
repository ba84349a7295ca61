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
    if name not in _listed and not name.startswith("_"):
        raise AttributeError(f"nimt has no attribute {name}{_say_where(name)}", name=name)
    with without_collecting():
        return _loaded(name)


def _say_where(name: str) -> str:
    """Return in which rooms a name is, as the end of a sentence, without loading one of them."""
    from pathlib import Path

    lists = sorted(Path(__file__).parent.glob("*/__init__.py*"))
    rooms = {path.parent.name: None for path in lists if name in path.read_text(encoding="utf-8").split()}
    return ": it is " + " or ".join(f"nimt.{room}.{name}" for room in rooms) if rooms else ""


def __dir__() -> list[str]:
    return sorted(__all__)

"""The reference: one page per room of the library, with every public name and its docstring, written at each build."""

from __future__ import annotations

import importlib
import inspect
from collections import defaultdict
from pathlib import Path
from typing import Any

import nimt

# In the order in which a reader meets them; a room that is not named here comes after these.
TITLES = {
    "teaching": "Teaching",
    "teachers": "Teachers",
    "learners": "Learners",
    "pools": "Pools",
    "kernels": "Kernels",
    "losses": "Losses",
    "measures": "Measures",
    "lesson": "Lessons",
    "estimators": "Estimators",
    "teaching_sets": "Real rows",
    "engines": "Plans and engines",
    "operators": "Approximations",
    "sources": "Problems from files",
    "plots": "nimt.plots",
    "theory": "nimt.theory",
    "datasets": "nimt.datasets",
    "paper": "nimt.paper",
    "testing": "nimt.testing",
    "errors": "Errors and warnings",
}


def rooms() -> dict[str, list[str]]:
    """Return the public names, with their module, by the room they live in."""
    found: dict[str, list[str]] = defaultdict(list)
    own = {id(getattr(nimt, name)) for name in nimt.__all__}  # shown as nimt.X, not again in a module
    for name in (name for name in [*nimt.__all__, *sorted(nimt.ROOMS)] if not name.startswith("_")):
        subject = getattr(nimt, name)
        if inspect.ismodule(subject):
            public = getattr(subject, "__all__", None) or list_own_names(subject)
            found[name] += [
                f"nimt.{name}.{inner}" for inner in sorted(public) if id(found_in(subject, inner)) not in own
            ]
        else:
            room = _module_of(name).split(".")[1]
            found[room].append(f"nimt.{name}")
    order = {room: place for place, room in enumerate(TITLES)}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def list_own_names(module: Any) -> list[str]:
    """Return the public names that a module without a list of them defines, and not those it imports."""
    return [
        name
        for name in dir(module)
        if not name.startswith("_") and getattr(getattr(module, name), "__module__", None) == module.__name__
    ]


def found_in(module: object, name: str) -> object:
    """Return what a public name stands for, None where it needs a package that is not installed."""
    try:
        return getattr(module, name)
    except nimt.errors.MissingExtra:
        return None


def _module_of(name: str) -> str:
    module = getattr(getattr(nimt, name), "__module__", "")
    return module if module.startswith("nimt.") else f"nimt.{name}"


def directive_of(path: str) -> list[str]:
    """Return the directive that shows a name's docstring."""
    module, _, name = path.rpartition(".")
    subject = found_in(importlib.import_module(module), name)
    if inspect.isclass(subject) or (subject is None and name[0].isupper()):
        return [f".. autoclass:: {path}", "   :members:"]
    return [f".. autofunction:: {path}" if callable(subject) or subject is None else f".. autodata:: {path}"]


def page_of(room: str, names: list[str]) -> str:
    """Return the page of a room."""
    title = TITLES.get(room, room.capitalize())
    lines = [f".. _reference-{room}:", "", title, "=" * len(title), ""]
    for path in names:
        short = path.rpartition(".")[2]
        lines += [short, "-" * len(short), "", *directive_of(path), ""]
    return "\n".join(lines)


def write(app: Any) -> None:
    """Write the pages where they changed, so that a second build is quick."""
    folder = Path(app.srcdir) / "built" / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    found = rooms()
    index = ["Reference", "=========", "", ".. toctree::", "   :maxdepth: 2", "", *(f"   {room}" for room in found), ""]
    pages = {"index": "\n".join(index)} | {room: page_of(room, names) for room, names in found.items()}
    for path in folder.glob("*.rst"):
        if path.stem not in pages:
            path.unlink()  # of a room that is no more
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True}

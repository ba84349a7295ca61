"""The tree drawn in docs/architecture.md is the tree that stands, and imports run downwards in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
HOUSE = HOME / "src" / "nimt"
PAGE = HOME / "docs" / "architecture.md"
FREE = {"__init__", "__main__", "_version"}  # the doors, and a number everyone may read


def rooms_on_the_page() -> list[str]:
    """Return the modules and packages in the order of the drawing."""
    drawing = re.search(r"^```\nsrc/nimt/\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert drawing is not None
    return re.findall(r"^  (\w+)(?:\.py|/)\s", drawing[1], re.MULTILINE)


def rooms_that_stand() -> list[str]:
    modules = [path.stem for path in HOUSE.glob("*.py")]
    return sorted(modules + [path.parent.name for path in HOUSE.glob("*/__init__.py")])


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms a file imports from, at its top or within a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} uses a relative import; write it out"
            names = [f"nimt.{name.name}" for name in node.names] if node.module == "nimt" else [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("nimt.")}
    return found & set(rooms_that_stand())


def test_the_drawing_shows_every_room_and_no_other():
    drawn = set(rooms_on_the_page())
    standing = set(rooms_that_stand()) - {"__main__", "_version"}
    assert drawn == standing, "docs/architecture.md: draw what was built, at a place below all it imports"


@pytest.mark.parametrize("room", [room for room in rooms_that_stand() if room not in FREE])
def test_imports_run_downwards(room):
    order = rooms_on_the_page()
    files = sorted((HOUSE / room).rglob("*.py")) or [HOUSE / f"{room}.py"]
    for path in (path for path in files if path.stem != "__main__"):
        for other in imported_rooms(path) - FREE - {room}:
            assert order.index(other) < order.index(room), f"{path.relative_to(HOUSE)} imports {other}, a room below it"


def test_the_reader_of_imports_sees_them(tmp_path):
    path = tmp_path / "some.py"
    path.write_text("from nimt import storage\nimport numpy\ndef f():\n    from nimt.engines.base import Task\n")
    assert imported_rooms(path) == {"storage", "engines"}


def test_importing_nimt_loads_nothing_heavy():
    heavy = ("numba", "matplotlib", "torch", "sklearn", "scipy", "numpy", "rich", "PIL")
    code = f"import sys, nimt; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

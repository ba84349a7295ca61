"""The tree drawn in docs/architecture.md is the tree that stands, and imports run downwards in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

<<<<<<< HEAD
import nimt

SOURCE = Path(nimt.__file__).parent

# Lower floors know nothing of the higher ones; rooms on one floor may look into those named before them.
FLOORS = (
    ("_version", "errors"),
    ("checks",),
    ("kernels", "losses", "pools"),
    ("operators",),
    ("learners", "pupils", "teachers", "measures"),
    ("descriptions", "storage", "lesson"),
    ("engines",),
    ("recording", "running", "planning"),
    ("teaching",),
    ("theory",),
    ("datasets",),
    ("palette", "plots"),
    ("report",),
    ("paper",),
    ("cli",),
)
ROOMS = [room for floor in FLOORS for room in floor]
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}
HEAVY = ("numba", "matplotlib", "torch", "sklearn")
=======
HOME = Path(__file__).parents[1]
HOUSE = HOME / "src" / "nimt"
PAGE = HOME / "docs" / "architecture.md"
FREE = {"__init__", "__main__", "_version"}  # the doors, and a number everyone may read
>>>>>>> main


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


<<<<<<< HEAD
# `python -m nimt.paper` starts a command: an entrance is no room
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py" and path.name != "__main__.py")
=======
def test_the_drawing_shows_every_room_and_no_other():
    drawn = set(rooms_on_the_page())
    standing = set(rooms_that_stand()) - {"__main__", "_version"}
    assert drawn == standing, "docs/architecture.md: draw what was built, at a place below all it imports"
>>>>>>> main


@pytest.mark.parametrize("room", [room for room in rooms_that_stand() if room not in FREE])
def test_imports_run_downwards(room):
    order = rooms_on_the_page()
    files = sorted((HOUSE / room).rglob("*.py")) or [HOUSE / f"{room}.py"]
    for path in files:
        for other in imported_rooms(path) - FREE - {room}:
            assert order.index(other) < order.index(room), f"{path.relative_to(HOUSE)} imports {other}, a room below it"


def test_the_reader_of_imports_sees_them(tmp_path):
    path = tmp_path / "some.py"
    path.write_text("from nimt import storage\nimport numpy\ndef f():\n    from nimt.engines.base import Task\n")
    assert imported_rooms(path) == {"storage", "engines"}


def test_importing_nimt_loads_nothing_heavy():
<<<<<<< HEAD
    _, report = python("import nimt", "-X", "importtime")
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in report.splitlines()}
    assert "nimt" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_looking_around_loads_nothing_heavy():
    printed, _ = python(f"import nimt, sys; dir(nimt); print([name for name in {HEAVY} if name in sys.modules])")
    assert printed.strip() == "[]"


def test_the_loop_needs_neither_figures_nor_torch():
    printed, _ = python("import sys; from nimt import teach, Lesson; print('matplotlib' in sys.modules)")
    assert printed.strip() == "False"


PUBLIC = {
    "AlternativeLabels", "Absolute", "CannotStore", "CheckpointWarning", "CorruptLesson", "GreedyTeacher", "Grid",
    "Hinge", "Huber", "IllConditioned", "InvalidInput", "KernelLearner", "Lesson", "LinearLearner", "Logistic",
    "MissingExtra", "NimtError", "Outcome", "Progress", "RandomTeacher", "Selection", "Square", "StepSizeWarning",
    "Teacher", "View", "Wendland", "__version__", "datasets", "linear", "paper", "plots", "rbf", "resume", "steps",
    "teach",
}  # fmt: skip


def test_the_public_names_are_exactly_these():
    assert set(nimt.__all__) == PUBLIC
    assert len(nimt.__all__) == len(set(nimt.__all__))


def test_every_public_name_can_be_had_and_is_documented():
    for name in nimt.__all__:
        value = getattr(nimt, name)
        assert name in dir(nimt)
        if name not in ("__version__", "plots", "datasets", "paper"):
            assert value.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'teech'"):
        nimt.teech


def test_type_checkers_are_told_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (told,) = (node for node in tree.body if is_for_types_only(node))
    names = {alias.asname for node in told.body for alias in node.names}
    assert names | {"__version__"} == set(nimt.__all__)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_library_neither_prints_nor_unpickles_nor_evaluates(path):
    if room_of(path) in ("cli", "report"):
        pytest.skip("speaking to the user is its job")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "eval", "exec"), f"line {node.lineno}"
        if isinstance(node, ast.Import):
            assert "pickle" not in {alias.name for alias in node.names}


def test_every_error_has_one_root():
    from nimt import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) > 5
    for kind in kinds:
        assert issubclass(kind, nimt.NimtError | UserWarning)
=======
    heavy = ("numba", "matplotlib", "torch", "sklearn", "scipy", "numpy", "rich", "PIL")
    code = f"import sys, nimt; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
>>>>>>> main

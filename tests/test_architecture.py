"""The shape of the package: what it exports, what it loads, and which way its imports run."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

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


def room_of(path):
    inside = path.relative_to(SOURCE)
    return inside.parts[0].removesuffix(".py")


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports_of(tree):
    """Yield every module of nimt that is imported anywhere in a file, inside functions too."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if is_for_types_only(node):
            waiting.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "nimt")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            if node.module == "nimt":
                yield from (f"nimt.{alias.name}" for alias in node.names)
            elif node.module and node.module.startswith("nimt."):
                yield node.module
        waiting.extend(ast.iter_child_nodes(node))


# `python -m nimt.paper` starts a command: an entrance is no room
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py" and path.name != "__main__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_run_downwards_only(path):
    mine = room_of(path)
    if mine not in FLOOR_OF:
        pytest.fail(f"say in FLOORS where {mine} stands")
    for module in imports_of(ast.parse(path.read_text())):
        other = module.split(".")[1]
        if other == mine or other == "__version__":
            continue
        assert other in FLOOR_OF, f"{mine} imports {module}"
        assert FLOOR_OF[other] <= FLOOR_OF[mine], f"{mine} stands below {other} and imports it"


def test_no_two_rooms_import_each_other():
    edges = {
        (room_of(path), module.split(".")[1])
        for path in MODULES
        for module in imports_of(ast.parse(path.read_text()))
        if module.split(".")[1] != room_of(path)
    }
    assert [edge for edge in edges if edge[::-1] in edges] == []


def python(code, *options):
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout, done.stderr


def test_importing_nimt_loads_nothing_heavy():
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

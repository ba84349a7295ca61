"""The tree drawn in docs/architecture.md is the tree that stands, and imports run downwards in it.

A line of the drawing shows modules (`errors.py  files.py`), with any words after them, or one package and its modules
(`pools/  base box`), with comments in parentheses. A deeper line goes on with that package, or shows a package inside
it, which stands in the order of the outer one as `inside/`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nimt.plain_numba import PLAIN_NUMBA

HOME = Path(__file__).parents[1]
HOUSE = HOME / "src" / "nimt"
PAGE = HOME / "docs" / "architecture.md"
FREE = {"__init__", "__main__", "_version"}  # the doors, and a number everyone may read


def drawn_in(drawing: str) -> list[str]:
    """Return the modules of a drawing in its order, dotted: `pools.base`."""
    found: list[str] = []
    package, outer, end = "", "", 0
    for line in re.sub(r"\([^)]*\)", "", drawing).splitlines():
        opened = re.match(r"( +)(\w+)/", line)
        if opened is None and re.match(r"  \S", line):
            found += re.findall(r"\b(\w+)\.py\b", line)
            continue
        if opened is None:
            modules, place = line.split(), end
        elif len(opened[1]) == 2:
            package, modules, place = opened[2], line.split()[1:], len(found)
            outer = package
        else:  # a package inside, at the place it has in the line of the outer one
            place = found.index(f"{outer}.{opened[2]}/")
            package, modules = found.pop(place).removesuffix("/"), line.split()[1:]
        found[place:place] = [f"{package}.{module}" for module in modules]
        end = place + len(modules)
    return found


def drawing() -> str:
    found = re.search(r"^```\nsrc/nimt/\n(.*?)^\S", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts)


STANDING = {dotted(path): path for path in sorted(HOUSE.rglob("*.py")) if path.stem not in FREE}
DRAWN = [name for name in drawn_in(drawing()) if name not in FREE]


def names_imported(path: Path) -> Iterator[str]:
    """Yield what a file imports from nimt when it runs, at its top or within a function, without the leading nimt."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:  # nothing is loaded by it
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} uses a relative import; write it out"
            names = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        else:
            continue
        yield from (name.removeprefix("nimt.") for name in names if name.startswith("nimt."))


def imported(path: Path) -> set[str]:
    """Return the modules a file imports from; a package where it imports from the door of one."""
    found = set()
    for name in names_imported(path):
        while name not in STANDING and not (HOUSE / name.replace(".", "/") / "__init__.py").exists():
            name = name.rpartition(".")[0]
            if not name:  # a name of nimt itself, which may be anywhere
                break
        found |= {name} - {""}
    return found


def is_above(name: str, module: str) -> bool:
    """Tell whether all of a module or package is drawn before a module."""
    places = [place for place, drawn in enumerate(DRAWN) if drawn == name or drawn.startswith(f"{name}.")]
    return max(places) < DRAWN.index(module)


def test_the_drawing_shows_every_module_and_no_other():
    twice = {name for name in DRAWN if DRAWN.count(name) > 1}
    assert not twice
    advice = "docs/architecture.md: draw each module to the right of, or below, all it imports; comments in parentheses"
    assert set(DRAWN) == set(STANDING), advice


@pytest.mark.long
@pytest.mark.parametrize("module", STANDING)
def test_imports_run_downwards(module):
    wrong = {(module, other) for other in imported(STANDING[module]) if not is_above(other, module)}
    assert not wrong


# the mechanism itself


def test_no_file_and_no_class_has_the_name_of_another():
    files = [path.stem for path in HOUSE.rglob("*.py") if not path.stem.startswith("__")]
    classes = [
        node.name
        for path in HOUSE.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    ]
    for names in (files, classes):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_the_reader_of_imports_sees_them(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        "import numpy\nimport nimt.store.whole_files\nfrom nimt import plots, teach\nfrom nimt.pools import Grid\n"
        "def f():\n    from nimt.engines.engine import Task\n    from nimt.store import records\n"
    )
    assert imported(path) == {"store.whole_files", "plots", "pools", "engines.engine", "store.records"}


def test_the_reader_of_the_drawing_sees_its_order():
    drawn = drawn_in(
        "  errors.py  files.py        and files.\n"
        "  kernels.py  what K is      text.py  K as text\n"
        "  pools/     base (not\n"
        "             drawn) inside/ beside/\n"
        "             box\n"
        "    inside/  one\n"
        "             two\n"
        "    beside/  three\n"
        "  plots/     style\n"
    )
    assert drawn == [
        "errors", "files", "kernels", "text", "pools.base", "pools.inside.one", "pools.inside.two",
        "pools.beside.three", "pools.box", "plots.style",
    ]  # fmt: skip


def test_an_import_from_below_or_from_ones_own_door_is_noticed():
    assert is_above("pools", "kernels.kernel")
    assert is_above("pools.pool", "pools.box")
    assert not is_above("pools.box", "pools.pool")
    assert not is_above("pools", "pools.box")
    assert not is_above("cli.app", "errors")


def test_importing_nimt_loads_nothing_heavy():
    heavy = ("numba", "matplotlib", "sklearn", "scipy", "numpy", "rich", "PIL")
    code = f"import sys, nimt; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LESSONS = {
    "a grid": "nimt.Grid(np.linspace(-2, 4, 200)), np.sin",
    "few scattered points": "np.random.default_rng(0).uniform(size=(50, 2)), lambda x: x[:, 0]",
    "neighbours": "np.random.default_rng(0).uniform(0, 900, size=(900, 1)), lambda x: np.sin(x[:, 0])",
    "points of many coordinates": "np.random.default_rng(0).uniform(size=(80, 9)), lambda x: x[:, 0]",
}
LESSON = """
import sys
import numpy as np
import nimt

learner = nimt.KernelLearner(nimt.rbf(0.5) + nimt.kernels.parse_kernel("0.1 * RBF(0.5)"), learning_rate=0.1)
lesson = nimt.teach(learner, nimt.GreedyTeacher(), {problem}, tol=1e-3, max_iterations=50)
lesson.save("lesson.npz")
again = nimt.Lesson.load("lesson.npz")
assert np.array_equal(again.learner.predict(again.pool), lesson.learner.predict(lesson.pool))
assert "KernelLearner(kernel=rbf(width=0.5) + " in repr(again.learner)
print([name for name in ("sklearn", "pandas", "matplotlib", "scipy.stats") if name in sys.modules])
"""


@pytest.mark.long
@pytest.mark.parametrize("problem", LESSONS.values(), ids=LESSONS)
def test_a_lesson_loads_no_scikit_learn_until_one_of_its_objects_is_given(problem, tmp_path):
    command = [sys.executable, "-c", LESSON.format(problem=problem)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.strip() == "[]", done.stderr


FIRST = """
import sys

before = set(sys.modules)
import numpy as np
import nimt

learner = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1)
nimt.teach(learner, nimt.GreedyTeacher(), nimt.Grid(np.linspace(-2, 4, 200)), np.sin, max_iterations=50)
heavy = "sklearn joblib scipy.linalg scipy.sparse tqdm pandas coverage nimt.engines.sparse_engine".split()
print([name for name in heavy if name in set(sys.modules) - before])
"""


@pytest.mark.skipif(PLAIN_NUMBA, reason="plain numba loads more by itself")
def test_a_first_lesson_loads_no_more_than_numba_needs():
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.long
def test_only_nimt_torch_imports_torch():
    for name, path in STANDING.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        outside = {module for module in named if module.split(".")[0] == "torch"}
        assert not outside or name == "torch.extra", name


@pytest.mark.long
def test_only_engines_numba_knows_what_numba_is_like_inside():
    inner = re.compile(r"^ *(from|import) (llvmlite|numba\.(core|extending))|\b_nrt\b", re.MULTILINE)
    knows = {name for name, path in STANDING.items() if inner.search(path.read_text(encoding="utf-8"))}
    assert {name.rpartition(".")[0] for name in knows} == {"engines._numba"}
    assert "engines._numba.plain" not in knows

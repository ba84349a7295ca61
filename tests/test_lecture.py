"""The notebooks in docs/ run from top to bottom, show what they promise, and are kept without outputs."""

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks are run with nbclient: pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))


def read(path):
    return nbformat.read(path, as_version=4)


def test_there_is_a_lecture():
    assert [path.name for path in NOTEBOOKS] == ["lecture.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.fixture(scope="module")
def lecture(tmp_path_factory):
    """The lecture after it was run, in an empty folder."""
    notebook = read(DOCS / "lecture.ipynb")
    folder = tmp_path_factory.mktemp("lecture")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the event loop that talks to the kernel
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    assert list(folder.iterdir()) == []
    return notebook


def shown(lecture, begins):
    """The result of the cell whose last line is this, or else begins so."""
    last = {cell.source.splitlines()[-1]: cell for cell in lecture.cells if cell.cell_type == "code"}
    (cell,) = [last[begins]] if begins in last else [cell for line, cell in last.items() if line.startswith(begins)]
    (output,) = cell.outputs
    return output.data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "title"),
    [
        ("x", "Grid(280)"),
        ("learner", "KernelLearner"),
        ("lesson", "Lesson: the discrepancy fell below the tolerance"),
        ("comparison", "Comparison of 3 teachers"),
        ("nimt.compare(nimt.KernelLearner", "Comparison of 3 teachers"),
        ("forecast", "Forecast: M &lt; 0.0001 after"),
        ("nimt.theory.check(lesson)", "Check: every inequality whose assumptions hold held at every step"),
    ],
)
def test_every_object_of_the_lecture_shows_itself(lecture, cell, title):
    assert title in shown(lecture, cell)["text/html"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        "picture",
        "nimt.plots.panels(lesson)",
        "comparison.plot()",
        "nimt.plots.forecast(",
        "nimt.plots.panels(writing)",
        "nimt.runs.Comparison.of(by_rate)",
        "nimt.plots.panels(half)",
        "nimt.runs.Comparison.of(by_width)",
    ],
)
def test_every_figure_of_the_lecture_shows_itself_without_magic_words(lecture, cell):
    assert len(shown(lecture, cell)["image/png"]) > 10_000


def test_the_plan_fills_ninety_minutes_and_every_exercise_has_a_solution():
    cells = read(DOCS / "lecture.ipynb").cells
    parts = re.findall(r"^## .*\((\d+) minutes\)", "\n".join(cell.source for cell in cells), re.MULTILINE)
    assert sum(int(minutes) for minutes in parts) == 90
    (plan,) = re.findall(r"^\| 0 to .*(?:\n\|.*)*", cells[0].source, re.MULTILINE)
    ends = [re.match(r"\| (\d+) to (\d+) \|", line) for line in plan.splitlines()]
    assert [int(end[2]) - int(end[1]) for end in ends] == [int(minutes) for minutes in parts]
    exercises = [place for place, cell in enumerate(cells) if "### " in cell.source]
    assert len(exercises) == 5
    assert all(cells[place + 1].metadata["tags"] == ["solution"] for place in exercises)


@pytest.mark.slow
def test_what_the_solutions_say_is_so(lecture):
    ends = ast.literal_eval(shown(lecture, "{name: round(float(m), 6)")["text/plain"])
    assert ends["best"] < ends["greedy"] < ends["mine"]


@pytest.mark.slow
def test_what_is_asked_on_paper_and_of_the_room_is_answered(lecture):
    after = ast.literal_eval(shown(lecture, "{at: round(float(one.final")["text/plain"])
    assert after == {2.0: pytest.approx(0.1, abs=1e-4), 2.5: pytest.approx(0.1 / np.e, abs=2e-3)}
    answer = ast.literal_eval(shown(lecture, 'f"step {first}')["text/plain"])
    assert re.fullmatch(r"step \d+, at x = -3\.\d, where the error is 0\.50", answer), answer


@pytest.mark.slow
def test_the_lecture_is_quiet_otherwise(lecture):
    for cell in lecture.cells:
        for output in cell.get("outputs", ()):
            assert output.output_type == "execute_result", "no warnings, nothing printed"

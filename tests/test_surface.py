"""The public surface: what nimt exports, and what its modules never do."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

import nimt

SOURCE = Path(nimt.__file__).parent


MODULES = sorted(path for path in SOURCE.rglob("*.py") if "cli" not in path.parts)  # speaking is the cli's job

PUBLIC = {
    "Blocks", "Box", "Expansion", "GreedyKernelClassifier", "GreedyKernelRegressor", "GreedyTeacher", "Grid",
    "InvalidInput", "KernelLearner", "Lesson", "LessonInterrupted", "LinearLearner", "NimtError", "Nystroem",
    "OmniscientTeacher", "Points", "Precomputed", "RandomFeatures", "RandomTeacher", "ResponsiveTeacher",
    "Selection", "SurrogateTeacher", "SynthesisTeacher", "Teacher", "TeachingSetSelector", "Wendland",
    "__version__", "compare", "compiled", "datasets", "forecast", "kernels", "learners", "linear", "losses",
    "paper", "plan", "plots", "rbf", "reference", "resume", "shortest", "steps", "suspects", "sweep", "teach",
    "teachers", "teaching_set", "testing", "theory", "torch",
}  # fmt: skip


def test_the_public_names_are_exactly_these():
    assert set(nimt.__all__) == PUBLIC
    assert len(nimt.__all__) == len(set(nimt.__all__))


def test_the_plots_list_exactly_what_is_public():
    import nimt.plots.bounds
    import nimt.plots.style  # what was imported elsewhere is not listed

    public = {
        "Curve", "ForecastTable", "Panel", "curve", "curve_table",
        "forecast", "forecast_table", "panel_table", "panels", "Regions", "region_table", "regions",
    }  # fmt: skip
    assert set(dir(nimt.plots)) == set(nimt.plots.__all__) == public
    assert all(getattr(nimt.plots, name).__doc__ for name in public)


def test_every_public_name_can_be_had_and_is_documented():
    for name in nimt.__all__:
        value = getattr(nimt, name)
        assert name in dir(nimt)
        if name not in ("__version__", "plots", "datasets", "paper"):
            assert value.__doc__, name
    with pytest.raises(AttributeError, match=r"attribute teech$"):
        nimt.teech


def test_a_name_that_is_not_at_the_top_is_said_where_it_is():
    with pytest.raises(AttributeError, match=r"it is nimt\.teachers\.SoftTeacher$"):
        nimt.SoftTeacher


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_the_library_neither_prints_nor_unpickles_nor_evaluates(path):
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


def test_nimt_torch_without_pytorch_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("nimt.torch.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(nimt.errors.MissingExtra, match=r"pip install 'nimt\[torch\]'"):
        importlib.import_module("nimt.torch.torch_learner")

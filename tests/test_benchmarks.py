"""The benchmark's own parts: goals, the JSON it writes, and the comparison of two runs. No times are tested."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def row(work, goal, value, **more):
    return {"work": work, "goal": goal, "value": value, "part": "pictures", **more}


def written(path, rows, **machine):
    path.write_text(json.dumps({"machine": {"cpu": "one", **machine}, "rows": rows}))
    return str(path)


@pytest.fixture
def bench(monkeypatch):
    """Run `python -m benchmarks` in this process."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(ROOT)
    main = importlib.import_module("benchmarks.__main__").main

    def ran(*arguments):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
        main()

    return ran


def names_in(path):
    """The names that a module defines or imports, and the modules of a package; read, since to load them takes long."""
    found = {part.stem for part in path.parent.iterdir()} if path.stem == "__init__" else set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            found |= {(name.asname or name.name).split(".")[0] for name in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def test_what_benchmarks_and_tools_import_exists():
    """Most of it is imported within functions that no test calls."""
    lost = []
    for path in (*ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "nimt":
                place = ROOT / "src" / node.module.replace(".", "/")
                files = (place.with_suffix(".py"), place / "__init__.pyi", place / "__init__.py")
                known = set().union(*(names_in(file) for file in files if file.exists()))
                lost += [f"{path.name}: {node.module}.{name.name}" for name in node.names if name.name not in known]
    assert not lost


@pytest.mark.long
def test_a_comparison_says_what_changed(bench, tmp_path, capsys):
    old = written(tmp_path / "a.json", [
        row("faster now", ">= 8x", 10.0), row("slower now", "<= 10 us", 2.0), row("lost", "<= 300 MB", 290.0),
        row("same", ">= 8x", 10.0), row("left out", ">= 8x", 10.0),
    ])  # fmt: skip
    new = written(tmp_path / "b.json", [
        row("faster now", ">= 8x", 30.0), row("slower now", "<= 10 us", 8.0), row("lost", "<= 300 MB", 301.0),
        row("same", ">= 8x", 10.5), row("added", ">= 8x", 10.0),
    ], commit="abc")  # fmt: skip
    bench("compare", old, new)
    said = capsys.readouterr().out
    lines = {line.split("│")[1].strip(): line.split("│") for line in said.splitlines() if "│" in line}
    assert [lines["faster now"][4].strip(), lines["faster now"][5].strip()] == ["3.00", "better"]
    assert [lines["slower now"][4].strip(), lines["slower now"][5].strip()] == ["0.25", "worse"]
    assert lines["lost"][5].strip() == "goal LOST"
    assert lines["same"][5].strip() == ""
    assert lines["added"][5].strip() == "new"
    assert lines["left out"][5].strip() == "gone"
    assert "commit: unknown -> abc" in said


def test_rows_are_compared_by_their_work_and_their_order_not_by_what_they_are_measured_against(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.comparing import compared
    from benchmarks.results import from_json

    old = [row("packs", "<= 2x", 1.5, against="GFT-1, 0.2 us"), row("twice", ">= 8x", 10.0, against="(a)"),
           row("twice", ">= 8x", 90.0, against="(b)")]  # fmt: skip
    new = [row("packs", "<= 2x", 1.5, against="GFT-1, 0.3 us"), row("twice", ">= 8x", 20.0, against="(a)"),
           row("twice", ">= 8x", 9.0, against="(b)"), row("twice", ">= 8x", 1.0)]  # fmt: skip
    lines = [(work, times, said) for work, _, _, times, said in compared(from_json(old), from_json(new))]
    assert lines == [("packs", 1.0, ""), ("twice", 2.0, "better"), ("twice", 0.1, "worse"), ("twice", None, "new")]


def test_a_file_that_is_not_a_benchmark_is_refused_in_one_sentence(bench, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(SystemExit, match="is not a file that `python -m benchmarks` wrote"):
        bench("compare", str(tmp_path / "other.json"), str(tmp_path / "none.json"))


def test_a_row_that_misses_its_goal_says_by_what_bound_and_others_do_not_measure_it(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import bounds
    from benchmarks.results import Bench, markdown_of
    from rich.console import Console

    monkeypatch.setattr(bounds, "other_work", lambda: None)
    asked, console = [], Console(record=True, width=200)
    bench = Bench(console, quick=True)
    for work, value in (("fast", 1.0), ("slow", 3.0)):
        bench.row(work, "<= 2 us", value, bound=lambda work=work: asked.append(work) or "memory: 1 MB in 9 us")
    fast, slow = markdown_of(bench.rows).splitlines()[2:]
    said = console.export_text()
    assert asked == ["slow"]
    assert "fast: 1 us ; goal <= 2 us: reached" in said and "missed, bound by memory: 1 MB in 9 us" in said
    assert "missed" not in fast and "3 us, missed, bound by memory: 1 MB in 9 us" in slow


@pytest.mark.slow
def test_a_run_writes_its_rows_and_its_machine(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "mixture", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "bench.json").read_text())
    assert {"cpu", "cores", "memory_gb", "python", "numpy", "numba", "blas", "commit"} <= content["machine"].keys()
    (only,) = content["rows"]
    assert only["part"] == "mixture" and only["difference"] < 1e-9 and only["engine"] == "grid"
    assert "1-D mixture" in (tmp_path / "bench.md").read_text()


def test_the_page_shows_the_rows_that_were_measured(monkeypatch):
    """docs/benchmark.json is what `python -m benchmarks` wrote; the table of the page is nothing else."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.results import from_json, markdown_of

    rows = from_json(json.loads((ROOT / "docs" / "benchmark.json").read_text())["rows"])
    assert len(rows) > 40
    assert markdown_of(rows) in (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")

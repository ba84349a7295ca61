"""The commands do what their help says, and what they write is right."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from PIL import Image

import nimt as library
from nimt.cli.app import COMMANDS, EXAMPLES
from nimt.cli.console import UNREAD
from nimt.cli.terminal_curve import terminal_curve
from nimt.lesson.lesson import Lesson
from nimt.measures import MEASURES
from nimt.recipe.recipe import Recipe

pytestmark = pytest.mark.long

FIGURES = {"curve.png", "panels.png", "report.html", "replay.html"}
WRITTEN = FIGURES | {"lesson.npz", "summary.json", "run.toml"}
QUICK = ("--iterations", "20", "--every", "10")


def examples_of(name: str) -> tuple[str, ...]:
    return tuple(importlib.import_module(f"nimt.cli.{name.replace('-', '_')}").EXAMPLES)


def test_help_loads_nothing_heavy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'matplotlib', 'numba', 'PIL'}"
    script = f"import sys; from nimt.cli.app import run; run(['--help']); sys.exit(str({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"


@pytest.mark.long
def test_show_loads_neither_scikit_learn_nor_what_draws_and_compiles(undrawn, nimt, tmp_path):
    (tmp_path / "rows.csv").write_text("size,kind,price\n" + "".join(f"{i},{'ab'[i % 2]},{i * i}\n" for i in range(40)))
    for source in ("gmm", "rows.csv"):
        assert nimt("teach", source, "-n", "5", "--out", f"run-{source}").code == 0
    heavy = "{'scipy', 'sklearn', 'pandas', 'matplotlib', 'numba'}"
    script = f"""
import sys
from nimt.cli.app import run
codes = [run(["show", *order.split()]) for order in sys.argv[1:]]
sys.exit(f"{{codes}} {{sorted({heavy} & set(sys.modules))}}")
"""
    orders = ["run-gmm", "run-gmm --json", "run-rows.csv", "run-rows.csv/lesson.npz --json"]
    done = subprocess.run([sys.executable, "-c", script, *orders], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[0, 0, 0, 0] []"
    assert '"held_out_points": 4' in done.stdout


def test_version(nimt):
    answer = nimt("--version")
    assert (answer.code, answer.out) == (0, f"nimt {library.__version__}\n")


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_help_shows_its_examples(nimt, name, monkeypatch):
    answer = nimt(*([name] if name else []), "--help")
    assert answer.code == 0
    lines = {line.strip() for line in answer.out.splitlines()}
    for example in EXAMPLES if not name else examples_of(name):
        assert example in lines


@pytest.mark.slow
@pytest.mark.parametrize("name", ["teach", "compare", "resume", "others"])
def test_every_example_works_as_pasted(nimt, name, tmp_path):
    np.save(tmp_path / "huge.npy", np.sin(np.add.outer(np.arange(96), np.arange(96)) / 30))
    names = (name,) if name != "others" else ("demo", "show", "plan")
    lines = [line for one in names for line in examples_of(one)] + list(EXAMPLES if name == "others" else ())
    for example in dict.fromkeys(lines):
        program, command, *options = shlex.split(example)
        assert program == "nimt"
        answer = nimt(command, *options)
        assert answer.code == 0, (example, answer.err)


def test_teach_writes_everything(nimt, tmp_path):
    papers = ("--learning-rate", "0.01", "--tol", "1e-4")
    answer = nimt("teach", "gmm", "--from", "gmm:start", *papers, "--figures", "all", "--out", "run")
    assert answer.code == 0, answer.err
    folder = tmp_path / "run"
    names = {path.name for path in folder.iterdir()}
    assert names - {"lesson.mp4"} == WRITTEN | {"lesson.gif"}
    lesson = Lesson.load(folder / "lesson.npz")
    assert lesson.itd == 3056  # the paper's figure
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["itd"] == 3056 and summary["outcome"] == "CONVERGED" and summary["distinct_points"] == 146
    assert "3,056" in answer.out and "run" in answer.out and "the discrepancy fell below the tolerance" in answer.out
    with Image.open(folder / "lesson.gif") as film:
        steps = {0, len(lesson), *lesson.snapshots}
        assert film.n_frames == len(steps)
    for name in ("curve.png", "panels.png"):
        with Image.open(folder / name) as figure:
            assert np.ptp(np.asarray(figure.convert("L"))) > 100


@pytest.mark.parametrize(("option", "left_out"), [((), set()), (("--figures", "none"), FIGURES)])
def test_figures_and_the_animation_are_left_out_where_they_are_not_asked_for(nimt, tmp_path, option, left_out):
    assert nimt("teach", "sine", *QUICK, *option, "--out", "run").code == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == WRITTEN - left_out


def test_the_page_needs_no_network(nimt, tmp_path):
    assert nimt("teach", "sine", *QUICK, "--out", "run").code == 0
    text = (tmp_path / "run" / "report.html").read_text()
    assert "http" not in text and "<script" not in text
    sources = re.findall(r'(?:src|href)="([^"]{0,30})', text)
    assert len(sources) == 2 and all(source.startswith("data:image/") for source in sources)
    for word in ("numpy", library.__version__, "GFT-1", "square", "target = "):
        assert word in text


def test_the_run_can_be_repeated_from_its_file(undrawn, nimt, tmp_path, monkeypatch):
    np.save(tmp_path / "curve.npy", np.sin(np.arange(30)))
    command = ("teach", "curve.npy", "--teacher", "random", "-k", "0.1", "--kernel", "RBF(2.0) + 0.1 * Matern(3.0)")
    assert nimt(*command, *QUICK, "--seed", "5", "--pool", "0.9", "--out", "one").code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert nimt("teach", "--config", tmp_path / "one" / "run.toml", "--out", "two").code == 0
    one, two = Lesson.load(tmp_path / "one" / "lesson.npz"), Lesson.load(tmp_path / "elsewhere" / "two" / "lesson.npz")
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.discrepancy, two.discrepancy)
    files = [
        tomllib.loads((folder / "run.toml").read_text())
        for folder in (tmp_path / "one", tmp_path / "elsewhere" / "two")
    ]
    assert [file.pop("target") for file in files] == ["../curve.npy", "../../curve.npy"]  # as seen from each
    assert files[0] == files[1]


def test_options_win_over_the_file(undrawn, nimt, tmp_path):
    (tmp_path / "run.toml").write_text('target = "gmm"\niterations = 7\nk = 2\nlearning_rate = 0.25\n')
    assert nimt("teach", "--config", "run.toml", "--iterations", "3", "--out", "run").code == 0
    lesson = Lesson.load(tmp_path / "run" / "lesson.npz")
    assert lesson.indices.shape == (3, 2) and lesson.settings["learner"]["learning_rate"] == 0.25
    assert nimt("teach", "sine", "--config", "run.toml", "--out", "other").code == 0
    assert len(Lesson.load(tmp_path / "other" / "lesson.npz").pool) == 120


def test_every_setting_survives_its_file(tmp_path):
    from nimt.recipe.recipe import read_settings

    settings = Recipe(
        target="gmm", size=3, strict=True, features="a,b", target_column='odd "name"\\', pool=0.5, other_target="sine",
        tol="1e-300", every=4, teachers="greedy:1", seeds=2, width=1 / 3,
    )  # fmt: skip
    (tmp_path / "run.toml").write_text(settings.to_toml(), encoding="utf-8")
    assert Recipe(**read_settings(tmp_path / "run.toml")) == settings


def test_json_alone_on_stdout_and_silence(undrawn, nimt, tmp_path):
    answer = nimt("teach", "gmm", *QUICK, "--json", "--out", "run")
    assert json.loads(answer.out)["steps"] == 20 and answer.err == ""
    answer = nimt("teach", "gmm", *QUICK, "--quiet", "--out", "silent")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    answer = nimt("show", "run", "--json")
    assert json.loads(answer.out)["steps"] == 20


def test_require(undrawn, nimt):
    assert nimt("teach", "gmm", *QUICK, "--require", "--out", "a").code == 1
    assert nimt("teach", "gmm", *QUICK, "--require", "--tol", "1", "--out", "b").code == 0
    assert nimt("resume", "a", "--require").code == 1
    answer = nimt("teach", "gmm", *QUICK, "--out", "c")
    assert answer.code == 0 and "go on with: nimt resume c --iterations 40" in answer.out


def test_require_knows_a_measure_that_rises(undrawn, nimt, tmp_path):
    rows = "".join(f"{x},{'high' if x > 6 else 'low'}\n" for x in range(13))
    (tmp_path / "classes.csv").write_text("x,kind\n" + rows, encoding="utf-8")
    told = ("teach", "classes.csv", "--reference", "none", "--holdout", "0", "--keep", "last", "--measure", "accuracy")
    answer = nimt(*told, "--tol", "0.8", "--require", "--out", "run")
    assert answer.code == 0 and "the measure reached the tolerance" in answer.out


def test_a_folder_of_its_own(undrawn, nimt, tmp_path):
    for _ in range(2):
        assert nimt("teach", "digit:0", "--iterations", "1", "--quiet").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"nimt-digit-0", "nimt-digit-0-2"}


@pytest.mark.parametrize(
    ("options", "k"),
    [((), 1), (("-k", "3"), 3), (("-k", "0.1"), 28), (("-k", "1.0"), 280), (("--teacher", "whole"), 280)],
)
def test_packs(undrawn, nimt, tmp_path, options, k):
    assert nimt("teach", "gmm", "--iterations", "2", *options, "--out", "run").code == 0
    assert Lesson.load(tmp_path / "run" / "lesson.npz").indices.shape == (2, k)


def test_a_lesson_that_diverges_is_written_and_warned_of(nimt, tmp_path):
    answer = nimt("teach", "gmm", "--learning-rate", "50", "--iterations", "3000", "--out", "run")
    assert answer.code == 0, answer.err
    assert "nimt: warning: the learning rate 50" in answer.err and "lower the learning rate" in answer.out
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["outcome"] == "DIVERGED"
    assert nimt("show", "run").code == 0


def test_a_lesson_that_is_over_before_it_begins(nimt, tmp_path):
    answer = nimt("teach", "gmm", "--from", "gmm", "--out", "run")
    assert answer.code == 0, answer.err
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["itd"] == 0
    assert "no positive finite value" in nimt("show", "run").out


def table(path, features):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, features))
    rows = [",".join(f"x{i}" for i in range(features)) + ",y"]
    rows += [",".join(repr(float(value)) for value in (*point, np.sin(point.sum()))) for point in points]
    path.write_text("\n".join(rows))


@pytest.mark.parametrize("features", [1, 2, 3])
def test_tables_of_any_dimension_are_drawn(nimt, tmp_path, features):
    table(tmp_path / "table.csv", features)
    answer = nimt(
        "teach", "table.csv", *QUICK, "--kernel", "matern", "--width", "1", "--scale-features", "--out", "run"
    )
    assert answer.code == 0, answer.err
    assert "target y" in answer.err
    assert {path.name for path in (tmp_path / "run").iterdir()} >= WRITTEN


def test_compare_writes_everything(nimt, tmp_path):
    command = ("compare", "gmm", "--from", "gmm:start", "--teachers", "greedy:1,random:0.05,whole", "--seeds", "2")
    answer = nimt(*command, "--iterations", "300", "--engine", "reference", "--tol", "1e-4", "--out", "run")
    assert answer.code == 0, answer.err
    content = json.loads((tmp_path / "run" / "comparison.json").read_text())
    assert [row["name"] for row in content["teachers"]] == ["greedy:1", "random:0.05", "whole"]
    assert [row["seeds"] for row in content["teachers"]] == [1, 2, 1]
    for row in content["teachers"]:
        assert row["choosing"] + row["learning"] == pytest.approx(row["seconds"])
    lesson = Lesson.load(tmp_path / "run" / "random-0.05-seed-1.npz")
    assert (
        len(lesson) == content["teachers"][1]["steps_range"][1]
        or len(lesson) == content["teachers"][1]["steps_range"][0]
    )
    for word in ("greedy:1", "choosing", "learning"):
        assert word in answer.out
    assert "http" not in (tmp_path / "run" / "report.html").read_text()
    again = nimt("compare", "--config", "run/run.toml", "--json", "--out", "again")
    assert [row["steps"] for row in json.loads(again.out)["teachers"]] == [row["steps"] for row in content["teachers"]]
    answer = nimt("resume", "run")
    assert answer.code == 2 and "comparison" in answer.err


def test_plan(nimt, tmp_path):
    answer = nimt("plan", "digit:0")
    assert answer.code == 0 and answer.out.strip()
    assert json.loads(nimt("plan", "digit:0", "--engine", "reference", "--json").out)["engine"] == "reference"
    assert list(tmp_path.iterdir()) == []


def test_plan_prints_the_program_of_the_lesson(nimt, tmp_path):
    options = (
        "gmm",
        "--from",
        "gmm:start",
        "-k",
        "2",
        "--learning-rate",
        "0.02",
        "--tol",
        "0.01",
        "--measure",
        "paper",
    )
    answer = nimt("plan", *options, "--python")
    assert answer.code == 0, answer.err
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(answer.out, "printed", "exec"), names)  # what a person does with it
    assert nimt("teach", *options, "--figures", "none", "--out", "run").code == 0
    np.testing.assert_array_equal(names["lesson"].discrepancy, Lesson.load(tmp_path / "run" / "lesson.npz").discrepancy)
    assert nimt("plan", "gmm", "--python", "--json").code == 2


def test_the_terminal_curve_falls_where_the_lesson_does():
    lines = terminal_curve(10.0 ** -np.linspace(0, 4, 500), width=40, height=8)
    heights = [sum(line[11 + column : 12 + column].strip() != "" for line in lines[:8]) for column in range(40)]
    assert heights == sorted(heights, reverse=True) and heights[0] == 8 and heights[-1] == 1
    assert lines[-1].split() == ["0", "499"]
    assert terminal_curve(np.array([np.nan, 0.0])) == ["there is no positive finite value to draw"]
    assert len(terminal_curve(np.array([2.0]))) == 12


def test_the_numbers_beside_the_terminal_curve_are_values_of_the_lesson():
    falling = terminal_curve(np.linspace(56.9, 0.464, 1501))
    assert falling[0].startswith("  5.7e+01") and falling[9].startswith("  4.6e-01")
    rising = terminal_curve(np.linspace(0.314, 0.805, 300), measure=MEASURES["accuracy"])
    assert rising[0].startswith("    80.5%") and rising[9].startswith("    31.4%")


def test_the_progress_bar_is_for_terminals_only(server, tmp_path):
    """On a terminal it is drawn, and the numbers are in it; a file gets none of it."""
    pty = pytest.importorskip("pty")
    command = ("teach", "gmm", "--iterations", "3000", "--tol", "0", "--engine", "reference", "--out", tmp_path / "a")
    parent, child = pty.openpty()
    environment = {"TERM": "xterm", "COLUMNS": "140"}
    started = server.start(
        *command, terminal=os.ttyname(child), hears_hangup=False, environment=environment, undrawn=True
    )
    seen = os.read(parent, 65536)
    os.close(child)  # the other side of the terminal is now that of the program alone
    with contextlib.suppress(OSError):  # which it closes at its end
        while part := os.read(parent, 65536):
            seen += part
    os.close(parent)
    answer = server.wait(started)
    assert answer.code == 0 and answer.out
    text = seen.decode()
    assert "of 3,000" in text and " left, " in text and "steps/s" in text
    again = server.run(*command, "--overwrite", environment=environment, undrawn=True)
    assert again.code == 0 and "steps/s" not in again.err


@pytest.mark.parametrize("command", [("show", "run", "--json"), ("show", "run"), ("plan", "gmm"), ("teach", "sine")])
def test_a_reader_that_goes_away_is_no_mistake(undrawn, nimt, server, tmp_path, command):
    """As in `nimt show run | true`: not 1, which says that the tolerance was not reached, and no traceback."""
    assert nimt("teach", "gmm", *QUICK, "--quiet", "--out", "run").code == 0
    done = server.run(*command, unread=1, cwd=str(tmp_path), undrawn=True)
    assert done.code == UNREAD
    assert "Traceback" not in done.err and "BrokenPipe" not in done.err and "error" not in done.err


def test_a_reader_that_goes_away_is_no_mistake_when_python_ends():
    """Python writes what is left when it ends, which is too late to say anything."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "nimt", "--help"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (UNREAD, "")


@pytest.mark.parametrize(("kernel", "width"), [("rbf", 0.7), ("RBF(0.7)", 0.7 * 2**0.5), ("matern", None)])
def test_the_width_is_shown_as_it_was_given(undrawn, nimt, kernel, width):
    """exp(-|x - y|^2 / width^2) against scikit-learn's length scale, width / sqrt(2)."""
    assert nimt("teach", "gmm", *QUICK, "--kernel", kernel, "--width", "0.7", "--quiet", "--out", "run").code == 0
    found = json.loads(nimt("show", "run", "--json").out)["kernel_width"]
    assert found == (None if width is None else pytest.approx(width, rel=1e-15))
    shown = [line.split()[-1] for line in nimt("show", "run").out.splitlines() if "kernel width" in line]
    assert shown == ([] if width is None else [f"{width:.6g}"])


def test_the_example_of_resume_has_steps_left_to_take(undrawn, nimt):
    """At the learning rate auto takes the lesson would be over long before the first budget."""
    first, second = (shlex.split(line)[1:] for line in examples_of("resume"))
    assert "the iteration budget ran out" in nimt(*first).out
    answer = nimt(*second)
    assert answer.code == 0 and "3,942" in answer.out


def test_the_demo_says_why_it_takes_as_many_steps(undrawn, nimt):
    answer = nimt("demo")
    assert "3,056" in answer.out and "--learning-rate 0.01" in answer.out and "the paper's learning rate" in answer.out


@pytest.mark.parametrize("arguments", [("gmm",), ("gmm", "--from", "gmm:start"), ("sine", "--from", "gmm")])
def test_a_taught_learner_predicts_between_and_beyond_the_points(undrawn, nimt, arguments):
    from nimt.lesson.lesson import Lesson

    assert nimt("teach", *arguments, "-n", 5, "--out", "g", "-q").code == 0
    learner = Lesson.load("g/lesson.npz").learner
    assert np.isfinite(learner.predict([[0.05], [99.0]])).all()


def test_a_learner_that_starts_from_a_picture_predicts_between_its_pixels(undrawn, nimt):
    from nimt.lesson.lesson import Lesson

    assert nimt("teach", "digit:0", "--from", "digit:8", "-n", 5, "--out", "d", "-q").code == 0
    learner = Lesson.load("d/lesson.npz").learner
    assert np.isfinite(learner.predict([[3.5, 10.25]])).all()

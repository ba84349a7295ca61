"""What `nimt teach` makes of real rows: it teaches a model of them, keeps the best learner, and says what it did."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest

from nimt.kernels.expressions import parse_kernel
from nimt.lesson.lesson import Lesson
from nimt.lesson.outcome import Outcome
from nimt.recipe.recipe import Recipe


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out the figures, which take seconds and are looked at elsewhere."""
    monkeypatch.setattr("nimt.cli.written_results._draw", lambda lesson, folder, settings, **how: [folder.lesson])


def write_rows(path, names, *columns):
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    Path(path).write_text(",".join(names) + "\n" + "\n".join(lines) + "\n")


def taught(nimt, *arguments):
    answer = nimt("teach", *arguments, "--json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out), answer.err


@pytest.fixture
def noisy():
    """A table of a line with much noise."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200)).round(4)
    write_rows("noisy.csv", ["a", "b", "y"], a, b, (a - b + rng.normal(0, 2, 200) + 50).round(3))


@pytest.mark.long
def test_diabetes_is_taught_as_well_as_ridge_fits_it(nimt, undrawn):
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import RidgeCV

    load_diabetes(as_frame=True, scaled=False).frame.to_csv("diabetes.csv", index=False)
    found, said = taught(nimt, "diabetes.csv", "--out", "run")
    lesson = Lesson.load("run/lesson.npz")
    held = lesson.settings["holdout"]
    frame = load_diabetes(scaled=False)
    rows = np.asarray(lesson.pool.rows) - 2
    ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(lesson.pool.points, frame.target[rows])
    assert found["held_out_r2"] > ridge.score(held["points"], held["target"]) - 0.05
    assert "by cross-validation: --reference none teaches the rows" in said
    assert set(held["target"]) <= set(frame.target)  # their own labels


def test_a_model_of_the_rows_is_taught_and_not_their_noise(nimt, undrawn, noisy):
    options = ("--width", "3", "-n", "3000", "--keep", "last")
    found, said = taught(nimt, "noisy.csv", *options, "--out", "a")
    rows, told = taught(nimt, "noisy.csv", *options, "--reference", "none", "--out", "b")
    assert "nimt: f* is " in said and "R^2 0." in said and "f* is" not in told
    assert found["held_out_r2"] > max(0.1, rows["held_out_r2"] + 0.1)


def test_a_model_no_better_than_the_mean_is_told(nimt, undrawn):
    rng = np.random.default_rng(0)
    write_rows("noise.csv", ["a", "y"], rng.normal(size=60).round(3), rng.standard_cauchy(60).round(3))
    said = taught(nimt, "noise.csv", "--width", "1", "-n", "5", "--out", "run")[1]
    assert "f* is no better than the mean of the labels" in said


@pytest.mark.parametrize("value", ["ridge", ""])
def test_a_reference_that_is_not_known_is_refused(nimt, noisy, value):
    answer = nimt("teach", "noisy.csv", "--reference", value)
    assert answer.code == 2 and answer.is_one_sentence() and "--reference must be auto or none" in answer.err


def test_rows_that_are_too_few_for_a_model_are_taught_themselves_with_a_note(nimt, undrawn):
    write_rows("few.csv", ["a", "y"], range(4), [0, 1, 4, 9])
    found, said = taught(nimt, "few.csv", "--width", "1", "-n", "5", "--out", "run")
    assert "f* is the rows themselves, because no model can be made of them" in said and found["steps"] == 5


def test_the_learner_that_was_best_on_rows_held_out_is_kept(nimt, undrawn, noisy):
    options = ("noisy.csv", "--reference", "none", "--width", "1", "-n", "3000", "--out")
    last, said = taught(nimt, *options, "last", "--keep", "last")
    assert "is kept" not in said
    best, said = taught(nimt, *options, "best")
    lesson = Lesson.load("best/lesson.npz")
    curve, held = lesson.held_out_curve, lesson.settings["holdout"]
    half, chosen = held["choosing"], best["steps"]
    assert half == len(held["points"]) // 2 and best["held_out_points"] == len(held["points"]) - half
    assert chosen == min(curve, key=curve.get) < last["steps"] and best["held_out_rms"] < last["held_out_rms"]

    def error(part):  # the rows that choose are not those of which is told
        return np.sqrt(np.mean((lesson.taught.predict(held["points"][part]) - held["target"][part]) ** 2))

    assert curve[chosen] == pytest.approx(error(slice(half)))
    assert best["held_out_rms"] == pytest.approx(error(slice(half, None)))
    assert f"the learner of step {best['steps']:,} is kept, of {last['steps']:,} steps" in said
    assert "which are not those it is measured on" in said and "--keep last keeps the last" in said
    assert lesson.outcome is Outcome.CHOSEN and len(lesson) == best["steps"]
    assert best["kept"] == f"that of step {chosen:,}, the best on rows held out"
    assert last["kept"] == f"the last, of step {last['steps']:,}"
    np.testing.assert_array_equal(lesson.indices, Lesson.load("last/lesson.npz").indices[: len(lesson)])
    assert "the lesson is over" in nimt("resume", "best", "-n", "5000").err


def test_more_steps_are_not_advised_where_rows_held_out_got_worse(nimt, noisy):
    options = ("noisy.csv", "--reference", "none", "--width", "1", "--keep", "last", "--figures", "none")
    said = nimt("teach", *options, "-n", "3000", "--out", "worse").out
    curve = Lesson.load("worse/lesson.npz").held_out_curve
    best = min(curve, key=curve.get)
    assert f"rows held out were predicted best at step {best:,}, so that more steps may not help\n" in said
    assert "nimt resume" not in said
    x = np.linspace(-2, 2, 60).round(4)
    write_rows("clean.csv", ["x", "y"], x, np.sin(x).round(6))
    said = nimt("teach", "clean.csv", *options[1:], "-n", 30, "--out", "best").out
    assert "may not help" not in said and "go on with: nimt resume best" in said


def test_a_lesson_that_ends_best_is_kept_as_it_is(nimt, undrawn):
    x = np.linspace(-2, 2, 60).round(4)
    write_rows("clean.csv", ["x", "y"], x, np.sin(x).round(6))
    found, said = taught(nimt, "clean.csv", "--out", "run")
    assert found["outcome"] == "CONVERGED" and "is kept" not in said


def test_a_lesson_on_a_table_of_numbers_starts_at_their_mean(nimt, undrawn, noisy):
    taught(nimt, "noisy.csv", "--width", "1", "-n", "3", "--reference", "none", "--keep", "last", "--out", "run")
    lesson = Lesson.load("run/lesson.npz")
    np.testing.assert_allclose(lesson.initial, lesson.target.mean())
    assert lesson.taught.predict([[1e6, 1e6]])[0] == pytest.approx(lesson.target.mean())  # far from all rows, too
    taught(nimt, "noisy.csv", "--width", "1", "-n", "3", "--from", "zero", "--out", "zero")
    assert not Lesson.load("zero/lesson.npz").initial.any()


# ---------------------------------------------------------------- classes, ids and rows that repeat


@pytest.fixture
def numbered():
    """A table whose target is of three classes, written as numbers."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 90)).round(4)
    write_rows("numbered.csv", ["a", "b", "kind"], a, b, np.digitize(a, [-0.5, 0.5]))


def test_whole_numbers_that_name_classes_are_taken_for_classes_with_a_note(nimt, undrawn, numbered):
    options = ("--width", "1", "-n", "50", "--out")
    found, said = taught(nimt, "numbered.csv", *options, "a")
    assert "the target kind holds few whole numbers (0, 1, 2), taken for classes: --numbers" in said
    assert found["classes"] == "0, 1, 2" and found["held_out_accuracy"] > 0.7
    assert "the lesson is over" in nimt("resume", "a").err  # its run.toml says that they are classes
    for more in (("--numbers",), ("--loss", "square")):
        found, said = taught(nimt, "numbered.csv", *more, *options, "b", "--overwrite")
        assert found["classes"] is None and "taught as numbers: --classes takes them for classes" in said
    write_rows("many.csv", ["a", "y"], np.arange(60) / 7, np.arange(60))
    found, said = taught(nimt, "many.csv", *options, "c")
    assert found["classes"] is None and "whole numbers (" not in said


def test_several_classes_under_the_logistic_loss_are_taught_by_the_cross_entropy(nimt, undrawn, numbered):
    found, said = taught(nimt, "numbered.csv", "--loss", "logistic", "--width", "1", "-n", "300", "--out", "run")
    assert found["loss"] == "crossentropy" and found["held_out_accuracy"] > 0.8
    assert "the logistic loss is for two classes, and there are 3: the loss is crossentropy" in said


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_column_that_names_rows_by_a_number_is_noticed(nimt, undrawn, shuffled):
    rng = np.random.default_rng(0)
    names = 1000 + 7 * (rng.permutation(60) if shuffled else np.arange(60))
    x = rng.normal(size=60).round(3)
    write_rows("t.csv", ["customer", "x", "y"], names, x, 2 * x)
    _, said = taught(nimt, "t.csv", "--width", "1", "-n", "5", "--out", "run")
    assert "column customer looks like an id" in said and "column x looks" not in said


def test_rows_that_repeat_a_point_are_averaged_with_a_note(nimt, undrawn):
    x = np.repeat(np.arange(20), 2) / 10
    write_rows("t.csv", ["x", "y"], x, np.arange(40) / 7)
    found, said = taught(nimt, "t.csv", "--width", "1", "-n", "5", "--out", "run")
    assert found["points"] + 2 * found["held_out_points"] == 20  # half of those held out choose the step
    assert "20 row(s) repeat a point, 20 of them with different targets, taught as their mean" in said
    answer = nimt("teach", "t.csv", "--duplicates", "refuse")
    assert answer.code == 2 and "come with different targets" in answer.err


# ---------------------------------------------------------------- what is said, and where


@pytest.mark.long
def test_what_was_warned_of_and_decided_is_in_the_lesson_the_summary_and_the_page(nimt, noisy):
    options = ("--reference", "none", "--width", "0.05", "-n", "300", "--raw-features", "--out", "run")
    answer = nimt("teach", "noisy.csv", *options)
    narrow = next(line for line in answer.err.splitlines() if "the kernel reaches almost no neighbour" in line)
    lesson, summary = Lesson.load("run/lesson.npz"), json.loads(Path("run/summary.json").read_text())
    page = html.unescape(Path("run/report.html").read_text())
    said = lesson.warnings
    assert narrow.removeprefix("nimt: warning: ") in said and summary["warnings"] == said and len(said) == 3
    assert "more steps" not in answer.err  # it has taken more, and they hurt
    assert all(text in page for text in [*said, *summary["notes"]])
    assert any("40 of 200 rows are held out" in text for text in summary["notes"])
    assert "The rows shown" in page and "times shown" in page
    before = said[:]
    assert nimt("show", "run", "--figures").code == 0
    assert json.loads(Path("run/summary.json").read_text())["warnings"] == before


def test_advice_names_no_way_that_was_tried_or_hurts(nimt, undrawn, noisy):
    rng = np.random.default_rng(0)
    write_rows("noise.csv", ["a", "b", "y"], *rng.normal(size=(2, 200)).round(4), rng.standard_cauchy(200).round(4))
    options = ("--keep", "last", "--width", "1", "-n", "500", "--out")
    _, said = taught(nimt, "noise.csv", *options, "a")
    assert "worse than the mean" in said and "--teacher random" in said
    assert "more steps" not in said and "--missing drop" not in said
    _, said = taught(nimt, "noise.csv", *options, "b", "--teacher", "random")
    assert "worse than the mean" in said and "--teacher random" not in said
    _, said = taught(nimt, "noise.csv", *options, "c", "--reference", "none")
    assert "labels: leave out --reference none, which teaches the rows with their noise" in said
    assert "--teacher random" not in said


# ---------------------------------------------------------------- predict and export


def test_predictions_keep_all_columns_the_separator_and_the_decimal_sign(nimt, undrawn):
    x = np.linspace(-2, 2, 40).round(3)
    write_rows("t.csv", ["x", "y"], x, np.sin(x).round(5))
    taught(nimt, "t.csv", "--width", "1", "-n", "200", "--out", "run")
    Path("new.csv").write_text('id;x;remark\nA-01;0,5;"one; two"\nA-02;007;3\n')
    head, first, second = nimt("predict", "run", "new.csv").out.splitlines()
    assert head == "id;x;remark;predicted y"
    assert first.startswith('A-01;0,5;"one; two";0,4') and second.startswith("A-02;007;3;")
    Path("new.tsv").write_text("id\tx\nA\t0.5\n")
    assert nimt("predict", "run", "new.tsv").out.splitlines()[1].startswith("A\t0.5\t0.4")


def test_the_export_of_an_orthogonal_learner_is_its_expansion(nimt, undrawn):
    x = np.linspace(-2, 2, 40).round(3)
    write_rows("t.csv", ["x", "y"], x, np.sin(x).round(5))
    taught(nimt, "t.csv", "--learner", "orthogonal", "--width", "1", "-n", "6", "--out", "run")
    answer = nimt("export", "run")
    assert "learner.npz" in answer.out
    with np.load("run/learner.npz") as arrays:
        kernel = parse_kernel(str(arrays["kernel"]), dimension=1)
        points = (np.array([[0.3], [1.1]]) - arrays["mean"]) / arrays["deviation"]
        values = arrays["start"] + kernel(points, arrays["centers"]) @ arrays["coefficients"]
    np.testing.assert_allclose(values, Lesson.load("run/lesson.npz").learner.predict({"x": [0.3, 1.1]}))


# ---------------------------------------------------------------- no path of this computer, minutes, small replays


@pytest.mark.long
def test_run_files_and_pages_hold_no_absolute_path_and_work_from_elsewhere(nimt, tmp_path, monkeypatch, noisy):
    table = str(tmp_path / "noisy.csv")
    assert nimt("teach", table, "--width", "1", "-n", "30", "--out", str(tmp_path / "run"), "-q").code == 0
    for path in (tmp_path / "run").iterdir():
        assert str(tmp_path).encode() not in path.read_bytes(), path.name
    assert 'target = "../noisy.csv"' in Path("run/run.toml").read_text()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert nimt("resume", "../run", "-n", "40", "-q").code == 0
    assert nimt("teach", "--config", "../run/run.toml", "--out", "again", "-q").code == 0
    one, other = Lesson.load("../run/lesson.npz"), Lesson.load("again/lesson.npz")
    np.testing.assert_array_equal(one.discrepancy, other.discrepancy)


def test_a_file_with_the_name_of_a_function_stays_a_file_in_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sine").touch()
    Path("run.toml").write_text(Recipe(target="./sine", initial="zero").to_toml(tmp_path))
    assert Recipe.read(Path("run.toml")).target == "./sine"
    Path("run.toml").write_text(Recipe(target="sine", initial="zero").to_toml(tmp_path))
    assert Recipe.read(Path("run.toml")).target == "sine"


def test_plans_and_forecasts_say_how_long_it_takes(nimt):
    command = ("gmm", "--from", "gmm:start", "--learning-rate", "0.01", "--tol", "1e-4")
    assert "steps take less than a minute" in nimt("plan", *command).out
    assert "That takes less than a minute." in nimt("forecast", *command).out
    short = nimt("forecast", *command, "-n", "2000").out
    assert "is not reached in" in short and "2,000 steps take less than a minute." in short
    long = nimt("plan", "cat", "--engine", "reference", "-n", "10000000", "--tol", "0").out
    assert "10,000,000 steps take about" in long and "minutes" in long


def test_a_replay_that_is_too_large_is_not_left_behind(nimt, monkeypatch):
    monkeypatch.setattr("nimt.replay.player_page.MOST_BYTES", 10_000)
    answer = nimt("teach", "sine", "-n", "50", "--out", "run")
    assert answer.code == 0 and not Path("run/replay.html").exists()
    assert "replay.html is left out" in answer.err and "replay.html" not in answer.out


def test_classes_that_no_feature_tells_apart_are_taught_all_the_same(nimt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kinds = ("c", "ab", "ab", "ab")
    rows = "".join(f"{(i * 7) % 40},{kinds[i % 4]}\n" for i in range(40))
    (tmp_path / "rows.csv").write_text("x,kind\n" + rows)
    answer = nimt("teach", "rows.csv", "--iterations", "5", "--figures", "none", "--out", "run")
    assert answer.code == 0, answer.err


def test_of_many_rows_some_are_drawn_to_be_taught_and_held_out_and_that_is_said(nimt, undrawn, monkeypatch):
    monkeypatch.setattr("nimt.sources.tables.MOST_HELD_OUT", 20)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300)).round(4)
    write_rows("many.csv", ["a", "b", "y"], a, b, (a - b).round(3))
    _, said = taught(nimt, "many.csv", "--most-rows", "100", "-n", "50", "--out", "run")
    assert "20 of 300 rows are held out" in said
    assert "100 of 300 rows are taught, drawn at random: --most-rows sets another number" in said
    lesson = Lesson.load("run/lesson.npz")
    assert len(lesson.pool) == 100 and len(lesson.settings["holdout"]["points"]) == 20
    assert len(set(np.asarray(lesson.pool.rows))) == 100
    _, said = taught(nimt, "many.csv", "--holdout", "0.5", "-n", "50", "--out", "all")
    assert len(Lesson.load("all/lesson.npz").pool) == 150 and "drawn at random" not in said
    assert "--most-rows must be a whole number >= 2" in nimt("teach", "many.csv", "--most-rows", "1").err


def test_what_takes_long_is_told_while_it_is_done(nimt, undrawn, noisy, monkeypatch):
    monkeypatch.setattr("nimt.cli.console.SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr("nimt.sources.table_files.LARGE_TABLE", 0)
    answer = nimt("teach", "noisy.csv", "-n", "5", "--out", "run")
    lines = answer.err.splitlines()
    assert lines[0] == "nimt: reading noisy.csv"
    assert lines[1] == "nimt: loading models of rows, of which one becomes f*"
    assert "nimt: comparing models of the rows for f*: ridge, 1 of 4, fold 5 of 5" in lines
    assert "nimt: trying 6 widths of the kernel, 6 of 6" in lines
    assert not nimt("teach", "noisy.csv", "-n", "5", "--out", "silent", "-q").err


def test_a_large_table_is_planned_without_a_model_of_its_rows(nimt, noisy, monkeypatch):
    monkeypatch.setattr("nimt.cli.plan.MOST_MODELLED", 100)
    answer = nimt("plan", "noisy.csv", "-n", "1000")
    assert answer.code == 0 and "comparing models" not in answer.err
    assert "how many steps it needs is not forecast" in answer.err
    assert "1,000 steps take less than a minute" in answer.out and "forecast" not in answer.out


def test_a_folder_that_is_used_is_refused_before_the_table_is_read(nimt, noisy, monkeypatch):
    Path("used").mkdir()
    Path("used/mine.txt").write_text("mine")
    monkeypatch.setattr("nimt.sources.tables.read_columns", None)
    answer = nimt("teach", "noisy.csv", "--out", "used")
    assert answer.code == 2 and answer.is_one_sentence() and "'mine.txt', which no run of nimt wrote" in answer.err


def test_labels_that_contradict_each_other_everywhere_are_refused_at_once(nimt):
    a = np.repeat(np.arange(40.0), 2)
    write_rows("both.csv", ["a", "b", "y"], a, -a, [-1, 1] * 40)
    answer = nimt("teach", "both.csv")
    assert answer.code == 2 and answer.is_one_sentence(), answer.err
    assert "40 points come with several classes, and the most frequent of each is '-1'" in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--width", "-1"), "--width must be a positive number"),
        (("--teacher", "best"), "best"),
        (("--kernel", "rbg"), "rbg"),
        (("--learning-rate", "fast"), "--learning-rate must be a number, or auto"),
        (("--target-column", "z"), "has no column 'z'; it has a, b, y"),
    ],
)
def test_what_cannot_be_taught_is_refused_before_a_model_is_looked_for(nimt, noisy, monkeypatch, options, said):
    monkeypatch.setattr("nimt.recipe.modelled_rows.take_reference", None)
    answer = nimt("teach", "noisy.csv", *options)
    assert answer.code == 2 and answer.is_one_sentence() and said in answer.err, answer.err

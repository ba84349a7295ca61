"""From a spreadsheet to predictions: tables as they are, errors on rows never shown, and what leaves the program."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from nimt.cli.written_results import _advice
from nimt.errors import InvalidInput, MissingExtra
from nimt.kernels.expressions import parse_kernel
from nimt.lesson.held_out import HeldOutError
from nimt.lesson.lesson import Lesson
from nimt.measures import as_measure
from nimt.recipe.recipe import Recipe
from nimt.sources.delimited import read_cells
from nimt.sources.table_files import read_columns
from nimt.sources.tables import Columns, read_table

SCALES = np.array([0.01, 1.0, 10.0, 100.0])


def hills(z):
    return np.sin(z[:, 0]) + 0.5 * z[:, 1] * z[:, 2] + 0.3 * z[:, 3]


def written(path, seed, count, head="a,b,c,d,y"):
    """Write a table whose features have scales from 0.01 to 100."""
    z = np.random.default_rng(seed).normal(size=(count, 4))
    np.savetxt(path, np.column_stack([z * SCALES, hills(z)]), delimiter=",", header=head, comments="", fmt="%.10g")


def write(path, text):
    path.write_text(text)
    return path


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out the figures, which take seconds and are looked at elsewhere."""
    monkeypatch.setattr("nimt.cli.written_results._draw", lambda lesson, folder, settings, **how: [folder.lesson])


def taught(nimt, *arguments):
    answer = nimt("teach", *arguments, "--json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out), answer.err


# ---------------------------------------------------------------- no false success


@pytest.mark.long
def test_a_table_of_unequal_scales_is_learned_on_rows_never_shown(nimt, undrawn):
    written("table.csv", 0, 400)
    written("fresh.csv", 1, 300)
    found, said = taught(nimt, "table.csv", "-n", "3000", "--out", "run")
    assert found["held_out_points"] == 40 and found["points"] == 320  # the other 40 choose the step
    assert found["held_out_r2"] > 0.9
    assert "80 of 400 rows are held out" in said and "errs least on rows that were not taught" in said
    share = float(re.search(r"R\^2 ([\d.-]+)", nimt("predict", "run", "fresh.csv").err)[1])
    assert share > 0.9


@pytest.mark.long
def test_the_width_is_the_one_that_learns_most_within_the_budget(nimt, undrawn):
    """A wider kernel fits this table best, and a lesson with it is far from its end after these steps."""
    written("table.csv", 0, 400)
    chosen, said = taught(nimt, "table.csv", "-n", "300", "--out", "a")
    assert "warning" not in said  # of narrow kernels that were only tried
    projected, said = taught(nimt, "table.csv", "-n", "20", "--learner", "orthogonal", "--out", "b")
    assert "errs least on rows that were not fitted" in said
    assert chosen["kernel_width"] < projected["kernel_width"]
    wide, _ = taught(nimt, "table.csv", "-n", "300", "--width", str(projected["kernel_width"]), "--out", "c")
    assert chosen["held_out_r2"] > wide["held_out_r2"]


@pytest.mark.long
def test_the_old_way_warns_and_shows_that_nothing_was_learned(nimt, undrawn):
    written("table.csv", 0, 400)
    found, said = taught(nimt, "table.csv", "--raw-features", "--width", "0.5", "-n", "3000", "--out", "run")
    assert found["outcome"] == "CONVERGED"  # on the rows that were shown
    assert found["held_out_r2"] < 0.1
    assert "warning: the kernel reaches almost no neighbour" in said


def test_a_learner_worse_than_the_mean_is_pointed_out(nimt, undrawn):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(200, 2)), rng.standard_cauchy(200)])
    np.savetxt("noise.csv", table, delimiter=",", header="a,b,y", comments="", fmt="%.6g")
    summary, said = taught(nimt, "noise.csv", "--iterations", "500", "--out", "run")
    assert summary["held_out_r2"] < 0 and "worse than the mean of their labels" in said and "--teacher random" in said


def test_classes_that_are_not_learned_are_pointed_out(nimt, undrawn):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 2))
    names = np.where(rng.uniform(size=120) < 0.6, "often", np.where(x[:, 0] > 0, "some", "few"))  # by chance
    clean = np.where(x[:, 0] > 0, "right", "left")
    for name, words in (("torn.csv", names), ("clean.csv", clean)):
        write(Path(name), "a,b,c\n" + "".join(f"{a:.6f},{b:.6f},{w}\n" for (a, b), w in zip(x, words, strict=True)))
    options = ("--width", "2", "--iterations", "300", "--out")
    _, said = taught(nimt, "torn.csv", *options, "torn")
    assert "the most frequent class is" in said and "--teacher random or a smaller --learning-rate" in said
    assert "When not to teach greedily" in said
    _, said = taught(nimt, "torn.csv", *options, "drawn", "--teacher", "random")
    assert "--teacher random" not in said
    found, said = taught(nimt, "clean.csv", *options, "clean")
    assert found["held_out_accuracy"] > 0.9 and "most frequent" not in said and "on the way" not in said


def test_the_most_frequent_class_is_that_of_the_rows_held_out(nimt, undrawn):
    """A model of classes by chance answers one of them nearly everywhere: its share says nothing of the rows."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 2)), rng.integers(0, 10, 300)
    write(Path("chance.csv"), "a,b,y\n" + "".join(f"{a:.6f},{b:.6f},{c}\n" for (a, b), c in zip(x, y, strict=True)))
    _, said = taught(nimt, "chance.csv", "--width", "2", "--iterations", "300", "--holdout", "0.2", "--out", "chance")
    share = float(said.split("the most frequent class is ")[1].split(":")[0])
    assert round(30 * share, 1) in range(3, 10)


@pytest.mark.parametrize(("end", "told"), [(0.85, True), (0.93, False)])
def test_an_accuracy_that_fell_on_the_way_is_pointed_out(end, told):
    lesson = SimpleNamespace(
        held_out=HeldOutError(20, 0.5, None, 0.9),
        settings={},
        pool=SimpleNamespace(dimension=1),
        target=np.tile([-1.0, 1.0], 10),
        measure=as_measure("accuracy"),
        discrepancy=np.array([0.5, 0.95, end]),
    )
    said = _advice(lesson, Recipe(target="table.csv"))
    assert (said is not None and f"ends with accuracy {end}, and had 0.95 on the way" in said) == told
    assert told or said is None


@pytest.mark.long
def test_a_comparison_tells_the_error_on_rows_held_out(nimt):
    x = np.random.default_rng(0).normal(size=(60, 2))
    words = np.where(x[:, 0] > 0, "right", "left")
    for name, last in (("n.csv", x[:, 0]), ("c.csv", words)):
        write(Path(name), "a,b,y\n" + "".join(f"{a:.6f},{b:.6f},{y}\n" for (a, b), y in zip(x, last, strict=True)))
    options = ("--width", "2", "--teachers", "greedy:1,random:1", "--seeds", "2", "-n", "100", "--out")
    for name, error, kept in (("n.csv", "R^2", "held_out_r2"), ("c.csv", "accuracy", "held_out_accuracy")):
        said = f"{error} held out"
        answer = nimt("compare", name, *options, name[0])
        assert answer.code == 0 and said in answer.out, answer.err
        for row in json.loads(Path(name[0], "comparison.json").read_text())["teachers"]:
            assert 0.5 < row[kept] <= 1
        assert said in Path(name[0], "report.html").read_text()


def test_a_column_left_out_is_named_before_the_points_that_repeat_without_it(nimt):
    lines = [f"name {row},{row % 10},{row}" for row in range(40)]
    write(Path("t.csv"), "name,a,y\n" + "\n".join(lines) + "\n")
    answer = nimt("teach", "t.csv", "--duplicates", "refuse")
    first, last = answer.err.strip().splitlines()
    assert answer.code == 2 and "column name has another word in every row" in first
    assert last.startswith("nimt: error: ") and "come with different targets" in last


def test_numbers_with_a_unit_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("unit.csv"), "a,y\n" + "".join(f"{row} EUR,{row}\n" for row in range(200)))
    told = r"words \(they look like numbers with a unit, such as '0 EUR': remove the unit from the file\)"
    for columns in (Columns(("a",), "y"), Columns(("y",), "a")):
        with pytest.raises(InvalidInput, match=told):
            read_table("unit.csv", columns)


@pytest.mark.parametrize("unit", ["%", " kg"])
def test_a_feature_of_few_numbers_with_a_unit_is_pointed_out(nimt, unit):
    write(Path("unit.csv"), "a,b,y\n" + "".join(f"{row % 30}{unit},{row % 7}.5,{row}.5\n" for row in range(60)))
    told = f"column a holds words that look like numbers with a unit, such as '0{unit}', used as 30 categories: remove"
    (note,) = (note for note in read_table("unit.csv").notes if "unit," in note)
    assert note.startswith(f"unit.csv: {told} the unit from the file")
    assert told in nimt("suspects", "unit.csv", "--numbers").err
    write(Path("two.csv"), "a,b,y\n" + "".join(f"{row % 2}wd,{row}.5,{row}\n" for row in range(60)))
    assert not any("unit" in note for note in read_table("two.csv").notes)


def test_a_feature_of_few_numbers_with_a_thousands_separator_is_left_out(tmp_path):
    rows = [f'"{row % 30 + 1},500",{row}.5,{row}' for row in range(60)]
    (note, *_) = read_table(write(tmp_path / "t.csv", "rent,b,y\n" + "\n".join(rows) + "\n")).notes[1:]
    assert (
        "rent has 30 different words (they look like numbers with a thousands separator" in note and "left out" in note
    )


def test_thousands_points_are_read_where_the_decimal_sign_is_a_comma(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(
        Path("some.csv"), "a;y\n" + "".join(f"{row},5;{row}\n" for row in range(900, 950)) + "-1.234.000,5;1\n1.234;2\n"
    )
    source = read_table("some.csv", Columns(scale=False))
    assert source.pool.points[-2:, 0].tolist() == [-1234000.5, 1234.0]
    write(Path("untitled.csv"), "1.234,56;1;1\n2;2;2\n")
    assert read_table("untitled.csv", Columns(scale=False)).pool.points[:, 0].tolist() == [1234.56, 2.0]
    assert read_cells(Path("untitled.csv")).decimal == ","
    write(Path("mixed.csv"), "a;y\n" + "".join(f"{row},5;{row}\n" for row in range(900, 950)) + "1.234,5;1\n1.5;2\n")
    with pytest.raises(InvalidInput, match=r"has the text '1\.5' in row 53, column 'a', among numbers"):
        read_table("mixed.csv")
    write(Path("points.csv"), "a;y\n1.234;1,5\n900;2,5\n")  # nothing says that these are thousands
    assert read_table("points.csv", Columns(scale=False)).pool.points[:, 0].tolist() == [1.234, 900.0]


def test_numbers_with_a_thousands_separator_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = range(1000, 1200)
    write(Path("all.csv"), "a;y\n" + "".join(f"1,{row % 1000:03d}.5;{row}\n" for row in rows))
    with pytest.raises(InvalidInput, match="look like numbers with a thousands separator"):
        read_table("all.csv")
    with pytest.raises(InvalidInput, match="look like numbers with a thousands separator"):
        read_table("all.csv", Columns(("y",), "a"))
    write(Path("few.csv"), 'a,y\n1,"3,500.5"\n2,"4,500.5"\n3,"5,000"\n')
    with pytest.raises(InvalidInput, match=r"'y' has 3 different words \(they look like numbers with a thousands sep"):
        read_table("few.csv", Columns(("a",), "y"))
    write(Path("some.csv"), "a;y\n" + "".join(f"{row},5;{row}\n" for row in range(900, 950)) + "1,000.5;1\n")
    with pytest.raises(InvalidInput, match="which looks like a number with a thousands separator"):
        read_table("some.csv")


def test_dates_become_days_in_the_order_of_time(tmp_path):
    rows = [f"{1 + row % 28}.{1 + row // 28}.2024,{row},{row}" for row in range(40)]
    source = read_table(write(tmp_path / "t.csv", "day,a,y\n" + "\n".join(rows) + "\n"), Columns(scale=False))
    assert any("column day holds dates, used as days since 1970-01-01" in note for note in source.notes)
    days = (np.datetime64("2024-01-01") - np.datetime64("1970-01-01")).astype(int)
    assert source.pool.points[:30, 0].tolist() == [*range(days, days + 28), days + 31, days + 32]
    assert source.pool.coordinates(np.array([0, 39]))["day"].tolist() == ["01.01.2024", "12.02.2024"]
    write(tmp_path / "u.csv", "day,a,y\n" + "".join(f"{1 + row % 20}th,{row},{row}\n" for row in range(40)))
    assert not any("dates" in note for note in read_table(tmp_path / "u.csv").notes)


def test_dates_of_which_day_and_month_could_be_exchanged_are_categories(tmp_path):
    rows = [f"{1 + row % 10}/5/2024,{row},{row}\n" for row in range(40)]
    (note,) = read_table(write(tmp_path / "t.csv", "day,a,y\n" + "".join(rows))).notes[1:2]
    assert "day and month could be exchanged, used as 10 categories: write them as 2024-01-31" in note
    known = read_table(write(tmp_path / "t.csv", "day,a,y\n" + "".join(rows) + "31/1/2024,40,40\n"))
    assert known.pool.preparation.columns[0].dates == "%d/%m/%Y"


def test_dates_in_a_known_form_are_refused_as_a_target_for_what_they_are(tmp_path):
    days = np.datetime64("2024-01-01") + np.arange(120)
    write(tmp_path / "t.csv", "a,day\n" + "".join(f"{row},{day}\n" for row, day in enumerate(days)))
    with pytest.raises(InvalidInput, match=r"the target 'day' .*\(dates, which cannot be taught\): choose another"):
        read_table(tmp_path / "t.csv")


def test_new_rows_have_dates_in_the_form_of_the_lesson(nimt, undrawn):
    rows = [f"{1 + row % 28:02d}/{1 + row // 28:02d}/2024,{row}" for row in range(60)]
    write(Path("t.csv"), "day,y\n" + "\n".join(rows) + "\n")
    taught(nimt, "t.csv", "--width", "1", "-n", "200", "--out", "run")
    write(Path("new.csv"), "day\n01/02/2024\n02/01/2024\n")  # could be read either way, were it not for the lesson
    answer = nimt("predict", "run", "new.csv")
    assert answer.code == 0, answer.err
    first, second = (float(line.split(",")[1]) for line in answer.out.splitlines()[1:])
    assert first == pytest.approx(28, abs=3) and second == pytest.approx(1, abs=3)
    assert nimt("export", "run").code == 0
    assert nimt("predict", "run", "run/examples.csv").code == 0
    for cell, words in (("2024-02-01", "row 3, column 'day', where the lesson has dates"), ("7", "numbers in column")):
        write(Path("new.csv"), f"day\n{'01/02/2024' if '-' in cell else '8'}\n{cell}\n")
        answer = nimt("predict", "run", "new.csv")
        assert answer.code == 2 and answer.is_one_sentence() and words in answer.err, answer.err
    learner = Lesson.load("run/lesson.npz").learner
    by_name = learner.predict({"day": np.array(["2024-02-01"], "datetime64[D]")})
    np.testing.assert_allclose(by_name, [first])
    with pytest.raises(InvalidInput, match="'soon' in the column 'day' is no date of the form %d/%m/%Y"):
        learner.predict({"day": ["soon"]})


@pytest.mark.parametrize("of_classes", [False, True])
def test_the_target_of_new_rows_stays_beside_the_prediction(nimt, undrawn, of_classes):
    values = [("low" if row < 10 else "high") if of_classes else str(row / 2) for row in range(20)]
    table = "a,y\n" + "".join(f"{row},{value}\n" for row, value in enumerate(values))
    write(Path("t.csv"), table)
    taught(nimt, "t.csv", "--width", "1", "-n", "50", "--out", "run")
    write(Path("new.csv"), table + "3.5,\n")  # the last one is not known
    answer = nimt("predict", "run", "new.csv", "--out", "p.csv")
    assert "accuracy" in answer.err if of_classes else "R^2" in answer.err
    rows = rows_of("p.csv")
    assert list(rows[0]) == ["a", "y", "predicted y"]
    assert [row["y"] for row in rows] == [*values, ""] and all(row["predicted y"] for row in rows)


def test_the_tolerance_is_one_percent_of_the_targets_deviation(nimt, undrawn):
    np.save("curve.npy", 50.0 + 7.0 * np.sin(np.linspace(0, 6, 40)))
    found, _ = taught(nimt, "curve.npy", "--width", "2", "-n", "5000", "--out", "run")
    deviation = np.load("curve.npy").std()
    assert found["measure"] == "paper" and found["tol"] == pytest.approx(0.01 * deviation / np.sqrt(40), rel=1e-5)
    assert found["discrepancy_at_end"] < found["tol"]
    assert taught(nimt, "curve.npy", "--tol", "20%", "-n", "1", "--out", "b")[0]["tol"] == pytest.approx(
        0.2 * deviation / np.sqrt(40), rel=1e-5
    )
    in_rms = taught(nimt, "curve.npy", "--measure", "rms", "--width", "2", "-n", "5000", "--out", "c")[0]
    assert in_rms["tol"] == pytest.approx(0.01 * deviation, rel=1e-5) and in_rms["steps"] == found["steps"]


@pytest.mark.parametrize("tol", ["-1%", "x%", "%", "x", "nan", "-3"])
def test_a_tolerance_that_is_none_is_refused(nimt, tol):
    answer = nimt("teach", "gmm", f"--tol={tol}")
    assert answer.code == 2 and answer.is_one_sentence(), answer.err
    assert "--tol" in answer.err


def test_a_constant_target_has_a_tolerance_too(nimt, undrawn):
    np.save("flat.npy", np.full(9, 3.0))
    assert taught(nimt, "flat.npy", "-n", "1", "--out", "run")[0]["tol"] == pytest.approx(0.01)


def test_a_run_of_no_steps_suggests_some(nimt, undrawn):
    assert "--iterations 20000" in nimt("teach", "gmm", "-n", "0", "--out", "run").out


def test_holding_out_is_for_tables(nimt):
    answer = nimt("teach", "gmm", "--holdout", "0.3")
    assert answer.code == 2 and answer.is_one_sentence() and "holdout is for tables" in answer.err


@pytest.mark.long
def test_few_rows_are_all_taught_unless_asked_otherwise(nimt, undrawn):
    Path("table.csv").write_text("x,y\n" + "".join(f"{x},{x * x}\n" for x in range(10)))
    assert taught(nimt, "table.csv", "-n", "5", "--out", "a")[0]["held_out_points"] is None
    assert taught(nimt, "table.csv", "-n", "5", "--holdout", "0.3", "--out", "b")[0]["held_out_points"] == 2
    assert nimt("teach", "table.csv", "--holdout", "0.95").code == 2


# ---------------------------------------------------------------- predict and export


@pytest.fixture
def houses(nimt, undrawn):
    """A run on a table with numbers and words."""
    rng = np.random.default_rng(3)
    lines = ["size,kind,price"]
    for size in rng.uniform(40, 200, 60).round(1):
        kind = str(rng.choice(["flat", "house"]))
        lines.append(f"{size},{kind},{size * (2 if kind == 'flat' else 3):.2f}")
    Path("houses.csv").write_text("\n".join(lines) + "\n")
    taught(nimt, "houses.csv", "-n", "800", "--reference", "none", "--keep", "last", "--out", "run")


def test_predictions_are_those_of_the_learner_on_rows_as_the_table_has_them(nimt, houses):
    Path("new.csv").write_text("kind,extra,size\nhouse,x,100\nflat,y,100\n")
    answer = nimt("predict", "run", "new.csv", "--out", "predictions.csv")
    assert answer.code == 0, answer.err
    rows = rows_of("predictions.csv")
    learner = Lesson.load("run/lesson.npz").learner
    expected = learner.predict({"size": [100.0, 100.0], "kind": ["house", "flat"]})
    assert [row["size"] for row in rows] == ["100", "100"] and [row["kind"] for row in rows] == ["house", "flat"]
    np.testing.assert_array_equal([float(row["predicted price"]) for row in rows], expected)
    assert expected[0] > expected[1] > 100  # a house costs more than a flat of its size
    assert nimt("predict", "run/lesson.npz", "new.csv").out.splitlines()[0] == "kind,extra,size,predicted price"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("size,price\n100,1\n", ("no column 'kind'",)),
        ("size,kind\n,house\n", ("no value in row 2", "'size'", "--missing")),
        ("size,kind\nbig,house\n", ("words", "'size'")),
        ("size,kind\n", ("nothing to predict",)),
    ],
)
def test_rows_that_cannot_be_predicted_are_refused(nimt, houses, text, words):
    Path("new.csv").write_text(text)
    answer = nimt("predict", "run", "new.csv")
    assert answer.code == 2 and answer.is_one_sentence(), answer.err
    assert all(word in answer.err for word in words), answer.err


def test_a_word_that_was_not_taught_is_pointed_out(nimt, houses):
    Path("new.csv").write_text("size,kind\n100,castle\n100,flat\n")
    answer = nimt("predict", "run", "new.csv")
    assert answer.code == 0 and "'castle'" in answer.err and "not taught" in answer.err


def test_what_is_filled_in_is_said_with_its_count_and_first_row(nimt, undrawn):
    lines = [f"{x},{'a' if x % 3 else 'b'},{2 * x}" for x in range(40)]
    Path("t.csv").write_text("x,kind,y\n" + "\n".join([*lines, "7.5,,15"]) + "\n")
    taught(nimt, "t.csv", "--missing", "mean", "-n", "50", "--out", "run")
    Path("new.csv").write_text("x,kind,y\n1,a,2\n,b,\n3,,6\n,a,8\n")
    answer = nimt("predict", "run", "new.csv")
    assert answer.code == 0 and "2 of x with" in answer.err and "the first in row 3" in answer.err, answer.err
    assert "1 of kind with a, the first in row 4" in answer.err
    assert "on 3 rows" in answer.err  # the row without a target is predicted, and not counted
    assert len(answer.out.splitlines()) == 5


def test_whole_numbers_that_are_classes_keep_their_digits(nimt, undrawn):
    rows = [f"{x},{1234567 if x < 20 else 1234568}" for x in range(40)]
    Path("t.csv").write_text("x,code\n" + "\n".join(rows) + "\n")
    taught(nimt, "t.csv", "--loss", "logistic", "-n", "200", "--out", "run")
    answer = nimt("predict", "run", "t.csv")
    assert {line.split(",")[1] for line in answer.out.splitlines()[1:]} == {"1234567", "1234568"}


def test_the_export_holds_examples_in_order_the_curve_and_the_expansion(nimt, houses):
    assert nimt("export", "run").code == 0
    lesson = Lesson.load("run/lesson.npz")
    table, shown = rows_of("houses.csv"), rows_of("run/examples.csv")
    assert [int(row["step"]) for row in shown] == list(range(len(lesson)))
    for row in shown[:50]:
        original = table[int(row["row"]) - 2]
        assert (float(row["size"]), row["kind"]) == (float(original["size"]), original["kind"])
        assert float(row["label"]) == float(original["price"])
    curve = rows_of("run/curve.csv")
    np.testing.assert_array_equal([float(row["paper"]) for row in curve], lesson.discrepancy)
    assert float(curve[-1]["held_out"]) == lesson.held_out.rms
    with np.load("run/learner.npz") as arrays:
        assert arrays["names"].tolist() == ["size", "kind=flat", "kind=house"]
        point = (np.array([[100.0, 0.0, 1.0]]) - arrays["mean"]) / arrays["deviation"]
        kernel = parse_kernel(str(arrays["kernel"]), dimension=3)
        value = arrays["start"] + kernel(point, arrays["centers"]) @ arrays["coefficients"]
    np.testing.assert_allclose(value, lesson.learner.predict({"size": [100.0], "kind": ["house"]}))


@pytest.mark.long
def test_a_lesson_on_a_grid_predicts_and_exports_too(nimt, undrawn):
    taught(nimt, "gmm", "-n", "30", "--out", "g")
    Path("new.csv").write_text("x\n0.05\n99\n")
    lines = nimt("predict", "g", "new.csv").out.splitlines()
    assert lines[0] == "x_1,prediction" and len(lines) == 3
    assert nimt("export", "g", "--out", ".").code == 0
    assert float(rows_of("examples.csv")[0]["x_1"]) == Lesson.load("g/lesson.npz").examples()["x_1"][0]


@pytest.mark.parametrize("arguments", [("predict", "nothing", "new.csv"), ("export", "nothing")])
def test_a_run_that_is_not_there_is_named(nimt, arguments):
    answer = nimt(*arguments)
    assert answer.code == 2 and answer.is_one_sentence() and "nothing" in answer.err


def test_a_report_of_another_run_leaves_no_export_behind(nimt, houses):
    assert nimt("export", "run", "-q").out == ""
    taught(nimt, "gmm", "-n", "5", "--out", "run", "--overwrite")
    assert not Path("run/examples.csv").exists() and not Path("run/learner.npz").exists()


# ---------------------------------------------------------------- tables as they are


@pytest.mark.long
def test_rows_that_are_filled_in_are_shown_most_by_greedy_teaching_and_this_is_said(nimt, undrawn):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 2))
    gaps = rng.random(300) < 0.08
    cells = [f"{'' if gap else a},{b},{np.sin(2 * a) + b}" for (a, b), gap in zip(rows, gaps, strict=True)]
    Path("table.csv").write_text("a,b,y\n" + "\n".join(cells) + "\n")
    options = ("--width", "1.0", "-n", "2000", "--holdout", "0", "--reference", "none")
    _, said = taught(nimt, "table.csv", "--missing", "mean", *options, "--out", "mean")
    assert "greedy teaching shows it most often: --missing drop" in said
    shown = Lesson.load("mean/lesson.npz").indices.ravel()
    assert np.mean(gaps[shown]) > 3 * np.mean(gaps)
    _, said = taught(nimt, "table.csv", "--missing", "drop", *options, "--out", "drop")
    assert "greedy teaching" not in said


@pytest.mark.long
def test_missing_values_are_counted_and_the_first_is_named(nimt, undrawn):
    text = "a,b,y\n" + "".join(f"{x},{'' if x % 7 == 3 else 2 * x},{x}\n" for x in range(40))
    Path("table.csv").write_text(text)
    answer = nimt("teach", "table.csv")
    assert answer.code == 2 and answer.is_one_sentence()
    assert "row 5, column 'b', and 6 row(s)" in answer.err and "--missing drop" in answer.err
    found, said = taught(nimt, "table.csv", "--missing", "drop", "-n", "5", "--holdout", "0", "--out", "drop")
    assert found["points"] == 34 and "6 row(s) lack a value, the first is row 5 (b); they are left out" in said
    found, said = taught(nimt, "table.csv", "--missing", "mean", "-n", "5", "--holdout", "0", "--out", "mean")
    assert found["points"] == 40 and "the mean of the column is filled in" in said
    preparation = Lesson.load("mean/lesson.npz").pool.preparation
    assert preparation.columns[1].fill == pytest.approx(np.mean([2 * x for x in range(40) if x % 7 != 3]))
    Path("new.csv").write_text("a,b\n1,\n1,2\n")
    assert nimt("predict", "mean", "new.csv").out.count("\n") == 3
    lines = nimt("predict", "drop", "new.csv").out.splitlines()
    assert lines[1].endswith(",") and not lines[2].endswith(",")
    assert nimt("teach", "table.csv", "--missing", "guess").code == 2


def test_words_become_named_coordinates(tmp_path):
    (tmp_path / "t.csv").write_text("colour,size,y\nred,1,1\nblue,2,2\nred,3,3\n")
    pool = read_table(tmp_path / "t.csv", Columns(scale=False)).pool
    assert pool.preparation.names == ("colour=blue", "colour=red", "size")
    np.testing.assert_array_equal(pool.points, [[0, 1, 1], [1, 0, 2], [0, 1, 3]])
    assert pool.coordinates(np.array([1]))["colour"].tolist() == ["blue"]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text("a;y\n1,5;2,25\n-0,5;1e3\n".replace(";", separator))
    source = read_table(path, Columns(scale=False))
    np.testing.assert_array_equal(source.pool.points, [[1.5], [-0.5]])
    np.testing.assert_array_equal(source.values, [2.25, 1000.0])


def test_a_gzipped_table_is_the_table(tmp_path):
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("a,y\n1,2\n3,4\n")
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv.gz").values, [2, 4])


@pytest.mark.long
def test_a_gzipped_trap_and_a_damaged_one_are_refused(tmp_path):
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        file.write(b"a,y\n" + b"1,1\n" * 1_100_000)
    with pytest.raises(InvalidInput, match=r"holds [\d,]+ values, and of a file of [\d,]+ bytes at most 2,097,152"):
        read_table(tmp_path / "bomb.csv.gz")
    with gzip.open(tmp_path / "empty lines.csv.gz", "wb") as file:
        file.write(b"a,y\n1,1\n2,2\n" + b"\n" * 2_100_000)
    with pytest.raises(InvalidInput, match=r"holds [\d,]+ values"):
        read_table(tmp_path / "empty lines.csv.gz")
    with gzip.open(tmp_path / "long words.csv.gz", "wb") as file:
        file.write((b"w" * 100_000 + b",1\n") * 200)
    with pytest.raises(InvalidInput, match="unpacks to"):
        read_table(tmp_path / "long words.csv.gz")
    (tmp_path / "cut.csv.gz").write_bytes((tmp_path / "bomb.csv.gz").read_bytes()[:200])
    with pytest.raises(InvalidInput, match="damaged or cut short"):
        read_table(tmp_path / "cut.csv.gz")
    (tmp_path / "not.csv.gz").write_bytes(b"a,y\n1,2\n3,4\n")
    with pytest.raises(InvalidInput, match="cannot be unpacked"):
        read_table(tmp_path / "not.csv.gz")


@pytest.mark.parametrize(
    ("encoding", "told"), [("utf-8", False), ("utf-16", False), ("cp1252", True), ("latin-1", True)]
)
def test_text_in_other_encodings_is_read_and_a_guess_is_told(tmp_path, encoding, told):
    path = tmp_path / "t.csv"
    path.write_bytes("größe,straße,y\n1,é,2\n3,à,4\n5,é,6\n".encode(encoding))
    source = read_table(path)
    assert source.pool.preparation.names == ("größe", "straße=à", "straße=é")
    assert ("is read as Latin-1" in " ".join(source.notes)) == told
    if encoding != "utf-16":
        assert read_table(path, Columns(encoding=encoding)).pool.preparation == source.pool.preparation


def test_an_encoding_is_named_where_the_guess_is_wrong(nimt, undrawn):
    Path("t.csv").write_bytes("город,y\n1,2\n3,4\n5,7\n".encode("cp1251"))
    _, said = taught(nimt, "t.csv", "--encoding", "cp1251", "-n", "5", "--out", "run")
    assert "features город" in said and "Latin-1" not in said
    assert 'encoding = "cp1251"' in Path("run/run.toml").read_text(encoding="utf-8")
    assert nimt("predict", "run", "t.csv", "--encoding", "cp1251").out.startswith("город,y,predicted y")
    for encoding, words in (("no-such", "encoding must be one that Python knows"), ("ascii", "not text in ascii")):
        answer = nimt("teach", "t.csv", "--encoding", encoding)
        assert answer.code == 2 and answer.is_one_sentence() and words in answer.err, answer.err


@pytest.mark.parametrize("content", [b"a,y\n1,\xff\x81\n", b"a,y\n\x00,1\n2,3\n"])
def test_what_is_no_text_in_any_of_them_is_refused(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidInput, match="is not text in UTF-8"):
        read_table(tmp_path / "t.csv")


def test_tabs_separate_a_tsv_file_whatever_its_names_hold(tmp_path):
    source = read_table(write(tmp_path / "t.tsv", "a, b, c\ty\n1,5\t2\n2,5\t3\n"), Columns(scale=False))
    assert source.pool.preparation.names == ("a, b, c",) and source.pool.points.ravel().tolist() == [1.5, 2.5]


def test_words_keep_their_spelling_also_where_pandas_sees_truth_values(tmp_path):
    source = read_table(write(tmp_path / "t.csv", "is,big,y\nTRUE,18446744073709551616,1\nfalse,1,2\nTRUE,2,3\n"))
    assert source.pool.preparation.names == ("is=TRUE", "is=false", "big")


def excel(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for place, rows in enumerate(sheets):
        sheet = book.active if place == 0 else book.create_sheet()
        sheet.title = f"sheet {place + 1}"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_an_excel_file_is_the_table(tmp_path):
    day = datetime.datetime(2024, 1, 31)
    rows = [
        ["a", "kind", "day", "is", "y"],
        [1, "x", day, True, 0.1],
        [],
        [2.5, "y", day, False, 1],
        [None, "x", None, True, 2],
    ]
    source = read_table(excel(tmp_path / "t.xlsx", rows, [["other"]]), Columns(scale=False, missing="mean"))
    assert source.pool.preparation.names == ("a", "kind=x", "kind=y", "day", "is=False", "is=True")
    np.testing.assert_array_equal(source.pool.points[:, 0], [1, 2.5, 1.75])
    np.testing.assert_array_equal(source.values, [0.1, 1, 2])
    assert source.pool.preparation.columns[2].dates == "%Y-%m-%d"
    assert "t.xlsx: the sheet sheet 1 is read, the first of 2" in source.notes


def test_an_excel_file_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, monkeypatch):
    (tmp_path / "bad.xlsx").write_bytes(b"PK\3\4" * 20)
    with pytest.raises(InvalidInput, match="cannot be read as an Excel file"):
        read_table(tmp_path / "bad.xlsx")
    excel(tmp_path / "t.xlsx", [["a", "y"], [1, 2], ["oops", 3], [3, 4], [4, 5]])
    with pytest.raises(InvalidInput, match="the text 'oops' in row 3, column 'a', among numbers"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(InvalidInput, match="encoding is for tables as text"):
        read_table(tmp_path / "t.xlsx", Columns(encoding="utf-8"))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"nimt\[excel\]"):
        read_table(tmp_path / "t.xlsx")


def test_cells_far_apart_in_an_excel_file_do_not_span_a_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, 300):
        book.active.cell(row, 9_000, 1)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InvalidInput, match=r"holds [\d,]+ values"):
        read_table(tmp_path / "t.xlsx")
    book.active.cell(1, 16_000, 1)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InvalidInput, match="has a cell in column 16000, and 10000 columns are the most"):
        read_table(tmp_path / "t.xlsx")


def test_a_parquet_file_is_the_table(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"a": [1, 2, None], "kind": ["x", "y", "x"], "flag": [True, False, True], "y": [0.5, 1, 2]}
    columns["day"] = np.array(["1970-01-02", "1970-01-04", "1970-01-03"], "datetime64[s]")
    columns["list"] = [[1], [2], [3]]
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
    source = read_table(tmp_path / "t.parquet", Columns(scale=False, missing="mean", target="y"))
    assert source.pool.preparation.names == ("a", "kind=x", "kind=y", "flag=false", "flag=true", "day")
    assert any("column list has values that are neither numbers nor words, and is left out" in n for n in source.notes)
    np.testing.assert_array_equal(source.pool.points[:, -1], [1, 3, 2])
    np.testing.assert_array_equal(source.pool.points[:, 0], [1, 2, 1.5])
    np.testing.assert_array_equal(source.values, [0.5, 1, 2])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" * 20)
    with pytest.raises(InvalidInput, match="cannot be read as a parquet file"):
        read_table(tmp_path / "bad.parquet")


def test_a_parquet_file_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"nimt\[parquet\]"):
        read_table(tmp_path / "t.parquet")


def test_an_id_is_pointed_out_where_rows_repeat_and_a_day_per_row_is_no_id(tmp_path):
    lines = [f"{n},2024-{1 + n // 28:02}-{1 + n % 28:02},{n % 5},{n % 3}" for n in range(1, 41)]
    (tmp_path / "t.csv").write_text("id,day,x,y\n" + "\n".join(lines + lines[:9]) + "\n")
    said = " ".join(read_table(tmp_path / "t.csv").notes)
    assert "column id looks like an id" in said and "column day looks" not in said


def test_an_id_is_pointed_out_and_a_column_of_names_left_out(tmp_path):
    lines = [f"{n},person {n},{n % 5},{n % 3}" for n in range(1, 41)]
    (tmp_path / "t.csv").write_text("id,name,x,y\n" + "\n".join(lines) + "\n")
    source = read_table(tmp_path / "t.csv")
    said = " ".join(source.notes)
    assert "column id looks like an id" in said
    assert "column name has another word in every row, like a name, and is left out" in said
    assert source.pool.preparation.names == ("id", "x")
    with pytest.raises(InvalidInput, match="'name' has another word in every row"):
        read_table(tmp_path / "t.csv", Columns(features=("name", "x")))


def test_a_single_feature_that_counts_is_no_id(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{n},{n * n}\n" for n in range(40)))
    assert "id" not in " ".join(read_table(tmp_path / "t.csv").notes)


def test_a_constant_column_teaches_nothing_and_harms_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n1,7,1\n2,7,2\n3,7,4\n")
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").pool.points[:, 1], 0)
    (tmp_path / "t.csv").write_text("b,y\n7,1\n?,2\n")
    with pytest.raises(InvalidInput, match="same value everywhere"):
        read_table(tmp_path / "t.csv", Columns(missing="mean"))


@pytest.mark.long
def test_too_many_words_are_left_out(tmp_path):
    lines = [f"w{n // 2},{n}" for n in range(20_010)]
    (tmp_path / "t.csv").write_text("x,word,y\n" + "\n".join(f"{n},{line}" for n, line in enumerate(lines)) + "\n")
    source = read_table(tmp_path / "t.csv")
    assert source.pool.preparation.names == ("x",) and "10,005 different words" in " ".join(source.notes)


def test_chunks_are_read_as_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr("nimt.sources.delimited.CHUNK_CELLS", 3_000)
    numbers = np.random.default_rng(0).normal(size=(9000, 3))
    np.savetxt(tmp_path / "t.csv", numbers, delimiter=",", fmt="%.17g")
    source = read_table(tmp_path / "t.csv", Columns(scale=False))
    np.testing.assert_array_equal(np.column_stack([source.pool.points, source.values]), numbers)
    assert source.pool.rows[-1] == 9000


@pytest.mark.parametrize("separator", [",", ";"])
def test_rows_of_numbers_are_the_same_with_quotes_and_without(tmp_path, monkeypatch, separator):
    monkeypatch.setattr("nimt.sources.delimited.CHUNK_CELLS", 3_000)
    rng = np.random.default_rng(5)
    rows = [[f"{value:.17g}" for value in row] for row in rng.normal(size=(9000, 3)) * [1e-30, 1.0, 1e30]]
    rows[5000] = ["nan", "+1e3", " 2. "]
    if separator == ";":
        rows = [[cell.replace(".", ",") for cell in row] for row in rows]
    lines = [separator.join(row) for row in rows]
    lines.insert(4500, "")
    plain = write(tmp_path / "plain.csv", "\n".join([separator.join("abc"), *lines]) + "\n")
    quoted = [separator.join(f'"{cell}"' for cell in line.split(separator)) if line else "" for line in lines]
    in_quotes = write(tmp_path / "quoted.csv", "\n".join([separator.join("abc"), *quoted]) + "\n")
    one, other = (read_columns(file, lambda names: names)[0] for file in (plain, in_quotes))
    assert one.shape == (9000, 3)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("cell", "words"), [("1_000", "'1_000'"), ("inf", "has inf in"), ("1,2", "4 column(s)")])
def test_what_is_no_number_is_named_with_its_row_in_later_chunks_too(tmp_path, monkeypatch, cell, words):
    monkeypatch.setattr("nimt.sources.delimited.CHUNK_CELLS", 3_000)
    lines = ["1,2,3"] * 9000
    lines[7000] = f"1,{cell},3"
    lines.insert(4200, "")
    file = write(tmp_path / "t.csv", "\n".join(["a,b,c", *lines]) + "\n")
    with pytest.raises(InvalidInput, match=re.escape(words)) as refused:
        read_columns(file, lambda names: names)
    assert "row 7002" in str(refused.value)


def test_pandas_is_loaded_by_a_table_and_by_nothing_else_that_is_read(tmp_path):
    write(tmp_path / "t.csv", "a,y\n1,2\n3,4\n")
    code = (
        "import sys, nimt; nimt.sources.read_problem('gmm'); before = 'pandas' in sys.modules;"
        f"nimt.sources.read_problem({str(tmp_path / 't.csv')!r});"
        "print(before, 'pandas' in sys.modules, 'tqdm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]


# ---------------------------------------------------------------- classes


def flowers(path, kinds, count=90):
    rng = np.random.default_rng(0)
    lines = ["long,wide,kind"]
    for number in range(count):
        place = number % len(kinds)
        long, wide = rng.normal([5 + 2 * place, 10 * (place % 2)], 0.3)
        lines.append(f"{long:.3f},{wide:.3f},{kinds[place]}")
    Path(path).write_text("\n".join(lines) + "\n")


@pytest.mark.long
@pytest.mark.parametrize(
    ("kinds", "loss"),
    [(("iris", "rose"), "logistic"), (("iris", "rose"), "hinge"), (("iris", "rose", "tulip"), "square")],
)
def test_classes_are_taught_measured_and_written_as_words(nimt, undrawn, kinds, loss):
    flowers("flowers.csv", kinds)
    given = ("--loss", loss, "--learning-rate", "0.1") if loss == "hinge" else ()
    found, said = taught(nimt, "flowers.csv", "-n", "2000", "--out", "run", *given)
    assert found["measure"] == "accuracy" and found["outcome"] == "REACHED" and found["loss"] == loss
    assert found["held_out_accuracy"] > 0.9 and found["classes"] == ", ".join(kinds)
    assert f"has {len(kinds)} classes: iris (" in said
    flowers("new.csv", kinds, 12)
    answer = nimt("predict", "run", "new.csv", "--out", "p.csv")
    assert "accuracy 1.0000 on 12 rows" in answer.err
    assert {row["predicted kind"] for row in rows_of("p.csv")} == set(kinds)
    assert nimt("export", "run").code == 0
    assert {row["label"] for row in rows_of("run/examples.csv")} <= set(kinds)
    assert Lesson.load("run/lesson.npz").learner.predict([[5.0, 0.0]]).tolist() == ["iris"]


def test_two_numbers_are_classes_for_a_loss_of_classes(nimt, undrawn):
    flowers("flowers.csv", ("0", "1"))
    assert taught(nimt, "flowers.csv", "-n", "5", "--numbers", "--out", "a")[0]["classes"] is None
    assert taught(nimt, "flowers.csv", "-n", "5", "--loss", "logistic", "--out", "b")[0]["classes"] == "0, 1"


def test_one_class_is_nothing_to_teach(nimt):
    flowers("flowers.csv", ("iris",), 30)
    answer = nimt("teach", "flowers.csv")
    assert answer.code == 2 and answer.is_one_sentence() and "'iris' in every row" in answer.err


def test_one_number_is_nothing_to_teach(nimt):
    Path("flat.csv").write_text("x,y\n" + "".join(f"{x},5\n" for x in range(30)))
    answer = nimt("teach", "flat.csv")
    assert answer.code == 2 and answer.is_one_sentence() and "'y' is 5 in every row: there is nothing" in answer.err


@pytest.mark.slow
def test_the_report_of_a_table_tells_the_error_on_rows_never_shown(nimt):
    written("table.csv", 0, 60)
    assert nimt("teach", "table.csv", "-n", "60", "--out", "run", "-q").code == 0
    page = Path("run/report.html").read_text(encoding="utf-8")
    assert "rows held out" in page and "R^2" in page


@pytest.mark.long
@pytest.mark.parametrize("size", [1e299, 1e200, 1e-200, 1e-300])
@pytest.mark.parametrize("column", ["a", "y"])
def test_numbers_at_the_ends_of_the_range_are_scaled_without_a_word(nimt, undrawn, column, size):
    rng = np.random.default_rng(1)
    table = {"a": rng.uniform(-1, 1, 40), "b": rng.uniform(-1, 1, 40)}
    table["y"] = table["a"] + table["b"] ** 2
    usual = "\n".join(["a,b,y", *(",".join(map(repr, map(float, row))) for row in zip(*table.values(), strict=True))])
    table[column] = table[column] * size
    scaled = "\n".join(["a,b,y", *(",".join(map(repr, map(float, row))) for row in zip(*table.values(), strict=True))])
    for name, text in (("usual", usual), ("scaled", scaled)):
        Path(f"{name}.csv").write_text(text + "\n")
        for more in (("auto",), ("none", "--overwrite")):  # a model differs in its last digits, the rows do not
            answer = nimt(
                "teach", f"{name}.csv", "-n", "60", "--out", name, "-q", "--keep", "last", "--reference", *more
            )
            assert (answer.code, answer.err) == (0, "")
    one, other = (Lesson.load(f"{name}/lesson.npz") for name in ("usual", "scaled"))
    unit = size if column == "y" else 1.0
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.discrepancy, other.discrepancy / unit, rtol=1e-9)
    assert other.held_out.r_squared == pytest.approx(one.held_out.r_squared, rel=1e-9)


def test_a_number_so_large_that_a_difference_is_none_is_refused(nimt):
    Path("large.csv").write_text("a,y\n1,2\n1.7e308,3\n3,4\n")
    answer = nimt("teach", "large.csv")
    assert answer.code == 2 and answer.is_one_sentence(), answer
    assert "has 1.7e+308 in row 3, column 'a': the most is 1e+300" in answer.err

"""`nimt teaching-set` and `nimt suspects`: what they write, and what they say."""

import csv

import numpy as np
import pytest

from nimt.cli import console
from nimt.sources import table_files

pytestmark = pytest.mark.long


@pytest.fixture
def houses(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["id,size,town,built,price"]
    for number in range(90):
        size, town = rng.uniform(20, 200), rng.choice(["Ulm", "Bonn"])
        price = size + 40 * (town == "Bonn") + rng.normal(0, 10)
        lines.append(f"{number + 1},{size:.1f},{town},{rng.integers(1, 28)}.{rng.integers(1, 12)}.2001,{price:.2f}")
    lines[5] = lines[5].rpartition(",")[0] + ",900"
    lines.append("91,100.0,Ulm,1.1.2001,")
    (tmp_path / "houses.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "houses.csv"


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_a_teaching_set_keeps_all_columns_and_says_whether_choosing_helped(nimt, houses, tmp_path):
    answer = nimt("teaching-set", "houses.csv", "--size", 20, "--student", "linear")
    assert answer.code == 0, answer.err
    (sentence,) = answer.out.splitlines()
    assert sentence.startswith("20 of 90 rows, ") and "the labels gain" in sentence
    assert "column id numbers the rows, and is not used as a feature" in answer.err
    assert "1 row(s) have no label" in answer.err and "f* is " in answer.err
    kept = rows_of(tmp_path / "houses-few.csv")
    assert list(kept[0]) == ["row", "id", "size", "town", "built", "price", "label"] and len(kept) == 20
    whole = rows_of(houses)
    for row in kept:
        same = whole[int(row["row"]) - 2]  # the first row holds the names
        assert all(row[name] == same[name] or float(row[name]) == float(same[name]) for name in same)
    assert (tmp_path / "houses-few.png").read_bytes().startswith(b"\x89PNG")


def test_the_rows_are_written_as_the_table_has_them(nimt, houses, tmp_path):
    lines = [line.replace(",", ";").replace(".", ",", 1) for line in houses.read_text().splitlines()]
    lines = [line if "Ulm" in line or "Bonn" in line else line + " in €" for line in lines]
    del lines[5]  # with an outlier
    lines.insert(3, "92;55,5;Ulm;1.1.2001;")  # without a label: the rows below keep their numbers
    lines = [line.rpartition(";")[0] + ";" + line.rpartition(";")[2].replace(".", ",") for line in lines]
    (tmp_path / "german.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")
    for command in (("teaching-set", "--size", 12, "--student", "linear"), ("suspects",)):
        answer = nimt(command[0], "german.csv", *command[1:], "--out", "kept.csv", "--overwrite")
        assert answer.code == 0, answer.err
        head, *kept = (tmp_path / "kept.csv").read_text().splitlines()
        added = 2 if command[0] == "suspects" else 1
        assert head.split(";")[1:-added] == lines[0].split(";")
        for row in kept:
            number, *cells = row.split(";")
            assert cells[:-added] == lines[int(number) - 1].split(";")
        if added == 1:
            assert len(kept) == 12 and all("," in row.rpartition(";")[2] for row in kept)


def test_an_id_and_classes_are_told_before_any_model_is_fitted(nimt, tmp_path):
    rng = np.random.default_rng(2)
    places, x = rng.permutation(500)[:60] + 1000, rng.uniform(-1, 1, 60)
    days = [f"2024-{1 + number // 28:02d}-{1 + number % 28:02d}" for number in range(60)]
    lines = [f"{place},{day},{value:.4f},{int(value > 0)}" for place, day, value in zip(places, days, x, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["customer,day,x,y", *lines]) + "\n")
    told = nimt("teaching-set", "t.csv", "--size", 10, "--student", "linear").err.splitlines()
    assert "column customer looks like an id" in told[0] and "--features without it leaves it out" in told[0]
    assert "taken for classes: --numbers" in told[1] and sum("taken for classes" in line for line in told) == 1
    assert told[2].startswith("nimt: loading models of rows") and not any("column day" in line for line in told)
    told = nimt("suspects", "t.csv", "--features", "x,customer").err
    assert "looks like an id" not in told and told.count("taken for classes") == 1


def test_a_person_at_a_terminal_hears_at_once_what_is_read(nimt, houses, monkeypatch):
    monkeypatch.setattr(console.Unbroken, "isatty", lambda self: True)
    monkeypatch.setattr(table_files, "LARGE_TABLE", 1)
    for command in ("suspects", "teaching-set"):
        lines = nimt(command, "houses.csv", "--target-column", "nothing").err.splitlines()
        assert lines[0] == "nimt: reading the table" and "has no column" in lines[1]
    assert nimt("suspects", "houses.csv", "--target-column", "nothing", "-q").err.startswith("nimt: error:")


def test_suspects_are_printed_with_the_number_of_their_row_or_written_with_all_columns(nimt, houses, tmp_path):
    answer = nimt("suspects", "houses.csv")
    assert answer.code == 0, answer.err
    head, first, *_ = answer.out.splitlines()
    assert head == "row,label,reference,strength" and first.startswith("6,900.0,")
    assert "the names are row 1" in " ".join(nimt("suspects", "--help").out.replace("│", " ").split())
    (tmp_path / "doubtful.csv").write_text("mine")
    refused = nimt("suspects", "houses.csv", "--out", "doubtful.csv")
    assert refused.code == 2 and refused.is_one_sentence() and "is there already" in refused.err
    answer = nimt("suspects", "houses.csv", "--out", "doubtful.csv", "-q", "--overwrite")
    assert answer.code == 0 and not answer.out and not answer.err
    assert rows_of(tmp_path / "doubtful.csv")[0]["town"] in ("Ulm", "Bonn")


@pytest.mark.exhaustive
def test_whole_numbers_are_classes_or_numbers_as_asked(nimt, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 60)
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{value},{int(value > 0)}\n" for value in x))
    options = ("--size", 10, "--student", "linear")
    assert "accuracy" in nimt("teaching-set", "t.csv", *options, "--classes").out
    told = nimt("teaching-set", "t.csv", *options, "--overwrite")
    assert "accuracy" in told.out and "are taken for classes" in told.err
    assert "R^2" in nimt("teaching-set", "t.csv", *options, "--numbers", "--overwrite").out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--size", 500), "--size must be at most the number of rows, 90, got 500"),
        ((), "give --size (how many rows) or --tol"),
        (("--size", 10, "--student", "swm"), "--student must be one of linear, svm"),
        (("--size", 10, "--target-column", "rent"), "has no column 'rent'"),
        (("--size", 10, "--out", "few.txt"), "--out must name a .csv file"),
        (("--size", 10, "--out", "houses.csv"), "--out is the table itself"),
        (("--size", 10, "--out", "nowhere/few.csv"), "there is no folder 'nowhere'"),
        (("--size", 10, "--out", "there.csv"), "'there.png' is there already: give another --out, or --overwrite"),
    ],
)
def test_bad_input_gets_one_sentence(nimt, houses, options, said):
    (houses.parent / "there.png").write_text("mine")
    answer = nimt("teaching-set", "houses.csv", *options, "-q")
    assert (houses.parent / "there.png").read_text() == "mine"
    assert answer.code == 2 and answer.is_one_sentence() and said in answer.err, answer.err
    assert "loading models" not in nimt("teaching-set", "houses.csv", *options).err


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([f"{place},000" for place in range(1, 41)], "'t.csv': the target 'y' has 40 different words (they look like "
         "numbers with a thousands separator: remove it from the file)"),
        ([f"2024-{1 + place // 28:02d}-{1 + place % 28:02d}" for place in range(40)], "has another class in every row"),
        ([f"w{place}" for place in range(40)], "'t.csv': the target 'y' has another class in every row, such as w0"),
        (["5"] * 40, "'t.csv': the target 'y' is 5 in every row: there is nothing to teach"),
        (["dear"] * 40, "'t.csv': the target 'y' has one class, dear: at least two are needed"),
        (["7", *[""] * 39], "'t.csv' has 1 row with a value in 'y': at least 2 are needed"),
    ],
)  # fmt: skip
def test_labels_that_teach_nothing_are_refused_by_the_name_of_their_column(nimt, tmp_path, labels, said):
    lines = [f'{place * 0.37:.2f},"{label}"' for place, label in enumerate(labels)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    for command in (("suspects",), ("teaching-set", "--size", 5)):
        answer = nimt(command[0], "t.csv", *command[1:])
        assert answer.code == 2 and said in answer.err and answer.err.count("\n") == 1


def test_a_column_of_names_is_one_where_rows_are_copied_and_numbers_in_words_are_no_feature(nimt, tmp_path):
    rng = np.random.default_rng(4)
    x = rng.permutation(np.linspace(-1, 1, 40)).round(3)
    lines = [f'house {place},{value},"{place % 25},500",{2 * value:.3f}' for place, value in enumerate(x)]
    (tmp_path / "t.csv").write_text("\n".join(["name,x,rent,y", *lines, *lines]) + "\n")
    answer = nimt("suspects", "t.csv")
    assert "column name has another word in every row, like a name, and is not used as a feature" in answer.err
    assert "column rent has 25 different words (they look like numbers with a thousands separator" in answer.err
    assert "40 rows are copies of others" in answer.err and "0 rows of 80 disagree" in answer.err

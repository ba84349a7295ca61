"""Rows of a sweep that somebody edited, and places where no rows can be: a sentence, and nothing else is written to."""

import json
import os

import numpy as np
import pytest

import nimt
from nimt.errors import CorruptLesson
from nimt.runs.entries import entry_of_line

X = np.linspace(-1, 1, 9)
LEARNER = nimt.KernelLearner(nimt.rbf(0.3), learning_rate=0.2)


def sweep(out):
    return nimt.sweep(
        {"sine": (X, np.sin(X))}, {"kernel": LEARNER}, {"greedy": nimt.GreedyTeacher()},
        max_iterations=4, tol=None, seeds=1, n_jobs=1, out=out,
    )  # fmt: skip


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    sweep(folder)
    return json.loads((folder / "lessons.jsonl").read_text())


ALTERED = {
    "an infinite step": {"curve_steps": [0, 1, 2, 3, {"float": "inf"}]},
    "half a step": {"curve_steps": [0, 0.5, 1, 2, 3]},
    "steps that fall": {"curve_steps": [4, 3, 2, 1, 0]},
    "no curve": {"curve_steps": [], "curve": []},
    "a nested curve": {"curve": [[1.0]] * 5},
    "a number beyond all": {"start": 10**400},
    "fewer than no steps": {"steps": -5},
    "more steps than can be counted": {"steps": 10**30},
    "a truth for a count": {"itd": True},
    "parameters of parameters": {"parameters": {"learner": {"learner": 1}}},
    "a key that is a path": {"key": "../../lesson"},
    "a seed below zero": {"seed": -1},
    "a colour that is none": {"colour": "red; background: url(x)"},
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED)
def test_an_altered_row_is_named(row, change):
    assert entry_of_line(json.dumps(row)).steps == 4
    with pytest.raises(CorruptLesson, match="was altered"):
        entry_of_line(json.dumps(row | change))


def test_a_huge_seed_is_a_seed(row):
    assert entry_of_line(json.dumps(row | {"seed": 10**40})).seed == 10**40


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="places that are no files are made as on Unix")
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "another file", "link to another file"])
def test_rows_are_written_only_to_a_file_of_rows(tmp_path, kind):
    rows, other = tmp_path / "lessons.jsonl", tmp_path / "other.txt"
    other.write_text("mine\n")
    {
        "folder": rows.mkdir,
        "pipe": lambda: os.mkfifo(rows),
        "device": lambda: rows.symlink_to("/dev/full"),
        "another file": lambda: rows.write_text("mine\n"),
        "link to another file": lambda: rows.symlink_to(other),
    }[kind]()
    with pytest.raises(nimt.InvalidInput, match="is not a file of lessons that nimt wrote: name another folder"):
        sweep(tmp_path)
    assert other.read_text() == "mine\n"


def test_what_is_no_path_is_refused():
    with pytest.raises(nimt.InvalidInput, match="a sweep is loaded from the path of its folder, got 1"):
        nimt.runs.Sweep.load(1)
    with pytest.raises(nimt.InvalidInput, match="a comparison is loaded from the path of its folder, got 1"):
        nimt.runs.Comparison.load(1)


@pytest.mark.parametrize("change", [{"choosing": 10**400}, {"key": "../lesson"}, {"curve": []}])
def test_an_altered_comparison_is_refused(tmp_path, change):
    comparison = nimt.compare(LEARNER, {"greedy": nimt.GreedyTeacher()}, X, np.sin, max_iterations=3, tol=None, seeds=1)
    comparison.save(tmp_path / "kept")
    path = tmp_path / "kept" / "lessons.jsonl"
    content = json.loads(path.read_text())
    assert nimt.runs.Comparison.load(tmp_path / "kept").rows()
    path.write_text(json.dumps(content | change) + "\n")
    with (
        pytest.warns(nimt.errors.StorageWarning, match="was altered"),
        pytest.raises(CorruptLesson, match="cut short or altered"),
    ):
        nimt.runs.Comparison.load(tmp_path / "kept")


def test_a_lesson_in_the_place_of_another_is_named_and_given_again(tmp_path):
    def compare(**options):
        return nimt.compare(LEARNER, {"random": nimt.RandomTeacher()}, X, np.sin, max_iterations=9, seeds=2, **options)

    whole = compare(out=tmp_path)
    one, other = sorted((tmp_path / "lessons").iterdir())
    one.write_bytes(other.read_bytes())
    with pytest.raises(CorruptLesson, match="is not the lesson that its line in"):
        nimt.runs.Comparison.load(tmp_path)
    with pytest.warns(nimt.errors.StorageWarning, match="it is given again"):
        again = compare(out=tmp_path)
    for first, second in zip(whole.lessons["random"], again.lessons["random"], strict=True):
        np.testing.assert_array_equal(first.discrepancy, second.discrepancy)
    assert nimt.runs.Comparison.load(tmp_path).rows()[0].seeds == 2

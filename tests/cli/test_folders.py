"""Whose folder it is: a run takes an empty one or a new one, and nothing of anybody's is written over unasked."""

from __future__ import annotations

import pytest

from nimt.lesson.lesson import Lesson

QUICK = ("--iterations", "3", "--quiet")


@pytest.mark.parametrize("command", [("teach", "sine"), ("compare", "sine"), ("demo",)])
def test_an_empty_name_is_no_folder(undrawn, nimt, tmp_path, command):
    answer = nimt(*command, "--out", "")
    assert answer.code == 2 and answer.is_one_sentence() and "--out is ''" in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["report.html", "lesson.npz", "run.toml", "thesis.tex"])
@pytest.mark.parametrize("command", [("teach", "sine", *QUICK), ("compare", "sine", *QUICK), ("demo",)])
def test_what_no_run_wrote_is_left_alone(undrawn, nimt, tmp_path, command, name):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("target = 'gmm'")
    answer = nimt(*command, "--out", "mine")
    assert answer.code == 2 and answer.is_one_sentence() and repr(name) in answer.err and "--overwrite" in answer.err
    assert [(path.name, path.read_text()) for path in (tmp_path / "mine").iterdir()] == [(name, "target = 'gmm'")]


def test_an_empty_folder_and_one_with_hidden_files_are_taken(undrawn, nimt, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / ".DS_Store").write_text("of the desktop")
    assert nimt("teach", "sine", *QUICK, "--out", "mine").code == 0
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    assert nimt("teach", "sine", *QUICK, "--out", "full", "--overwrite").code == 0
    assert (tmp_path / "full" / "notes.txt").read_text() == "mine"


@pytest.mark.long
def test_the_demo_replaces_itself_and_nothing_else(undrawn, nimt, tmp_path):
    assert nimt("demo", "--out", "shown").code == 0
    assert nimt("demo", "--out", "shown").code == 0
    assert nimt("teach", "sine", *QUICK, "--out", "run").code == 0
    before = (tmp_path / "run" / "lesson.npz").read_bytes()
    answer = nimt("demo", "--out", "run")
    assert answer.code == 2 and answer.is_one_sentence() and "--overwrite" in answer.err
    assert (tmp_path / "run" / "lesson.npz").read_bytes() == before
    assert nimt("demo", "--out", "run", "--overwrite").code == 0
    assert Lesson.load(tmp_path / "run" / "lesson.npz").itd == 3056


@pytest.mark.long
def test_what_is_said_of_a_comparison_works(nimt, tmp_path):
    command = ("compare", "sine", "--teachers", "greedy:1", *QUICK, "--out", "cmp")
    assert nimt(*command).code == 0
    answer = nimt("show", "cmp")
    assert answer.code == 2 and answer.is_one_sentence() and "resume" not in answer.err
    assert nimt("show", *answer.err.rpartition("nimt show ")[2].split()).code == 0
    answer = nimt(*command)
    assert answer.code == 2 and "holds a comparison" in answer.err and "resume" not in answer.err
    answer = nimt("resume", "cmp")
    assert answer.code == 2 and answer.is_one_sentence()
    assert nimt("compare", *answer.err.rpartition("nimt compare ")[2].split(), "--quiet").code == 0
    for path in (tmp_path / "cmp").iterdir():
        if path.name != "run.toml":
            path.unlink()
    answer = nimt("show", "cmp")
    assert answer.code == 2 and "nimt compare --config cmp/run.toml" in answer.err
    (tmp_path / "cmp" / "lessons-under-way").mkdir()
    answer = nimt("resume", "cmp", "-n", "7")
    assert answer.code == 2 and "leave -n out" in answer.err
    assert nimt("resume", "cmp", "--quiet").code == 0 and (tmp_path / "cmp" / "comparison.json").exists()
    assert nimt(*command, "--overwrite", "--quiet").code == 0

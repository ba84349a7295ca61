"""A report describes the lesson it was made from: what is put together from two runs is refused."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest

from nimt.lesson.lesson import Lesson

pytestmark = pytest.mark.usefixtures("undrawn")
STOPPED = ("--from", "gmm:start", "--learning-rate", "0.01", "--iterations", "20", "--tol", "0.001")


def assert_refused(answer, *words):
    assert answer.code == 2 and answer.is_one_sentence(), answer
    for word in words:
        assert word in answer.err, (word, answer.err)


EDITS = {
    "learning_rate": ('learning_rate = "0.01"', 'learning_rate = "0.5"'),
    "title": ('target = "gmm"', 'target = "sine"'),
    "start": ('initial = "gmm:start"', 'initial = "zero"'),
    "seed": ("seed = 0", "seed = 1"),
    "tol": ("tol = 0.001", "tol = 0.5"),
    "teacher": ('teacher = "greedy"', 'teacher = "random"'),
    "budget": ("iterations = 20", "iterations = 40"),
    "the mark too": (r"#.*lesson.*\n", ""),
}


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), EDITS.values(), ids=EDITS)
def test_settings_edited_between_stop_and_resume_are_refused(nimt, tmp_path, before, after):
    assert nimt("teach", "gmm", *STOPPED, "--out", "run").code == 0
    config = tmp_path / "run" / "run.toml"
    edited, count = re.subn(before, after, config.read_text())
    assert count == 1
    config.write_text(edited)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    for command in (("resume", "run"), ("resume", "run", "--iterations", "60")):
        assert_refused(nimt(*command), "run.toml", "nimt teach --config")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == kept


@pytest.mark.long
def test_what_says_the_same_is_no_edit(nimt, tmp_path):
    assert nimt("teach", "gmm", *STOPPED, "--out", "run").code == 0
    config = tmp_path / "run" / "run.toml"
    config.write_text("# my first run\n\n" + config.read_text().replace("seed = 0", "seed    = +0"))
    assert nimt("resume", "run", "--iterations", "30").code == 0
    assert len(Lesson.load(tmp_path / "run" / "lesson.npz")) == 30
    assert nimt("resume", "run", "--iterations", "40").code == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--learning-rate", "0.02"), "learning_rate is 0.02 in it, not 0.01"),
        (("--seed", "3"), "seed is 3"),
        (("--from", "zero"), ""),
        (("--kernel", "matern"), ""),
    ],
)
def test_a_file_of_another_run_is_refused(nimt, tmp_path, options, word):
    assert nimt("teach", "gmm", *STOPPED, "--out", "run").code == 0
    assert nimt("teach", "gmm", *STOPPED, *options, "--out", "other").code == 0
    shutil.copy(tmp_path / "other" / "lesson.npz", tmp_path / "run" / "lesson.npz")
    assert_refused(nimt("resume", "run", "--iterations", "30"), "lesson.npz", "run.toml", word)
    assert "iterations = 20" in (tmp_path / "run" / "run.toml").read_text()


def test_what_is_begun_again_is_what_was_begun(nimt, tmp_path):
    np.save(tmp_path / "curve.npy", np.sin(np.arange(30.0)))
    assert nimt("teach", "curve.npy", "--iterations", "5", "--out", "run").code == 0
    (tmp_path / "run" / "lesson.npz").unlink()
    assert nimt("resume", "run").code == 0
    (tmp_path / "run" / "lesson.npz").unlink()
    np.save(tmp_path / "curve.npy", np.cos(np.arange(30.0)))
    assert_refused(nimt("resume", "run"), "curve.npy", "as it is now")
    assert not (tmp_path / "run" / "lesson.npz").exists()


def test_the_input_may_be_gone_when_a_run_goes_on(nimt, tmp_path):
    np.save(tmp_path / "curve.npy", np.sin(np.arange(30.0)))
    assert nimt("teach", "curve.npy", "--iterations", "5", "--tol", "0", "--out", "run").code == 0
    (tmp_path / "curve.npy").unlink()
    assert nimt("resume", "run", "--iterations", "9").code == 0


def test_an_overwritten_run_leaves_no_report_of_the_one_before(nimt, tmp_path, monkeypatch):
    assert nimt("teach", "gmm", *STOPPED, "--out", "run").code == 0
    for name in ("report.html", "summary.json", "curve.png"):
        (tmp_path / "run" / name).write_text("of the first run")
    (tmp_path / "run" / "notes.txt").write_text("mine")

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nimt.cli.teach.run_session", interrupted)
    assert nimt("teach", "sine", "--out", "run", "--overwrite").code == 130
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["notes.txt", "run.toml"]


def test_a_run_resumed_between_two_budgets_keeps_the_snapshots_of_both(nimt, tmp_path, monkeypatch):
    """Killed after run.toml got the larger budget and before the first step: the next resume still asks for them."""
    short = ("teach", "gmm", *STOPPED[:-4], "--tol", "0", "--every", "10")
    assert nimt(*short, "--iterations", "20", "--out", "run").code == 0

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nimt.cli.teach.run_session", killed)
        assert nimt("resume", "run", "--iterations", "50").code == 130
    assert nimt("resume", "run").code == 0
    assert sorted(Lesson.load(tmp_path / "run" / "lesson.npz").snapshots) == [0, 10, 20, 30, 40, 50]

"""`nimt sweep`: a study from a file to a table and a figure, stopped and gone on with."""

from __future__ import annotations

import csv
import json
import signal

import pytest

pytestmark = pytest.mark.long

STUDY = """
target = ["gmm", "sine"]
initial = "gmm:start"
teachers = ["greedy:1", "random:3"]
width = [0.5, 1.0]
learning_rate = 0.1
iterations = 60
tol = 0.01
seeds = 2
"""


def rows_of(folder):
    return [json.loads(line) for line in (folder / "lessons.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_study_becomes_a_table_and_a_figure(nimt, tmp_path):
    (tmp_path / "widths.toml").write_text(STUDY.replace('["gmm", "sine"]', '"gmm"'))
    answer = nimt("sweep", "widths.toml")
    assert answer.code == 0, answer.err
    folder = tmp_path / "nimt-sweep-widths"
    names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    assert names == {"study.toml", "lessons.jsonl", "table.csv", "sweep.png"}
    with open(folder / "table.csv", newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [(row["width"], row["teacher"], row["seed"]) for row in table] == [
        (width, teacher, seed)
        for width in ("0.5", "1.0")
        for teacher, seeds in (("greedy:1", "0"), ("random:3", "01"))
        for seed in seeds
    ]
    lesson = nimt("teach", "gmm", "--from", "gmm:start", "--width", "1.0", "--learning-rate", "0.1", "--tol", "0.01",
                  "--measure", "paper", "-n", "60", "--json", "--out", "one")  # fmt: skip
    (same,) = [row for row in table if row["width"] == "1.0" and row["teacher"] == "greedy:1"]
    assert json.loads(lesson.out)["itd"] == (int(float(same["itd"])) if same["itd"] else None)
    before = rows_of(folder)
    for again in (("sweep", "widths.toml"), ("sweep", "--resume", "nimt-sweep-widths")):
        answer = nimt(*again)
        assert answer.code == 0 and rows_of(folder) == before


def test_a_lesson_that_cannot_be_given_is_a_row_and_a_line(nimt, tmp_path):
    (tmp_path / "study.toml").write_text(
        'target = "gmm"\nteachers = "greedy:1,random:5000"\niterations = 5\nseeds = 1\n'
    )
    answer = nimt("sweep", "study.toml", "--out", "out")
    assert answer.code == 0 and "random:5000" in answer.err and "5000" in answer.err
    assert [row["error"] is None for row in rows_of(tmp_path / "out")] == [True, False]
    assert nimt("sweep", "--resume", "out", "--retry-failed", "-q").code == 0
    assert len(rows_of(tmp_path / "out")) == 3


@pytest.mark.slow
def test_a_sweep_that_was_stopped_goes_on(server, tmp_path, until):
    study, out = tmp_path / "study.toml", tmp_path / "out"
    study.write_text(
        'target = "gmm"\nteachers = "random:1"\nengine = "reference"\niterations = 8000\nseeds = 12\ntol = 0\n'
    )
    pid = server.start("sweep", study, "--out", out)
    until(lambda: (out / "lessons.jsonl").exists())
    answer = server.kill(pid, signal.SIGINT)
    assert answer.code == 130 and answer.is_one_sentence() and f"nimt sweep --resume {out}" in answer.err
    before = rows_of(out)
    assert 1 <= len(before) < 12
    assert server.run("sweep", "--resume", out, "-q").code == 0
    rows = rows_of(out)
    assert rows[: len(before)] == before and len({row["key"] for row in rows}) == len(rows) == 12


@pytest.mark.parametrize(
    ("study", "says"),
    [
        ("seeds = 1", "names no target"),
        ("target = 3", "must be text"),
        ("target = 'gmm'\nwidth = []", "a list needs values"),
        ("target = 'gmm'\nwidth = [1.0, 1.0]", "each once"),
        ("target = 'gmm'\nwidth = ['a']", "must be a number"),
        ("target = 'gmm'\ntol = [0.1, 0.2]", "share it"),
        ("target = 'gmm'\nteacher = 'greedy'", "use teachers"),
        ("target = 'gmm'\ncolour = 'red'", "not a setting"),
        ("target = 'gmm'\nseeds = 0", "seeds"),
        ("target = 'gmm'\niterations = -1", "iterations"),
        ("target = 'no-such-thing'", "no-such-thing"),
        ("target = 'gmm'\nteachers = 'guru:1'", "guru"),
        ("target = [", "TOML"),
        (f"target = 'gmm'\nwidth = {list(range(1, 2000))}\nsize = {list(range(2, 999))}", "lessons are the most"),
    ],
)  # fmt: skip
def test_a_study_that_cannot_be_given_is_refused_with_one_sentence(nimt, tmp_path, study, says):
    (tmp_path / "study.toml").write_text(study)
    answer = nimt("sweep", "study.toml", "--out", "out")
    assert answer.code == 2 and answer.is_one_sentence() and says in answer.err, answer.err
    assert not (tmp_path / "out").exists()


def test_which_study_in_which_folder(nimt, tmp_path):
    (tmp_path / "one.toml").write_text("target = 'gmm'\niterations = 3\nseeds = 1\n")
    (tmp_path / "two.toml").write_text("target = 'gmm'\niterations = 4\nseeds = 1\n")
    assert nimt("sweep", "one.toml", "--out", "out", "-q").code == 0
    for arguments, says in [
        (("two.toml", "--out", "out"), "holds another study"),
        ((), "name a study"),
        (("one.toml", "--resume", "out"), "name a study"),
        (("--resume", "out", "--out", "out"), "leave --out out"),
        (("--resume", "nowhere"), "there is no study.toml"),
        (("missing.toml",), "missing.toml"),
        (("one.toml", "--out", "one.toml"), "is a file"),
        (("one.toml", "--jobs", "0"), "n_jobs"),
    ]:
        answer = nimt("sweep", *arguments)
        assert answer.code == 2 and answer.is_one_sentence() and says in answer.err, (arguments, answer.err)

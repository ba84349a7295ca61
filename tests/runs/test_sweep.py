"""Sweeps: every lesson that a loop over `teach` would give, once, whatever happens on the way."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from matplotlib.figure import Figure

import nimt
from nimt.plots.swept_lines import sweep_lines
from nimt.runs import workers
from nimt.runs.entries import OF_A_LESSON, choose_kept_steps, entry_of_line
from nimt.runs.runs_folder import ROWS, RunsFolder
from nimt.runs.sweep_table import cells
from nimt.runs.workers import Workers
from nimt.session.session import Session
from studies import POOL, FailingTeacher, SlowTeacher, WatchedTeacher, learner, slow_study

pytestmark = pytest.mark.long

RATES = (0.1, 0.5)
TEACHERS = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher(k=3)}
COMMON = {"max_iterations": 120, "tol": 2e-2}


def problems():
    return {"sine": (POOL, np.sin), "cosine": (POOL, np.cos)}


def learners():
    return {rate: learner(rate) for rate in RATES}


def lines_of(folder):
    return (folder / ROWS).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def found():
    return nimt.sweep(problems(), learners(), TEACHERS, seeds=3, **COMMON)


def test_every_lesson_is_the_one_that_a_loop_gives(found):
    given = iter(found.entries)
    for (name, (X, y)), rate, (called, teacher) in itertools.product(problems().items(), RATES, TEACHERS.items()):
        for seed in range(3 if called == "random" else 1):
            lesson = nimt.teach(learner(rate), teacher, X, y, seed=seed, **COMMON)
            entry = next(given)
            assert (entry.problem, entry.learner, entry.teacher, entry.seed) == (name, str(rate), called, seed)
            assert (entry.itd, entry.steps, entry.outcome) == (lesson.itd, len(lesson), str(lesson.outcome))
            assert entry.curve == tuple(lesson.discrepancy[: len(lesson) + 1].tolist())
            assert (entry.start, entry.end) == (lesson.discrepancy[0], lesson.discrepancy[-1])
            assert entry.examples == lesson.indices.size
            assert entry.distinct == len(set(lesson.indices.ravel().tolist()))
            assert entry.parameters["learner.learning_rate"] == rate
    assert next(given, None) is None


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.exhaustive), "sequential"])
def test_other_backends_of_joblib_give_the_same(found, backend):
    with joblib.parallel_config(backend=backend):
        again = nimt.sweep(problems(), learners(), TEACHERS, seeds=3, n_jobs=2, **COMMON)
    assert [(entry.key, entry.curve) for entry in again.entries] == [(one.key, one.curve) for one in found.entries]


def test_what_is_known_is_not_given_again(found, tmp_path):
    out = tmp_path / "out"
    first = nimt.sweep(problems(), learners(), TEACHERS, seeds=2, out=out, **COMMON)
    lines = lines_of(out)
    assert len(lines) == len(first) == 12
    told = []
    again = nimt.sweep(problems(), learners(), TEACHERS, seeds=2, out=out, progress=told.append, **COMMON)
    assert lines_of(out) == lines and again.entries == first.entries
    assert [(one.done, one.total, one.left) for one in told] == [(12, 12, None)]
    larger = nimt.sweep(problems(), learners(), TEACHERS, seeds=3, out=out, **COMMON)
    assert lines_of(out)[:12] == lines and len(lines_of(out)) == 16
    assert [entry.curve for entry in larger.entries] == [entry.curve for entry in found.entries]
    other = nimt.sweep(problems(), learners(), TEACHERS, seeds=2, out=out, **COMMON | {"tol": 1e-2})
    assert not {entry.key for entry in other.entries} & {entry.key for entry in larger.entries}
    assert len(nimt.runs.Sweep.load(out)) == 16 + 12


def test_another_version_gives_the_lessons_again(tmp_path, monkeypatch):
    study = {"seeds": 2, "out": tmp_path, **COMMON}
    nimt.sweep((POOL, np.sin), learner(), TEACHERS, **study)
    monkeypatch.setattr("nimt.runs.combinations.__version__", "99.0")
    nimt.sweep((POOL, np.sin), learner(), TEACHERS, **study)
    assert len(lines_of(tmp_path)) == 6


def test_a_lesson_that_fails_is_a_row_with_its_sentence(tmp_path):
    teachers = {"fails": FailingTeacher(), "too many": nimt.RandomTeacher(k=1000), "fine": nimt.GreedyTeacher()}
    found = nimt.sweep((POOL, np.sin), learner(), teachers, seeds=1, max_iterations=5, tol=None, out=tmp_path)
    fails, too_many, fine = found.entries
    assert "RuntimeError at step 2: no chalk left" in fails.error and fails.steps is None
    assert too_many.error.startswith("k must be") and "1000" in too_many.error
    assert fine.error is None and fine.steps == 5
    assert found.failed == (fails, too_many) and "2 failed" in repr(found)
    assert len(found.groups()) == 1 and found.best().teacher == "fine"
    nimt.sweep((POOL, np.sin), learner(), teachers, seeds=1, max_iterations=5, tol=None, out=tmp_path)
    assert len(lines_of(tmp_path)) == 3
    again = nimt.sweep(
        (POOL, np.sin), learner(), teachers, seeds=1, max_iterations=5, tol=None, out=tmp_path, retry_failed=True
    )
    assert len(lines_of(tmp_path)) == 5 and len(again) == 3


def test_a_teacher_that_remembers_does_not_share_what_it_remembers():
    class Turns:
        def __init__(self):
            self.turn = 0

        def select(self, view):
            self.turn += 1
            return view.show([self.turn % len(view.target)])

    found = nimt.sweep(
        (POOL, np.sin),
        {rate: learner(rate) for rate in (0.1, 0.1001, 0.1002)},
        Turns(),
        seeds=1,
        max_iterations=20,
        tol=None,
    )
    for entry, rate in zip(found.entries, (0.1, 0.1001, 0.1002), strict=True):
        assert (
            entry.end == nimt.teach(learner(rate), Turns(), POOL, np.sin, max_iterations=20, tol=None).discrepancy[-1]
        )


def test_learners_and_teachers_can_be_made_for_a_problem():
    problem = nimt.sources.read_problem("gmm", "gmm:start", other_target="sine")
    found = nimt.sweep(
        {"mixture": problem},
        lambda problem: nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=problem.initial),
        {
            "other": lambda problem: nimt.GreedyTeacher(
                labels=nimt.teachers.AlternativeLabels(problem.other_target, 0.2)
            )
        },
        seeds=[4],
        max_iterations=30,
        tol=None,
    )
    made = nimt.KernelLearner(nimt.rbf(0.5), learning_rate=0.1, initial=problem.initial)
    teacher = nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(problem.other_target, 0.2))
    lesson = nimt.teach(made, teacher, problem.pool, problem.target, seed=4, max_iterations=30, tol=None)
    assert found.entries[0].curve == tuple(lesson.discrepancy.tolist())


def test_a_function_that_fails_is_a_row_with_its_sentence(tmp_path):
    def made(problem):
        if problem.target[0] > 0:
            raise ZeroDivisionError("no rate for this one")
        return learner(0.2)

    def study(make):
        two = {"fails": (POOL, -np.cos(POOL.points[:, 0])), "fine": (POOL, np.cos(POOL.points[:, 0]))}
        return nimt.sweep(two, {"made": make}, TEACHERS, seeds=2, max_iterations=5, tol=None, out=tmp_path)

    found = study(made)
    assert [(entry.problem, entry.teacher, entry.seed) for entry in found.entries] == [
        ("fails", "greedy", 0), ("fails", "random", 0),
        ("fine", "greedy", 0), ("fine", "random", 0), ("fine", "random", 1),
    ]  # fmt: skip
    assert {entry.error for entry in found.failed} == {
        "a learner could not be made: ZeroDivisionError: no rate for this one"
    }
    assert found.problems == ["fine"]
    assert len(study(lambda problem: learner(0.2)).failed) == 0


def test_problems_in_a_box_and_with_a_learner_as_target():
    box = nimt.Box([(-3.0, 3.0)])
    target = learner().partial_fit([[0.0], [1.0]], [1.0, -1.0])
    found = nimt.sweep(
        {"box": (box, np.sin), "learner": (POOL, target)},
        learner(),
        nimt.GreedyTeacher(),
        seeds=1,
        max_iterations=10,
        tol=None,
    )
    assert [entry.error for entry in found.entries] == [None, None]


def test_whole_lessons_are_kept_where_asked_for(tmp_path):
    study = {"seeds": 2, "max_iterations": 30, "tol": None, "out": tmp_path}
    nimt.sweep((POOL, np.sin), learner(), TEACHERS, **study)
    with pytest.raises(nimt.errors.MissingFile, match="keep_lessons=True"):
        nimt.runs.Sweep.load(tmp_path).lesson("abc")
    found = nimt.sweep((POOL, np.sin), learner(), TEACHERS, **study, keep_lessons=True)
    for entry in found.entries:
        kept = found.lesson(entry.key)
        assert tuple(kept.discrepancy.tolist()) == entry.curve and kept.indices is not None
    before = lines_of(tmp_path)
    nimt.sweep((POOL, np.sin), learner(), TEACHERS, **study, keep_lessons=True)
    assert lines_of(tmp_path) == before


# whatever happens on the way


def started(out, seeds, pause):
    here = Path(__file__).parents[1]
    return subprocess.Popen([sys.executable, str(here / "studies.py"), str(out), str(seeds), str(pause)], cwd=here)


def wait_for_lines(out, count):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if (out / ROWS).exists() and len(lines_of(out)) >= count:
            return
        time.sleep(0.01)
    raise AssertionError("the sweep wrote no lines")


@pytest.mark.slow
def test_a_kill_loses_only_the_lessons_under_way(tmp_path):
    out = tmp_path / "out"
    process = started(out, 12, 0.02)
    wait_for_lines(out, 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = lines_of(out)
    assert 3 <= len(before) < 12
    with open(out / ROWS, "ab") as file:
        file.write(before[0].encode()[:200])  # what a kill in the middle of a write leaves
    found = slow_study(out, seeds=12, pause=0.02)
    assert lines_of(out)[: len(before)] == before
    whole = slow_study(None, seeds=12, pause=0)
    assert [entry.curve for entry in found.entries] == [entry.curve for entry in whole.entries]


def watched_study(out):
    return nimt.sweep((POOL, np.sin), learner(), WatchedTeacher(), seeds=1, max_iterations=60, out=out, n_jobs=1)


@pytest.fixture
def stopped(tmp_path, monkeypatch):
    """Return the folder of a sweep that was stopped in its only lesson, and the file of the steps taken."""
    monkeypatch.setattr("nimt.store.checkpoint_file.EVERY", 0.0)
    monkeypatch.setattr("nimt.store.checkpoint_file.SHARE", 1e9)
    monkeypatch.setattr("nimt.session.session.INTERVAL", 1e-9)  # a chunk is one step
    steps = tmp_path / "steps"
    monkeypatch.setenv("NIMT_STEPS", str(steps))
    monkeypatch.setenv("NIMT_STOP", "yes")
    with pytest.raises(KeyboardInterrupt):
        watched_study(tmp_path / "out")
    monkeypatch.delenv("NIMT_STOP")
    assert [int(line) for line in steps.read_text().splitlines()] == list(range(41))
    steps.unlink()
    return tmp_path / "out", steps


def test_a_lesson_under_way_goes_on_from_its_checkpoint(stopped):
    out, steps = stopped
    found = watched_study(out)
    assert [int(line) for line in steps.read_text().splitlines()] == list(range(40, 60))
    assert not list((out / "under-way").iterdir()), "what is finished needs no checkpoint"
    assert found.entries[0].curve == watched_study(None).entries[0].curve


def test_a_checkpoint_of_another_lesson_or_a_damaged_one_is_left_out(stopped):
    out, steps = stopped
    (checkpoint, previous) = sorted((out / "under-way").iterdir())
    nimt.teach(learner(0.1), nimt.RandomTeacher(), POOL, np.sin, max_iterations=60, checkpoint=out / "other")
    for path in (checkpoint, previous):
        path.write_bytes((out / "other").read_bytes())
    with pytest.warns(
        nimt.errors.StorageWarning, match="is of another lesson, with another learner: its lesson begins again"
    ):
        found = watched_study(out)
    assert [int(line) for line in steps.read_text().splitlines()] == list(range(60))
    assert found.entries[0].curve == watched_study(None).entries[0].curve


@pytest.mark.slow
def test_two_processes_share_a_folder_and_give_each_lesson_once(tmp_path):
    out = tmp_path / "out"
    both = [started(out, 24, 0.02), started(out, 24, 0.02)]
    assert [process.wait() for process in both] == [0, 0]
    keys = [entry_of_line(line).key for line in lines_of(out)]
    assert len(keys) == len(set(keys)) == 24
    assert [path.name for path in (out / ".locks").iterdir()] == ["rows"]


@pytest.mark.slow
def test_control_c_ends_the_lessons_under_way_and_keeps_the_finished(tmp_path):
    out = tmp_path / "out"
    process = started(out, 200, 0.05)
    wait_for_lines(out, 2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) != 0
    count = len(lines_of(out))
    assert 2 <= count < 200
    assert all(entry_of_line(line).steps == 10 for line in lines_of(out)), "a lesson that was cut short was kept"


def test_a_lesson_that_another_process_is_giving_is_waited_for(tmp_path):
    (entry,) = slow_study(None, seeds=1, pause=0).entries
    folder = RunsFolder(tmp_path)
    assert folder.claim(entry.key)
    assert not RunsFolder(tmp_path).claim(entry.key)
    folder.add(entry)
    assert not RunsFolder(tmp_path).claim(entry.key), "it is known now"
    found = slow_study(tmp_path, seeds=1, pause=0)
    assert found.entries == (entry,) and len(lines_of(tmp_path)) == 1


def test_altered_lines_are_passed_over_and_given_again(tmp_path):
    found = slow_study(tmp_path, seeds=3, pause=0)
    lines = lines_of(tmp_path)
    altered = [
        lines[0].replace('"steps": 10', '"steps": "ten"'),
        lines[1].replace('"curve": [', '"curve": ["x", '),
        lines[2],
        "[" * 50_000,
        "{}",
        "null",
    ]
    (tmp_path / ROWS).write_bytes("\n".join(altered).encode() + b"\n\xff\xfe\n")
    with pytest.warns(nimt.errors.StorageWarning, match=r"left out \(4\), .* altered: steps is 'ten'"):
        assert len(nimt.runs.Sweep.load(tmp_path)) == 1
    with pytest.warns(nimt.errors.StorageWarning):
        again = slow_study(tmp_path, seeds=3, pause=0)
    assert [entry.curve for entry in again.entries] == [entry.curve for entry in found.entries]


@pytest.mark.parametrize("name", OF_A_LESSON)
def test_a_number_set_to_null_by_hand_is_named(name, tmp_path):
    (entry,) = slow_study(None, seeds=1, pause=0).entries
    line = json.dumps(json.loads(entry.to_line()) | {name: None})
    (tmp_path / ROWS).write_text(entry.to_line() + "\n" + line + "\n")
    with pytest.warns(nimt.errors.StorageWarning, match=rf"left out \(1\), .* altered: {name} is None"):
        assert nimt.runs.Sweep.load(tmp_path).groups()[0].row.seeds == 1


def test_numbers_that_are_not_finite_survive_the_file(tmp_path):
    study = {"seeds": 1, "max_iterations": 5000, "tol": None, "out": tmp_path, "engine": "reference"}
    with pytest.warns(nimt.errors.StepSizeWarning):
        found = nimt.sweep((POOL, np.sin), learner(8.0), nimt.GreedyTeacher(k=1.0), **study)
    again = nimt.runs.Sweep.load(tmp_path)
    assert found.entries[0].outcome == again.entries[0].outcome == str(nimt.lesson.Outcome.DIVERGED)
    np.testing.assert_array_equal(again.entries[0].curve, found.entries[0].curve)


# what was found


def test_the_table_in_every_form(found, tmp_path):
    table = found.to_table()
    assert {len(column) for column in table.values()} == {len(found)} == {16}
    assert table["seed"].dtype == table["itd"].dtype == int and table["end"].dtype == float
    assert table["learner.learning_rate"].tolist() == [float(entry.learner) for entry in found.entries]
    frame = found.to_table("pandas")
    assert list(frame.columns) == list(table) and len(frame) == 16
    polars = found.to_table("polars")
    assert polars.columns == list(table) and polars["teacher"].to_list() == table["teacher"].tolist()
    found.save_table(tmp_path / "table.csv")
    with open(tmp_path / "table.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["teacher"] for row in rows] == table["teacher"].tolist()
    assert [float(row["end"]) for row in rows] == table["end"].tolist()
    found.save_table(tmp_path / "table.parquet")
    import pyarrow.parquet

    back = pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pydict()
    assert back["end"] == table["end"].tolist() and back["error"] == [None] * 16
    with pytest.raises(nimt.InvalidInput, match=r"table\.xlsx"):
        found.save_table(tmp_path / "table.xlsx")
    with pytest.raises(nimt.InvalidInput, match="'arrow'"):
        found.to_table("arrow")
    with pytest.raises(nimt.errors.MissingFile, match="make it first"):
        found.save_table(tmp_path / "missing" / "table.csv")


def test_a_library_that_is_not_installed_is_named(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(nimt.errors.MissingExtra, match="pip install polars"):
        found.to_table("polars")


def test_curves_are_those_of_the_lessons(found):
    curves = found.curves
    for entry in found.entries:
        mine = (
            (curves["problem"] == entry.problem)
            & (curves["learner"] == entry.learner)
            & (curves["teacher"] == entry.teacher)
            & (curves["seed"] == entry.seed)
        )
        assert tuple(curves["discrepancy"][mine]) == entry.curve
        assert tuple(curves["step"][mine]) == entry.curve_steps


def test_long_curves_are_kept_at_the_same_steps_in_every_lesson():
    for last in (0, 5, 256, 257, 1000, 70_000):
        steps = choose_kept_steps(last)
        assert steps[0] == 0 and steps[-1] == last and steps == sorted(set(steps))
        assert set(steps[:-1]) <= set(choose_kept_steps(2 * last + 1000))
        assert all(later - step <= max(1, step / 60) for step, later in itertools.pairwise(steps))


def test_groups_and_the_best_by_plain_loops(found):
    for group in found.groups():
        mine = [
            entry
            for entry in found.entries
            if (entry.problem, entry.learner, entry.teacher) == (group.problem, group.learner, group.teacher)
        ]
        assert group.row.seeds == len(mine)
        ends = [entry.end for entry in mine]
        mean = sum(ends) / len(ends)
        assert group.row.discrepancy == pytest.approx(mean, rel=1e-14)
        if len(mine) == 1:
            assert group.row.discrepancy_deviation is None
        else:
            spread = (sum((end - mean) ** 2 for end in ends) / (len(ends) - 1)) ** 0.5
            assert group.row.discrepancy_deviation == pytest.approx(spread, rel=1e-12)
    reached = [group for group in found.groups() if group.problem == "sine" and group.row.steps is not None]
    assert reached and found.best("sine") in reached
    assert found.best("sine").row.steps == min(group.row.steps for group in reached)
    with pytest.raises(nimt.InvalidInput, match=r"best\(problem='sine'\)"):
        found.best()
    with pytest.raises(nimt.InvalidInput, match="one of sine, cosine"):
        found.best("tangent")


def on_sine(found):
    return [entry for entry in found.given if entry.problem == "sine"]


def test_lines_of_the_figure_by_plain_loops(found):
    one = nimt.runs.Sweep(tuple(entry for entry in found.entries if entry.problem == "sine"))
    for line in sweep_lines(one.given, x="learner", y="end", hue="teacher"):
        assert line.x == RATES
        for place, rate in enumerate(RATES):
            ends = [entry.end for entry in one.entries if entry.teacher == line.name and float(entry.learner) == rate]
            assert line.low[place] == min(ends) and line.high[place] == max(ends)
            assert line.middle[place] == pytest.approx(sum(ends) / len(ends))
    for line in sweep_lines(one.given, hue="teacher"):
        mine = [entry for entry in one.entries if entry.teacher == line.name]
        for place, step in enumerate(line.x):
            values = [entry.curve[min(int(step), entry.steps)] for entry in mine]
            assert line.low[place] == min(values) and line.high[place] == max(values)


def test_the_figure_draws_the_lines_and_bands(found):
    ax = found.plot(x="learning_rate", y="end", hue="teacher", where={"problem": "sine"}).axes[0]
    lines = sweep_lines(on_sine(found), "learner.learning_rate", "end", "teacher")
    assert [line.get_label() for line in ax.lines] == ["greedy", "random"]
    for drawn, line in zip(ax.lines, lines, strict=True):
        np.testing.assert_array_equal(drawn.get_ydata(), line.middle)
    assert len(ax.collections) == 1 and ax.get_ylabel() == "discrepancy at the end"  # greedy has one lesson per rate
    curves = found.plot(where={"problem": "sine"})
    assert curves.axes[0].get_xlabel() == "step" and curves.axes[0].get_yscale() == "log"
    assert curves._repr_png_()[0].startswith(b"\x89PNG"), "a notebook shows it"
    own = Figure().subplots()
    assert found.plot(where={"problem": "sine"}, ax=own) is own and len(own.lines) == 2
    for bad, says in [
        ({"x": "nowhere"}, "no such column"),
        ({"x": "width", "y": "teacher"}, "column of numbers"),
        ({"x": "step", "y": "itd"}, "only the discrepancy"),
        ({"hue": "nothing"}, "no such column"),
        ({"where": {"problem": "tangent"}}, "problem must be one of sine, cosine, got 'tangent' in where"),
        ({"where": {"nowhere": 1}}, "no such column"),
        ({"where": {"teacher": []}}, "teacher must be one of greedy, random"),
        ({"width": "poster"}, "must be 'column' or 'page', got 'poster'"),
        ({"style": "pink"}, "must be 'light' or 'dark', got 'pink'"),
        ({"facet": "seed", "ax": Figure().subplots()}, "leave out ax, or facet"),
        ({"width": "page", "ax": Figure().subplots()}, "of a new figure"),
    ]:
        with pytest.raises(nimt.InvalidInput, match=says):
            found.plot(**{"where": {"problem": "sine"}} | bad)


def test_an_accuracy_has_no_logarithmic_axis():
    labels = np.where(POOL.points[:, 0] > 0, 1.0, -1.0)
    found = nimt.sweep((POOL, labels), learner(), TEACHERS, seeds=1, max_iterations=5, tol=None, measure="accuracy")
    assert found.plot().axes[0].get_yscale() == "linear"


def test_a_line_never_mixes_problems_and_says_which_learners_it_mixes(found):
    with pytest.raises(
        nimt.InvalidInput,
        match=r"mix the lessons of 2 problems: plot\(where=\{'problem': 'sine'\}\), facet='problem' or",
    ):
        found.plot()
    for mistyped in ({"x": "learnin_rate", "y": "itd"}, {"facet": "problems"}, {"hue": "teachers"}):
        with pytest.raises(nimt.InvalidInput, match="there is no such column"):
            found.plot(**mistyped)
    assert [line.get_label() for line in found.plot(hue="problem").axes[0].lines] == ["sine", "cosine"]
    assert [line.name for line in sweep_lines(found.given, x="problem")] == ["greedy", "random"]
    assert found.plot(where={"problem": "cosine"}).axes[0].get_ylabel().endswith("mean of 2 learners")
    assert found.plot(hue="learner", where={"problem": "cosine"}).axes[0].get_ylabel().endswith("mean of 2 teachers")
    assert "mean" not in found.plot(x="learning_rate", where={"problem": "cosine"}).axes[0].get_ylabel()
    panels = found.plot("learning_rate", facet="problem").axes
    assert [ax.get_title(loc="left") for ax in panels] == ["sine", "cosine"]
    cosine = [entry for entry in found.given if entry.problem == "cosine"]
    np.testing.assert_array_equal(panels[1].lines[0].get_ydata(), sweep_lines(cosine, "learner")[0].middle)


def test_where_and_facets_choose_lessons_by_any_column(found):
    ax = found.plot(where={"problem": "sine", "learning_rate": RATES[1], "teacher": ["random"]}).axes[0]
    mine = [
        entry for entry in found.given
        if entry.problem == "sine" and float(entry.learner) == RATES[1] and entry.teacher == "random"
    ]  # fmt: skip
    (drawn,) = ax.lines
    last = [entry.curve[-1] for entry in mine]
    assert drawn.get_ydata()[-1] == pytest.approx(sum(last) / len(last))
    figure = found.plot(facet="learning_rate", where={"problem": "sine"})
    assert [ax.get_title(loc="left") for ax in figure.axes] == [f"learning rate = {rate:g}" for rate in RATES]
    assert len({ax.get_ylim() for ax in figure.axes}) == 1, "one scale"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["greedy", "random"]


@pytest.mark.parametrize(("width", "inches"), [("column", 3.25), ("page", 6.75)])
@pytest.mark.parametrize("facet", [None, "learner"])
def test_a_figure_is_as_wide_as_a_column_or_a_page(found, width, inches, facet):
    figure = found.plot(where={"problem": "sine"}, width=width, facet=facet)
    assert figure.get_size_inches()[0] == inches


def test_bands_of_a_sweep_are_those_of_a_comparison(found):
    random = {"problem": "sine", "teacher": "random", "learner": RATES[0]}
    ends = np.array([entry.end for entry in found.given if (entry.problem, entry.teacher) == ("sine", "random")
                     and float(entry.learner) == RATES[0]])  # fmt: skip
    entries = [entry for entry in on_sine(found) if entry.teacher == "random"]
    (line,) = sweep_lines(entries, "learner", "end", band="std")
    assert line.high[0] - line.middle[0] == pytest.approx(ends.std(ddof=1))
    (line,) = sweep_lines(entries, "learner", "end", band=(0.25, 0.75))
    assert [line.low[0], line.middle[0], line.high[0]] == pytest.approx(np.quantile(ends, [0.25, 0.5, 0.75]).tolist())
    assert "standard deviation" in found.plot("learner", "end", where=random, band="std").axes[0].get_ylabel()


def test_steps_that_were_not_taken_to_the_end_have_no_mean_and_no_deviation():
    found = with_itds((60, 70, 80), (50, 90, None), (40, None, None))
    with pytest.raises(nimt.InvalidInput, match="did not reach the tolerance"):
        found.plot("learner", band="std")
    (line,) = sweep_lines(found.given, "learner", band=(0.25, 0.75))
    assert line.low.tolist() == [65, 70, 100] and line.high.tolist() == [75, 100, 100]


def with_itds(*itds, budget=100):
    """Return a sweep of lessons by one teacher; at each rate some met the tolerance, None where one did not."""
    (entry,) = nimt.sweep(
        (POOL, np.sin), learner(), {"one": nimt.GreedyTeacher()}, seeds=1, max_iterations=1, tol=None
    ).entries
    return nimt.runs.Sweep(
        tuple(
            dataclasses.replace(
                entry,
                learner=str(place),
                seed=seed,
                itd=itd,
                steps=budget if itd is None else itd,
                key=f"{place} {seed}",
            )
            for place, several in enumerate(itds)
            for seed, itd in enumerate(several)
        )
    )


def test_steps_to_the_tolerance_are_never_a_mean_of_the_lessons_that_met_it():
    """Teaching gets harder from left to right: a mean of those that met it would fall."""
    found = with_itds((60, 70, 80), (50, 90, None), (40, None, None), (None, None, None))
    (line,) = sweep_lines(found.given, "learner")
    assert line.x == (0.0, 1.0, 2.0, 3.0)
    assert line.middle.tolist() == [70, 90, 100, 100] and line.beyond.tolist() == [False, False, True, True]
    assert line.low.tolist() == [60, 50, 40, 100] and line.high.tolist() == [80, 100, 100, 100]
    assert line.unmet == (0, 1, 2, 3) and line.lessons == (3, 3, 3, 3)
    ax = found.plot(x="learner").axes[0]
    assert [text.get_text() for text in ax.texts] == ["1/3", "2/3", "3/3", "one"]
    assert "a of b did not reach it" in ax.get_ylabel().replace("\n", " ")
    assert [mark.get_xdata()[0] for mark in ax.lines if mark.get_marker() == "^"] == [2.0, 3.0]
    assert "median" in ax.get_ylabel() and ax.lines[0].get_label() == "one"
    with pytest.raises(nimt.InvalidInput, match=r"^band='ci' needs a mean, and some lessons did not reach"):
        found.plot(x="learner", band="ci")


def test_where_all_met_the_tolerance_the_mean_is_drawn():
    found = with_itds((60, 70, 110), (50, 90, 100))
    (line,) = sweep_lines(found.given, "learner")
    assert line.middle.tolist() == [80, 80] and line.unmet == (0, 0)
    ax = found.plot(x="learner").axes[0]
    assert (
        [text.get_text() for text in ax.texts] == ["one"]
        and "median" not in ax.get_ylabel()
        and ax.lines[0].get_label() == "one"
    )


def test_a_summary_has_no_mean_of_the_lessons_that_met_the_tolerance():
    found = with_itds((60, 70, 80), (50, 90, None))
    assert [(group.row.steps, group.row.reached) for group in found.groups()] == [(70, 3), (None, 2)]
    assert [row[4] for row in map(cells, found.groups())] == ["70 ± 10", "2 of 3 reached it"]


def test_lessons_that_did_not_reach_the_tolerance_are_counted_in_the_figure():
    found = nimt.sweep((POOL, np.sin), learners(), TEACHERS, seeds=2, max_iterations=20, tol=1e-2)
    counts = {line.name: sum(line.unmet) for line in sweep_lines(found.given, "learner", "itd", "teacher")}
    for name, missing in counts.items():
        assert missing == sum(entry.itd is None for entry in found.entries if entry.teacher == name)
    assert sum(counts.values()) > 0
    assert any(text.get_text() == "2/2" for text in found.plot(x="learner").axes[0].texts)


def test_all_panels_of_a_figure_draw_medians_or_none_does():
    """A mean beside a median on one axis would be compared with it."""
    reached, missed = with_itds((60, 70, 110)).entries, with_itds((50, 90, None)).entries
    entries = [dataclasses.replace(one, problem="easy") for one in reached]
    entries += [dataclasses.replace(one, problem="hard", key=f"hard {one.key}") for one in missed]
    figure = nimt.runs.Sweep(tuple(entries)).plot("learner", facet="problem")
    easy, hard = figure.axes
    assert easy.lines[0].get_ydata().tolist() == [70] and hard.lines[0].get_ydata().tolist() == [90]
    assert "median" in easy.get_ylabel() and [text.get_text() for text in hard.texts] == ["1/3"]
    assert easy.get_yscale() == hard.get_yscale() and len(easy.texts) == 0


def test_notes_of_lines_that_meet_stand_one_above_the_other():
    entries = [
        dataclasses.replace(entry, teacher=name, key=f"{name} {entry.key}")
        for name in ("one", "two", "three")
        for entry in with_itds((None, None)).entries
    ]
    ax = nimt.runs.Sweep(tuple(entries)).plot("learner").axes[0]
    heights = [note.get_position()[1] for note in ax.texts[:3]]
    assert [note.get_text() for note in ax.texts[:3]] == ["2/2"] * 3
    assert np.diff(heights).tolist() == pytest.approx([8, 8])


def test_the_discrepancy_at_the_end_has_a_second_name_and_the_axes_name_the_measure(found):
    one, other = (found.plot("learner", name, where={"problem": "sine"}).axes[0] for name in ("end", "discrepancy"))
    assert one.get_ylabel() == other.get_ylabel() == "discrepancy at the end"
    np.testing.assert_array_equal(one.lines[0].get_ydata(), other.lines[0].get_ydata())
    assert found.plot(where={"problem": "sine"}, hue="learner").axes[0].get_ylabel().startswith("discrepancy M\n")


@pytest.mark.parametrize(("panels", "rows"), [(2, 1), (3, 1), (4, 2), (5, 2)])
def test_panels_are_laid_out_as_evenly_as_can_be(panels, rows):
    entries = [
        dataclasses.replace(entry, problem=f"p{place}", key=f"p{place}")
        for place in range(panels)
        for entry in with_itds((60,)).entries
    ]
    figure = nimt.runs.Sweep(tuple(entries)).plot("learner", facet="problem", width="page")
    assert figure.axes[0].get_gridspec().nrows == rows


def test_the_teachers_of_a_study_are_paired_within_a_problem_and_a_learner(found):
    pairs = found.pairs()
    assert [(pair.problem, pair.learner) for pair in pairs.rows] == [
        (problem, str(rate)) for problem in ("sine", "cosine") for rate in RATES
    ]
    for pair in pairs.rows:
        mine = [one for one in found.given if (one.problem, one.learner) == (pair.problem, pair.learner)]
        (greedy,) = [one for one in mine if one.teacher == "greedy"]
        drawn = [one for one in mine if one.teacher == "random"]
        rank = [(one.itd is None, one.end if one.itd is None else one.itd) for one in (greedy, *drawn)]
        assert pair.ahead == sum(rank[0] < other for other in rank[1:]) and pair.seeds == len(drawn)
    assert pairs.to_markdown().startswith("| problem | learner | teachers | seeds |")
    own = nimt.runs.Sweep(tuple(dataclasses.replace(one, itd=None, measure="mine") for one in found.entries))
    with pytest.raises(nimt.InvalidInput, match="whether a higher mine is better"):
        own.pairs()


def test_a_notebook_shows_a_table_and_nothing_that_runs(found):
    shown = nimt.sweep({"<script>": (POOL, np.sin)}, learner(), TEACHERS, seeds=2, **COMMON)._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and shown.count("<tr>") == 3
    assert "±" in found._repr_html_() and found._repr_html_().startswith('<div class="nimt">')


def test_progress_counts_up_and_says_what_is_left():
    told = []
    nimt.sweep((POOL, np.sin), learner(), TEACHERS, seeds=4, progress=told.append, **COMMON)
    assert [one.done for one in told] == list(range(6)) and told[-1].total == 5
    assert told[0].left is None and told[-1].left == 0 and told[2].left > 0


def test_a_bar_shows_the_lessons_and_leaves_the_result_as_it_is(capsys):
    def study(**options):
        return nimt.sweep((POOL, np.sin), learner(), TEACHERS, seeds=4, **options, **COMMON)

    shown = study(progress=True)
    said = capsys.readouterr()
    assert said.out == "" and "5 of 5 lessons, 00:00 left" in said.err
    assert [entry.curve for entry in shown.entries] == [entry.curve for entry in study(progress="auto").entries]
    assert capsys.readouterr() == ("", ""), "nobody looks on"


def test_names_tell_things_apart():
    found = nimt.sweep(
        [(POOL, np.sin), (POOL, np.cos)], [learner(0.1), learner(0.5)], (nimt.GreedyTeacher(), nimt.RandomTeacher(k=2)),
        seeds=1, max_iterations=2, tol=None,
    )  # fmt: skip
    assert {entry.problem for entry in found.entries} == {"problem 1", "problem 2"}
    assert {entry.learner for entry in found.entries} == {
        "KernelLearner, learning_rate=0.1",
        "KernelLearner, learning_rate=0.5",
    }
    assert {entry.teacher for entry in found.entries} == {"GFT-1", "RFT-2"}
    named = nimt.sweep(["gmm", "boundary"], learner(0.1), nimt.GreedyTeacher(), seeds=1, max_iterations=2, tol=None)
    assert [entry.problem for entry in named.entries] == ["gmm", "boundary"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 3}, r"seeds=\[3\]"),
        ({"callback": print}, "does not take callback"),
        ({"snapshots": [1]}, "does not take snapshots"),
        ({"colour": 3}, "does not take colour"),
        ({"seeds": 0}, "seeds"),
        ({"n_jobs": 0}, "n_jobs must be a count of workers"),
        ({"n_jobs": 1.5}, "n_jobs must be a count of workers"),
        ({"max_iterations": -1, "tol": None}, "max_iterations"),
        ({"tol": -1.0}, "tol must be"),
        ({"measure": "miles"}, "miles"),
        ({"teachers": []}, "teachers is empty"),
        ({"teachers": nimt.GreedyTeacher}, "needs select"),
        ({"teachers": [nimt.GreedyTeacher(), nimt.GreedyTeacher()]}, "both called 'GFT-1'"),
        ({"learners": 3}, "3"),
        ({"problems": 3}, "pair"),
        ({"problems": {"a": (1, 2, 3)}}, "pair"),
        ({"problems": "no-such-thing"}, "no-such-thing"),
        ({"keep_lessons": True}, "give out="),
        ({"progress": 3}, r"progress must be True, False, 'auto' or a function, got 3"),
        ({"out": __file__}, "is a file: name a folder"),
    ],
)
def test_bad_input_is_refused_before_any_lesson(change, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {
        "problems": (POOL, np.sin), "learners": learner(), "teachers": nimt.GreedyTeacher(), "max_iterations": 2,
    } | change  # fmt: skip
    with pytest.raises(nimt.InvalidInput, match=says):
        nimt.sweep(given.pop("problems"), given.pop("learners"), given.pop("teachers"), **given)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_or_holds_no_sweep(tmp_path):
    with pytest.raises(nimt.errors.MissingFile, match="there is no sweep"):
        nimt.runs.Sweep.load(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(nimt.InvalidInput, match="cannot be made"):
        nimt.sweep(
            (POOL, np.sin), learner(), nimt.GreedyTeacher(), max_iterations=2, tol=None, out=tmp_path / "file" / "out"
        )


def test_an_interrupted_lesson_is_not_kept(tmp_path, monkeypatch):
    whole = Session._loop

    def loop(self, watch, seconds, flag):
        flag.set()
        whole(self, watch, seconds, flag)

    monkeypatch.setattr("nimt.session.session.Session._loop", loop)
    with pytest.raises(KeyboardInterrupt):
        nimt.sweep(
            (POOL, np.sin), learner(), SlowTeacher(0), seeds=1, max_iterations=50, tol=None, out=tmp_path, n_jobs=1
        )
    assert not (tmp_path / ROWS).exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(nimt.InvalidInput, match="cannot be made or written to"):
        slow_study(tmp_path / "out", seeds=1)


# ---------------------------------------------------------------- quick calls


def numbered(count, taken):
    for number in range(count):
        taken.append(number)
        yield (number,)


def test_results_that_are_to_come_at_once_come_before_the_next_call_is_taken():
    taken = []
    for place, result in enumerate(Workers(2).each(lambda number: number, numbered(9, taken))):
        assert result == place and len(taken) == place + 1


def test_other_quick_results_come_a_few_at_a_time_and_none_is_lost():
    taken, seen = [], []
    for result in Workers(2).each(lambda number: number, numbered(500, taken), at_once=False):
        seen.append((result, len(taken)))
    assert sorted(result for result, _ in seen) == list(range(500))
    assert seen[0][1] > 1


def test_a_long_call_among_quick_ones_leaves_none_out(monkeypatch):
    """The calls before it are handed over with it, those after it run beside one another."""
    monkeypatch.setattr(workers, "COMPILING", 0.02)
    waits = threading.Event()

    def call(number):
        if number == 3:
            assert waits.wait(60)
        if number == 9:
            waits.set()
        return number

    assert sorted(Workers(2).each(call, numbered(12, []), at_once=False)) == list(range(12))


@pytest.mark.parametrize("at_once", [True, False])
def test_a_call_that_ends_the_program_ends_the_others(at_once):
    taken = []

    def call(number):
        if number == 3:
            raise KeyboardInterrupt
        return number

    with pytest.raises(KeyboardInterrupt):
        list(Workers(2).each(call, numbered(10_000, taken), at_once=at_once))
    assert len(taken) == 4

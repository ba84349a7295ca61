"""Comparisons: the lessons they are made of, and the arithmetic of their rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import nimt
from nimt.reports.comparison_page import comparison_table

pytestmark = pytest.mark.long

POOL = nimt.Grid(np.arange(-3, 3, 0.1))


def learner(**options):
    return nimt.KernelLearner(nimt.rbf(0.5), **{"learning_rate": 0.3, **options})


@pytest.fixture(scope="module")
def comparison():
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher(k=3), "whole": nimt.GreedyTeacher(k=1.0)}
    return nimt.compare(learner(), teachers, POOL, np.sin, max_iterations=120, tol=2e-2, seeds=4, engine="reference")


def test_each_lesson_is_the_lesson_that_teach_gives(comparison):
    for seed, lesson in enumerate(comparison.lessons["random"]):
        alone = nimt.teach(
            learner(),
            nimt.RandomTeacher(k=3),
            POOL,
            np.sin,
            max_iterations=120,
            tol=2e-2,
            seed=seed,
            engine="reference",
        )
        np.testing.assert_array_equal(lesson.discrepancy, alone.discrepancy)
        np.testing.assert_array_equal(lesson.indices, alone.indices)
        assert lesson.settings["teacher"] == alone.settings["teacher"]


def test_only_teachers_that_draw_are_repeated(comparison):
    assert [len(lessons) for lessons in comparison.lessons.values()] == [1, 4, 1]
    assert not nimt.GreedyTeacher(k=3).draws
    assert not nimt.GreedyTeacher(pool=np.array([1, 2, 3])).draws
    assert nimt.GreedyTeacher(pool=0.5).draws
    assert nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(0.0)).draws
    assert nimt.RandomTeacher().draws


def test_rows_by_plain_loops(comparison):
    for row in comparison.rows():
        lessons = comparison.lessons[row.name]
        steps, ends, shown, distinct = [], [], [], []
        for lesson in lessons:
            first = None
            for t, value in enumerate(lesson.discrepancy):
                if value < 2e-2 and first is None:
                    first = t
            steps.append(first)
            ends.append(lesson.discrepancy[-1])
            shown.append(lesson.indices.size)
            distinct.append(len(set(lesson.indices.ravel().tolist())))
        assert row.seeds == len(lessons)
        assert row.reached == sum(step is not None for step in steps)
        if row.reached == row.seeds:
            assert row.steps == sum(steps) / len(steps)
            assert row.steps_range == (min(steps), max(steps))
        else:
            assert row.steps is None and row.steps_range is None
        assert row.discrepancy == pytest.approx(sum(ends) / len(ends), rel=1e-14)
        assert row.examples == sum(shown) / len(shown)
        assert row.distinct == sum(distinct) / len(distinct)
        assert row.choosing is not None and row.learning is not None
        assert 0 < row.choosing < row.seconds
        assert row.choosing + row.learning == pytest.approx(row.seconds)


def test_bands_by_plain_loops(comparison):
    band = comparison.bands()[1]
    lessons = comparison.lessons["random"]
    length = max(len(lesson.discrepancy) for lesson in lessons)
    assert len({len(lesson) for lesson in lessons}) > 1, "the seeds must differ in length for this to test anything"
    for t in range(length):
        values = [lesson.discrepancy[min(t, len(lesson))] for lesson in lessons]
        assert band.low[t] == min(values) and band.high[t] == max(values)
        assert band.mean[t] == pytest.approx(sum(values) / len(values), rel=1e-14)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"seed": 3}, r"takes seeds, a count or a list, instead of seed: seeds=\[3\]"),
        ({"seed": None}, "takes seeds"),
    ],
)
def test_options_of_a_single_lesson_are_refused(option, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nimt.InvalidInput, match=says):
        nimt.compare(learner(), [nimt.GreedyTeacher()], POOL, np.sin, max_iterations=3, **{"tol": None} | option)
    assert not list(tmp_path.iterdir())


def test_time_is_whole_where_the_engine_chooses_and_learns_at_once():
    comparison = nimt.compare(learner(), [nimt.GreedyTeacher()], POOL, np.sin, max_iterations=3, tol=None)
    (row,) = comparison.rows()
    assert row.name == "GFT-1" and row.choosing is None and row.learning is None and row.seconds > 0
    assert "choosing" not in comparison_table(comparison)[0]


def test_finished_lessons_are_grouped_by_their_teacher(comparison):
    lessons = [lesson for group in comparison.lessons.values() for lesson in group]
    again = nimt.runs.Comparison.of(lessons)
    assert list(again.lessons) == ["GFT-1", "RFT-3", "whole"]
    assert again.tol == 2e-2
    for one, other in zip(comparison.rows(), again.rows(), strict=True):
        assert dataclasses.replace(one, name="", choosing=None, learning=None) == dataclasses.replace(other, name="")
    named = nimt.runs.Comparison.of({"a": lessons[0], "b": lessons[1:5]})
    assert [row.seeds for row in named.rows()] == [1, 4]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"X": np.arange(-3, 3, 0.2)}, "pool"),
        ({"y": np.cos}, "target"),
        ({"initial": 1.0}, "start"),
        ({"measure": "rms"}, "measure"),
    ],
)
def test_lessons_of_different_problems_are_refused(change, word):
    def lesson(X=POOL, y=np.sin, initial=0.0, measure="paper"):
        pool = X if isinstance(X, nimt.Grid) else nimt.Grid(X)
        return nimt.teach(
            learner(initial=initial), nimt.GreedyTeacher(), pool, y, max_iterations=2, tol=None, measure=measure
        )

    with pytest.raises(nimt.InvalidInput, match=f"differ in their {word}"):
        nimt.runs.Comparison.of([lesson(), lesson(**change)])


def test_what_cannot_be_compared():
    for teachers in ({}, [], 3, [nimt.GreedyTeacher(), nimt.GreedyTeacher()]):
        with pytest.raises(nimt.InvalidInput):
            nimt.compare(learner(), teachers, POOL, np.sin, max_iterations=2, tol=None)
    for seeds in (0, [], [1, 1], [-1], 1.5, True):
        with pytest.raises(nimt.InvalidInput):
            nimt.compare(learner(), [nimt.RandomTeacher()], POOL, np.sin, max_iterations=2, tol=None, seeds=seeds)
    with pytest.raises(nimt.InvalidInput):
        nimt.runs.Comparison.of([])
    with pytest.raises(nimt.InvalidInput):
        nimt.runs.Comparison.of([3])
    with pytest.raises(nimt.InvalidInput):
        nimt.compare(
            learner(), {"class": nimt.GreedyTeacher}, POOL, np.sin, max_iterations=2, tol=None, engine="reference"
        )


def test_other_labels_survive_the_clock():
    teacher = nimt.GreedyTeacher(labels=nimt.teachers.AlternativeLabels(np.cos, 0.5))
    timed = nimt.compare(
        learner(), {"a": teacher}, POOL, np.sin, max_iterations=30, tol=None, seeds=[3], engine="reference"
    )
    (lesson,) = timed.lessons["a"]
    alone = nimt.teach(learner(), teacher, POOL, np.sin, max_iterations=30, tol=None, seed=3, engine="reference")
    np.testing.assert_array_equal(lesson.labels, alone.labels)
    stored = lesson.settings["teacher"]["labels"]
    assert stored["probability"] == 0.5
    np.testing.assert_array_equal(stored["other_target"], np.cos(POOL.points[:, 0]))


def test_the_figure_draws_the_bands(comparison):
    figure = comparison.plot()
    (ax,) = figure.axes
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines if not str(line.get_label()).startswith("_")}
    assert list(drawn) == ["greedy", "random", "whole"]
    for band in comparison.bands():
        np.testing.assert_array_equal(drawn[band.name], band.mean)
    assert len(ax.collections) == 1, "only what has several seeds has a band"


def test_a_comparison_that_was_stopped_goes_on_where_it_was(tmp_path):
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher(k=2)}
    common = {"max_iterations": 400, "tol": None, "seeds": 3, "engine": "reference"}
    whole = nimt.compare(learner(), teachers, POOL, np.sin, **common)
    told = []

    def stop(progress):
        told.append(progress.step)
        if len(told) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nimt.compare(learner(), teachers, POOL, np.sin, **common, callback=stop, out=tmp_path / "kept")
    assert nimt.runs.Sweep.load(tmp_path / "kept").entries[0].teacher == "greedy"
    again = nimt.compare(learner(), teachers, POOL, np.sin, **common, out=tmp_path / "kept")
    for name, lessons in whole.lessons.items():
        assert len(lessons) == len(again.lessons[name])
        for one, other in zip(lessons, again.lessons[name], strict=True):
            np.testing.assert_array_equal(one.discrepancy, other.discrepancy)
    assert not list((tmp_path / "kept").glob("under-way/*"))
    assert [len(group) for group in nimt.runs.Comparison.load(tmp_path / "kept").lessons.values()] == [1, 3]
    other = nimt.compare(learner(learning_rate=0.1), teachers, POOL, np.sin, **common, out=tmp_path / "kept")
    alone = nimt.compare(learner(learning_rate=0.1), teachers, POOL, np.sin, **common)
    assert [row.discrepancy for row in other.rows()] == [row.discrepancy for row in alone.rows()]
    with pytest.raises(nimt.InvalidInput, match="several lessons called greedy, seed 0"):
        nimt.runs.Comparison.load(tmp_path / "kept")


def test_a_plan_counts_what_grows_with_the_length():
    short, long = (
        nimt.plan(learner(), nimt.GreedyTeacher(), POOL, np.sin, max_iterations=steps).bytes for steps in (1, 1001)
    )
    assert long - short == 1000 * (8 + 16 + 8)  # the discrepancy, the example and its coefficient
    picks = nimt.plan(learner(), nimt.GreedyTeacher(), POOL, np.sin, max_iterations=1001, record="picks").bytes
    assert long - picks == 1001 * (16 + 8)


def test_the_table_holds_means_deviations_and_ranges(comparison):
    table = comparison.to_table()
    assert table["name"].tolist() == ["greedy", "random", "whole"]
    for place, row in enumerate(comparison.rows()):
        ends = [lesson.discrepancy[-1] for lesson in comparison.lessons[row.name]]
        mean = sum(ends) / len(ends)
        assert table["discrepancy"][place] == pytest.approx(mean, rel=1e-14)
        assert (table["discrepancy_lowest"][place], table["discrepancy_highest"][place]) == (min(ends), max(ends))
        if len(ends) == 1:
            assert row.discrepancy_deviation is None and np.isnan(table["discrepancy_deviation"][place])
        else:
            spread = (sum((end - mean) ** 2 for end in ends) / (len(ends) - 1)) ** 0.5
            assert table["discrepancy_deviation"][place] == row.discrepancy_deviation == pytest.approx(spread)


def test_a_comparison_comes_back_as_it_was_saved(comparison, tmp_path):
    comparison.save(tmp_path / "kept")
    again = nimt.runs.Comparison.load(tmp_path / "kept")
    assert again.rows() == comparison.rows() and again.tol == comparison.tol
    for name, lessons in comparison.lessons.items():
        for one, other in zip(lessons, again.lessons[name], strict=True):
            np.testing.assert_array_equal(one.discrepancy, other.discrepancy)
    assert len(nimt.runs.Sweep.load(tmp_path / "kept")) == sum(map(len, comparison.lessons.values()))
    lines = tmp_path / "kept" / "lessons.jsonl"
    for altered in ("", lines.read_text()[:40]):
        lines.write_text(altered)
        with pytest.raises(nimt.errors.CorruptLesson, match="cut short or altered"):
            nimt.runs.Comparison.load(tmp_path / "kept")
    with pytest.raises(nimt.errors.MissingFile, match="no comparison in"):
        nimt.runs.Comparison.load(tmp_path)
    with pytest.raises(nimt.InvalidInput, match="is a file"):
        comparison.save(lines)


def test_lessons_side_by_side_are_those_one_after_the_other(comparison):
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher(k=3), "whole": nimt.GreedyTeacher(k=1.0)}
    again = nimt.compare(learner(), teachers, POOL, np.sin, max_iterations=120, tol=2e-2, seeds=4, n_jobs=2)
    for name, lessons in comparison.lessons.items():
        for one, other in zip(lessons, again.lessons[name], strict=True):
            np.testing.assert_array_equal(one.picks, other.picks)
    with pytest.raises(nimt.InvalidInput, match="n_jobs"):
        nimt.compare(learner(), teachers, POOL, np.sin, max_iterations=2, tol=None, n_jobs=0)


def test_the_time_of_choosing_is_kept_with_the_lessons(tmp_path):
    study = {"max_iterations": 20, "tol": None, "engine": "reference", "seeds": 2, "out": tmp_path / "kept"}
    first = nimt.compare(learner(), [nimt.RandomTeacher()], POOL, np.sin, **study)
    again = nimt.compare(learner(), [nimt.RandomTeacher()], POOL, np.sin, **study)
    assert first.choosing == again.choosing and first.rows()[0].choosing > 0


class OwnLearner(nimt.KernelLearner):
    """A learner of the reader's own, of which a file has the state."""


@pytest.mark.parametrize("kind", [nimt.KernelLearner, OwnLearner])
def test_lessons_that_were_kept_have_their_learners(kind, tmp_path):
    def compare():
        start = kind(nimt.rbf(0.5), learning_rate=0.2, initial=np.cos)
        return nimt.compare(start, [nimt.GreedyTeacher()], POOL, np.sin, max_iterations=9, out=tmp_path)

    far = np.array([[0.123], [7.5]])  # between the points of the pool, and beyond them
    (one,), (other,) = (compare().lessons["GFT-1"] for _ in range(2))
    assert one.elapsed == other.elapsed, "it was given again"
    np.testing.assert_array_equal(one.learner.predict(far), other.learner.predict(far))


def test_the_usual_teachers_that_cannot_teach_classes_are_left_out(nimt):
    rows = [f"{x / 10},{'no' if x < 15 else 'yes'}" for x in range(30)]
    Path("t.csv").write_text("x,kind\n" + "\n".join(rows) + "\n")
    answer = nimt("compare", "t.csv", "-n", "20", "--seeds", "2", "--out", "c")
    assert answer.code == 0, answer.err
    assert "synthesis is left out: the teacher synthesis makes labels of any value" in answer.err
    assert "6 lessons (greedy-1-seed-0.npz, ...), comparison.json" in answer.out
    refused = nimt("compare", "t.csv", "--teachers", "synthesis:1", "--out", "d")
    *progress, error = refused.err.strip().splitlines()
    assert refused.code == 2 and error.startswith("nimt: error: ") and not Path("d").exists()
    assert not any("error" in line for line in progress)


def test_the_error_on_points_held_out_is_the_mean_over_the_seeds():
    far = np.linspace(-2.95, 2.95, 13)[:, np.newaxis]
    teachers = {"greedy": nimt.GreedyTeacher(), "random": nimt.RandomTeacher()}
    found = nimt.compare(
        learner(), teachers, POOL, np.sin, max_iterations=40, tol=None, seeds=3, holdout=(far, np.sin(far[:, 0]))
    )
    header, lines = comparison_table(found)
    for row, line in zip(found.rows(), lines, strict=True):
        gaps = [lesson.learner.predict(far) - np.sin(far[:, 0]) for lesson in found.lessons[row.name]]
        assert row.held_out_rms == pytest.approx(np.mean([np.sqrt(np.mean(gap**2)) for gap in gaps]))
        spread = np.mean((np.sin(far) - np.sin(far).mean()) ** 2)
        assert row.held_out_r2 == pytest.approx(np.mean([1 - np.mean(gap**2) / spread for gap in gaps]))
        assert row.held_out_accuracy is None
        assert line[header.index("R^2 held out")] == f"{row.held_out_r2:.4g}"
        assert line[header.index("rms held out")] == f"{row.held_out_rms:.4g}"


def test_nothing_is_said_of_points_held_out_where_there_are_none(comparison):
    assert not any("held out" in name for name in comparison_table(comparison)[0])
    assert comparison.rows()[0].held_out_rms is None

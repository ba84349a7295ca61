"""What a lesson keeps and tells."""

import csv
import io
import time

import numpy as np
import pytest

import nimt
from nimt.engines import ENGINES
from nimt.learners.kernel_pupils import KernelPupil
from nimt.lesson import recording
from problems import assert_same_lesson, scattered, small_lesson


def test_the_columns_have_their_shapes():
    lesson = small_lesson(nimt.RandomTeacher(k=3), max_iterations=8)
    assert lesson.discrepancy.shape == (9,)
    assert lesson.indices.shape == lesson.labels.shape == (8, 3)
    assert lesson.indices.dtype == np.int64
    assert len(lesson) == 8
    assert lesson.elapsed > 0
    assert lesson.engine in ENGINES
    np.testing.assert_array_equal(lesson.picks, np.bincount(lesson.indices.ravel(), minlength=12))


def test_snapshots_are_the_values_at_their_step():
    walk_points, target, _ = scattered()
    walk = nimt.steps(
        nimt.KernelLearner(nimt.rbf(0.7), learning_rate=0.2),
        nimt.GreedyTeacher(),
        walk_points,
        target,
        max_iterations=25,
        tol=None,
    )
    values = {0: walk.values} | {t: walk.values for t, _, _ in walk}
    lesson = small_lesson(snapshots=[25, 0, 3, np.int64(3), 11])
    assert list(lesson.snapshots) == [0, 3, 11, 25]
    for step, snapshot in lesson.snapshots.items():
        np.testing.assert_array_equal(snapshot, values[step])
    np.testing.assert_array_equal(lesson.snapshots[0], lesson.initial)
    np.testing.assert_array_equal(lesson.snapshots[25], lesson.final)


def test_snapshots_change_nothing():
    assert_equal = np.testing.assert_array_equal
    assert_equal(small_lesson(snapshots=range(26)).discrepancy, small_lesson().discrepancy)


def test_picks_only():
    whole, counts = (small_lesson(nimt.RandomTeacher(k=2), record=record) for record in ("all", "picks"))
    assert (whole.record, counts.record) == ("all", "picks")
    assert counts.indices is None
    assert counts.labels is None
    np.testing.assert_array_equal(counts.picks, whole.picks)
    np.testing.assert_array_equal(counts.discrepancy, whole.discrepancy)
    assert set(counts.to_table()) == {"step", "discrepancy"}


def test_auto_keeps_everything_that_fits():
    assert small_lesson(record="auto").record == "all"


@pytest.mark.parametrize("sure", [True, False], ids=["known before", "found out on the way"])
def test_auto_keeps_the_counts_only_where_the_rest_is_too_large(monkeypatch, sure):
    monkeypatch.setattr(recording, "RECORD_LIMIT", 16 * 20)
    monkeypatch.setattr("nimt.task.task.RECORD_LIMIT", 16 * 20)
    monkeypatch.setattr(recording.Record.__init__, "__defaults__", (16 * 20,))
    options = {"max_iterations": 21, "tol": None} if sure else {"max_iterations": 21, "tol": 0.0}
    lesson = small_lesson(record="auto", **options)
    assert lesson.record == "picks"
    assert lesson.indices is None
    assert lesson.picks.sum() == 21
    assert small_lesson(record="auto", **options | {"max_iterations": 20, "tol": None}).record == "all"


def test_the_objective_is_equation_1():
    lesson = small_lesson(max_iterations=60)
    for lam in (0, 0.001, 0.01, 1.0):
        by_hand = [m + lam * t for t, m in enumerate(lesson.discrepancy)]
        np.testing.assert_allclose(lesson.objective(lam), by_hand, rtol=1e-15)
        assert lesson.best_length(lam) == by_hand.index(min(by_hand))
    assert lesson.best_length(1.0) == 0


@pytest.mark.parametrize("lam", [-1, np.nan, np.inf, "a", None, True])
def test_the_objective_refuses_what_is_no_weight(lam):
    with pytest.raises(nimt.InvalidInput, match="lam must be a finite number >= 0, got"):
        small_lesson(max_iterations=1).objective(lam)


@pytest.mark.parametrize("k", [1, 3])
def test_the_table_has_one_row_a_step(k):
    lesson = small_lesson(nimt.RandomTeacher(k=k), max_iterations=5)
    table = lesson.to_table()
    columns = ("index", "x_1", "x_2", "label")
    names = [*columns] if k == 1 else [f"{name}_{j}" for j in (1, 2, 3) for name in columns]
    assert list(table) == ["step", "discrepancy", *names]
    assert {len(column) for column in table.values()} == {6}
    np.testing.assert_array_equal(table["discrepancy"], lesson.discrepancy)
    np.testing.assert_array_equal(table[names[0]], [*lesson.indices[:, 0], -1])
    np.testing.assert_array_equal(table[names[1]], [*lesson.pool.points[lesson.indices[:, 0], 0], np.nan])
    np.testing.assert_array_equal(table[names[3]], [*lesson.labels[:, 0], np.nan])
    file = io.StringIO()
    csv.writer(file).writerows([table, *zip(*table.values(), strict=True)])
    assert len(file.getvalue().splitlines()) == 7


def test_the_settings_say_how_to_run_it_again():
    lesson = small_lesson(nimt.RandomTeacher(k=2, pool=0.5), tol=0.001, snapshots=[3], seed=9)
    settings = lesson.settings
    assert settings["nimt"] == nimt.__version__
    assert settings["versions"].keys() >= {"python", "numpy", "scipy"}
    from nimt.lesson.descriptions import rebuild

    again = nimt.teach(
        rebuild(settings["learner"]),
        rebuild(settings["teacher"]),
        rebuild(settings["pool"]),
        settings["target"],
        **{name: settings[name] for name in ("max_iterations", "tol", "measure", "snapshots", "record", "seed")},
    )
    assert_same_lesson(again, lesson)


def test_a_lesson_says_what_it_is():
    text = repr(small_lesson(max_iterations=500, tol=0.1))
    assert "ITD" in text
    assert "the discrepancy fell below the tolerance" in text


@pytest.mark.long
def test_a_callback_is_called_at_most_twenty_times_a_second_and_at_the_end():
    calls = []

    def note(progress):
        calls.append((time.perf_counter(), progress.step))

    lesson = small_lesson(max_iterations=10**9, time_limit=0.5, record="picks", callback=note)
    times = [when for when, _ in calls]
    assert (np.diff(times[:-1]) >= 0.05).all()
    assert calls[-1][1] == len(lesson)


def test_a_callback_is_told_where_the_lesson_stands(every_step):
    seen = []
    small_lesson(max_iterations=6, callback=lambda p: seen.append((p.step, p.discrepancy, p.values.copy())))
    lesson = small_lesson(max_iterations=6, snapshots=range(7))
    assert [step for step, _, _ in seen] == [1, 2, 3, 4, 5, 6]
    for step, discrepancy, values in seen:
        assert discrepancy == lesson.discrepancy[step]
        np.testing.assert_array_equal(values, lesson.snapshots[step])


def test_a_callback_cannot_move_the_learner(every_step):
    def meddle(progress):
        progress.values[0] = 1e6

    with pytest.raises(nimt.LessonInterrupted, match=r"ValueError at step 1: .*read-only") as caught:
        small_lesson(callback=meddle)
    assert len(caught.value.lesson) == 1
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_lesson_of_no_steps_calls_back_once():
    calls = []
    small_lesson(max_iterations=0, callback=calls.append)
    assert [(p.step, p.max_iterations) for p in calls] == [(0, 0)]


@pytest.mark.parametrize("name", ["callback", "checkpoint", "time_limit"])
def test_who_steps_by_hand_stops_by_hand(name):
    points, target, _ = scattered()
    with pytest.raises(nimt.InvalidInput, match=f"steps.. does not take {name}: use teach"):
        nimt.steps(
            nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), points, target, max_iterations=1, **{name: 1}
        )


def test_the_library_prints_nothing(capfd):
    small_lesson(nimt.RandomTeacher(k=2), callback=lambda progress: None)
    assert capfd.readouterr() == ("", "")


def test_many_steps_at_once_are_those_taken_one_by_one():
    def walk():
        learner = nimt.KernelLearner(nimt.rbf(0.3), learning_rate=0.2)
        x = nimt.Grid(np.linspace(-1, 1, 40))
        return nimt.steps(
            learner, nimt.GreedyTeacher(k=2), x, np.sin, max_iterations=30, tol=None, seed=1, snapshots=[7]
        )

    one_by_one = list(walk())
    many = walk()
    pieces = [many.advance(20)]
    assert len(pieces[0].discrepancy) == 20
    assert list(many.lesson.snapshots) == [7]
    while many.outcome is None:
        pieces.append(many.advance(20))
    np.testing.assert_array_equal(
        np.concatenate([piece.discrepancy for piece in pieces]), [m for _, _, m in one_by_one]
    )
    np.testing.assert_array_equal(
        np.concatenate([piece.indices for piece in pieces]), [s.indices for _, s, _ in one_by_one]
    )
    assert many.outcome is nimt.lesson.Outcome.BUDGET
    assert len(many.advance(5).discrepancy) == 0
    with pytest.raises(nimt.InvalidInput, match="steps must be a whole number >= 1, got 0"):
        walk().advance(0)


def test_one_step_is_not_called_steps():
    lesson = small_lesson(max_iterations=1)
    assert repr(lesson).startswith("<Lesson of 1 step: ")
    assert str(nimt.runs.Comparison.of([lesson])).endswith(", 1 example at 1 point")
    with pytest.raises(nimt.InvalidInput, match=r"and the pool 1 point:"):
        nimt.teach(
            nimt.KernelLearner(nimt.rbf(1.0)), nimt.GreedyTeacher(), [0.0], [1.0, 2.0], max_iterations=1, tol=None
        )


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, True),
        ({"engine": "reference"}, True),
        ({"teacher": nimt.RandomTeacher(k=4)}, True),
        ({"teacher": nimt.GreedyTeacher(k=1.0)}, True),
        ({"record": "picks"}, False),
    ],
)
def test_the_coefficients_of_all_steps_make_the_learner(options, kept):
    lesson = small_lesson(**options)
    if not kept:
        assert lesson.coefficients is None
        return
    assert lesson.coefficients.shape == lesson.labels.shape
    added = np.zeros(len(lesson.pool))
    np.add.at(added, lesson.indices, lesson.coefficients)
    gram = lesson.learner.kernel(lesson.pool.points)
    np.testing.assert_allclose(lesson.initial + gram @ added, lesson.final, atol=1e-12)


def test_large_packs_have_no_coefficients():
    x = nimt.Grid(np.linspace(0, 1, 100))
    teacher = nimt.RandomTeacher(k=64)
    lesson = nimt.teach(nimt.KernelLearner(nimt.rbf(0.1)), teacher, x, np.sin, max_iterations=3, tol=None)
    assert lesson.indices.shape == (3, 64) and lesson.coefficients is None


def test_a_learner_that_learns_in_a_way_of_its_own_has_no_coefficients():
    class SlowPupil(KernelPupil):
        def learn(self, indices, labels):
            self.values = self.values + 0.0
            self.steps += 1

    class SlowLearner(nimt.KernelLearner):
        def make_pupil(self, pool, outputs=()):
            return SlowPupil(self, pool, outputs)

    lesson = nimt.teach(
        SlowLearner(nimt.rbf(1.0)), nimt.RandomTeacher(), [0.0, 1.0], [1.0, 2.0], max_iterations=3, tol=None
    )
    assert len(lesson) == 3 and lesson.coefficients is None
    assert lesson.engine == "reference" and not lesson.final.any()  # compiled code would learn as `KernelPupil` does


@pytest.mark.parametrize("k", [1, 2])
def test_a_lesson_that_went_on_has_the_coefficients_of_every_step_or_none(tmp_path, k):
    teacher = nimt.RandomTeacher(k=k)
    small_lesson(teacher, max_iterations=7, checkpoint=tmp_path / "lesson")
    resumed, whole = nimt.resume(tmp_path / "lesson", max_iterations=15), small_lesson(teacher, max_iterations=15)
    if k == 1:
        np.testing.assert_array_equal(resumed.coefficients, whole.coefficients)
    else:  # files hold none of packs
        assert resumed.coefficients is None

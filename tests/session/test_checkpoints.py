"""A lesson stopped and resumed is, bit by bit, the lesson never stopped."""

import contextlib
import os
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import nimt
from nimt.engines import ENGINES
from nimt.store import records
from nimt.store.checkpoint_file import previous_of
from problems import MIXTURE, assert_same_lesson, scattered, small_lesson

pytestmark = pytest.mark.long

POINTS, TARGET, INITIAL = scattered()


def kernel(**options):
    return nimt.KernelLearner(nimt.rbf(0.4), **{"learning_rate": 0.2} | options)


def halving(step):
    return 0.4 / (1 + step)


LESSONS = {
    "greedy": {},
    "greedy pack": {"teacher": nimt.GreedyTeacher(k=3)},
    "random": {"teacher": nimt.RandomTeacher(), "seed": 5},
    "random pack": {"teacher": nimt.RandomTeacher(k=0.5, replace=False), "seed": 5},
    "weighted": {"teacher": nimt.RandomTeacher(k=2, weights=np.arange(12.0)), "seed": 6},
    "drawn pool": {"teacher": nimt.RandomTeacher(k=2, pool=0.5), "seed": 7},
    "other labels": {"teacher": nimt.RandomTeacher(labels=nimt.teachers.AlternativeLabels(lambda x: x[:, 0], 0.5))},
    "white box": {"teacher": nimt.GreedyTeacher(score="gradient", loss="square", kernel=nimt.rbf(0.4))},
    "initial values": {"learner": kernel(initial=INITIAL)},
    "initial callable": {"learner": kernel(initial=lambda x: x[:, 0])},
    "auto rate": {"learner": kernel(learning_rate="auto")},
    "linear": {"learner": nimt.LinearLearner([0.1, 0.2, 0.3], loss="huber"), "teacher": nimt.RandomTeacher(k=2)},
    "taught before": {"learner": kernel().partial_fit(POINTS[:3], TARGET[:3])},
    "rms": {"measure": "rms"},
    "rkhs": {"measure": "rkhs", "learner": kernel()},
    "patience": {"teacher": nimt.RandomTeacher(), "patience": 9, "max_iterations": 200, "tol": None},
    "tolerance": {"tol": 0.1, "max_iterations": 200},
    "stationary": {"stop_when_stationary": 0.5, "max_iterations": 200, "tol": None},
    "picks only": {"record": "picks", "teacher": nimt.RandomTeacher(k=2)},
    "snapshots": {"snapshots": range(0, 26, 4)},
}


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("options", LESSONS.values(), ids=LESSONS)
@pytest.mark.sampled(3)
def test_resuming_changes_nothing(options, tmp_path):
    whole = small_lesson(**options)
    for at in (1, 2, 7, len(whole)):
        path = tmp_path / f"checkpoint {at}"
        small_lesson(**options, callback=lambda progress, at=at: progress.step >= at, checkpoint=path)
        resumed = nimt.resume(path)
        assert_same_lesson(resumed, whole)
        np.testing.assert_array_equal(resumed.learner.predict(POINTS), whole.learner.predict(POINTS))


@pytest.mark.usefixtures("every_step")
def test_a_lesson_may_be_stopped_at_every_step(tmp_path):
    path = tmp_path / "checkpoint"
    teacher = nimt.RandomTeacher(k=2, pool=0.7, labels=nimt.teachers.AlternativeLabels(INITIAL, 0.5))
    whole = small_lesson(teacher, snapshots=[3, 10])
    lesson = small_lesson(teacher, snapshots=[3, 10], callback=lambda progress: True, checkpoint=path)
    stops = 1
    while lesson.outcome is nimt.lesson.Outcome.STOPPED:
        assert len(lesson) == stops
        lesson = nimt.resume(path, callback=lambda progress: True)
        stops += 1
    assert stops == 25
    assert_same_lesson(lesson, whole)


TEACHERS = {
    "greedy": nimt.GreedyTeacher(),
    "random": nimt.RandomTeacher(k=5, pool=0.5, labels=nimt.teachers.AlternativeLabels(0.1, 0.3)),
}
PAIRS = [
    pytest.param(teacher, engine, id=f"{name}-{engine}")
    for name, teacher in TEACHERS.items()
    for engine in ENGINES
    if engine not in ("auto", "linear")
    and (name, engine) != ("random", "cells")  # cells are for the largest error, one at a time
]


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize(("teacher", "engine"), PAIRS)
def test_every_engine_goes_on_as_if_never_stopped(engine, teacher, tmp_path):
    options = {"max_iterations": 40, "tol": None, "snapshots": [0, 11, 40], "engine": engine}
    whole = MIXTURE.teach(teacher, **options)
    assert whole.engine == engine
    for at in (1, 11, 33):
        path = tmp_path / f"checkpoint {at}"
        MIXTURE.teach(teacher, **options, callback=lambda progress, at=at: progress.step >= at, checkpoint=path)
        resumed = nimt.resume(path)
        assert resumed.engine == engine
        assert_same_lesson(resumed, whole)


def test_a_time_limit_can_be_given_again_and_again(tmp_path):
    path = tmp_path / "checkpoint"
    options = {"teacher": nimt.RandomTeacher(), "max_iterations": 4_000, "tol": None, "engine": "reference"}
    whole = small_lesson(**options)
    lesson = small_lesson(**options, time_limit=0.02, checkpoint=path)
    assert lesson.outcome is nimt.lesson.Outcome.TIME
    while lesson.outcome is nimt.lesson.Outcome.TIME:
        before = lesson
        lesson = nimt.resume(path, time_limit=0.1)
        assert len(lesson) > len(before)
        assert lesson.elapsed > before.elapsed
    assert_same_lesson(lesson, whole)


def stopped_at(path, step, **options):
    return small_lesson(**options, callback=lambda progress: progress.step >= step, checkpoint=path)


TARGETS = {
    "a kernel learner": lambda: kernel().partial_fit(POINTS[:5], TARGET[:5]),
    "one with a callable start": lambda: kernel(initial=START).partial_fit(POINTS[:5], TARGET[:5]),
    "an estimator": lambda: LinearRegression().fit(POINTS, TARGET),
    "a callable": lambda: START,
}


def START(x):
    return x[:, 0]


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("measure", ["paper", "rkhs"])
@pytest.mark.parametrize("make", TARGETS.values(), ids=TARGETS)
def test_any_kind_of_target_can_be_gone_on_with(make, measure, tmp_path):
    path = tmp_path / "checkpoint"
    target = make()
    learner = kernel(initial=START) if getattr(target, "initial", 0.0) is START else kernel()

    def lesson(**options):
        return nimt.teach(
            learner, nimt.GreedyTeacher(), POINTS, target, max_iterations=15, measure=measure, **{"tol": None} | options
        )

    lesson(callback=lambda progress: progress.step == 6, checkpoint=path)
    assert_same_lesson(nimt.resume(path), lesson())
    lesson(callback=lambda progress: progress.step == 6, checkpoint=path, on_existing="replace")
    assert_same_lesson(nimt.resume(path, learner=learner), lesson())


@pytest.mark.usefixtures("every_step")
def test_parameters_can_be_gone_on_with(tmp_path):
    path = tmp_path / "checkpoint"
    options = {"max_iterations": 15, "tol": None, "measure": "parameters"}
    teach = [nimt.LinearLearner([0.0, 0.0, 0.0]), nimt.RandomTeacher(), POINTS, nimt.LinearLearner([1.0, 2.0, 3.0])]
    nimt.teach(*teach, **options, callback=lambda progress: progress.step == 6, checkpoint=path)
    assert_same_lesson(nimt.resume(path), nimt.teach(*teach, **options))


@pytest.mark.usefixtures("every_step")
def test_what_is_not_ours_is_handed_over_again(tmp_path):
    path = tmp_path / "checkpoint"
    learner = kernel(learning_rate=halving)
    stopped_at(path, 4, learner=learner)
    with pytest.raises(nimt.InvalidInput, match=r"halving is not nimt's own.*nimt.resume\('.*', learner=\.\.\.\)"):
        nimt.resume(path)
    assert_same_lesson(nimt.resume(path, learner=learner), small_lesson(learner=learner))


def test_a_finished_lesson_stays_finished(tmp_path):
    path = tmp_path / "checkpoint"
    whole = small_lesson(checkpoint=path)
    again = nimt.resume(path)
    assert_same_lesson(again, whole)
    assert again.elapsed == whole.elapsed


def damage(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))


@pytest.mark.usefixtures("every_step")
def test_a_damaged_checkpoint_falls_back_to_the_one_before(tmp_path):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)
    nimt.resume(path, callback=lambda progress: progress.step >= 9)
    assert previous_of(path).exists()
    damage(path)
    with pytest.warns(nimt.errors.CheckpointWarning, match=r"damaged.*continuing from the checkpoint before") as warned:
        lesson = nimt.resume(path)
    assert warned[0].filename == __file__
    assert_same_lesson(lesson, small_lesson())


@pytest.mark.usefixtures("every_step")
def test_a_checkpoint_that_was_being_replaced_falls_back_too(tmp_path):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)
    os.replace(path, previous_of(path))
    assert_same_lesson(nimt.resume(path), small_lesson())


@pytest.mark.usefixtures("every_step")
def test_a_damaged_checkpoint_with_none_before_it_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)
    assert not previous_of(path).exists()
    damage(path)
    with pytest.raises(nimt.errors.CorruptLesson, match=r"checkpoint.* damaged"):
        nimt.resume(path)


def test_a_saved_lesson_goes_on_from_its_file(tmp_path):
    path = tmp_path / "lesson"
    half = small_lesson(max_iterations=6)
    half.save(path)
    nimt.Lesson.load(path).save(path)
    assert_same_lesson(nimt.resume(path, max_iterations=12), small_lesson(max_iterations=12))


def test_a_lesson_whose_learner_was_taught_since_keeps_that_learner_and_no_state(tmp_path):
    lesson = small_lesson()
    lesson.learner.partial_fit(lesson.pool.points[:1], [5.0])
    lesson.save(tmp_path / "lesson")
    kept = nimt.Lesson.load(tmp_path / "lesson")
    np.testing.assert_array_equal(kept.learner.predict(lesson.pool), lesson.learner.predict(lesson.pool))
    with pytest.raises(nimt.InvalidInput, match="a lesson without the state to go on from"):
        nimt.resume(tmp_path / "lesson")


def test_a_checkpoint_is_a_lesson_file_with_a_state(tmp_path):
    lesson = small_lesson(checkpoint=tmp_path / "checkpoint")
    kept = nimt.Lesson.load(tmp_path / "checkpoint")
    for name in ("indices", "labels", "discrepancy", "final", "picks", "initial"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(lesson, name), err_msg=name)
    np.testing.assert_array_equal(kept.learner.predict(lesson.pool), lesson.learner.predict(lesson.pool))


def test_a_checkpoint_that_is_not_there(tmp_path):
    with pytest.raises(nimt.errors.MissingFile, match=r"there is no checkpoint .*nowhere"):
        nimt.resume(tmp_path / "nowhere")


@pytest.mark.parametrize("place", ["", "missing/checkpoint"])
def test_a_checkpoint_that_could_never_be_written_is_refused_at_once(tmp_path, place):
    with pytest.raises(nimt.InvalidInput, match=r"is a folder|does not exist"):
        small_lesson(checkpoint=tmp_path / place)


@pytest.mark.usefixtures("every_step")
def test_a_full_disk_warns_and_the_lesson_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    with pytest.warns(
        nimt.errors.CheckpointWarning, match=r"No space left on device.*the checkpoint before it is complete"
    ):
        lesson = nimt.resume(path)
    monkeypatch.undo()
    assert_same_lesson(lesson, small_lesson())
    assert_same_lesson(nimt.resume(path), small_lesson())


def test_checkpoints_are_written_on_the_way_and_take_their_share_only(tmp_path, monkeypatch):
    written = []
    from nimt.session.session import Session

    write = Session.write_checkpoint

    def noting(run):
        written.append(run.engine.step)
        write(run)

    monkeypatch.setattr(Session, "write_checkpoint", noting)
    monkeypatch.setattr("nimt.store.checkpoint_file.EVERY", 0.1)
    small_lesson(max_iterations=10**9, time_limit=0.6, record="picks", checkpoint=tmp_path / "checkpoint")
    assert 2 <= len(written) <= 7


def test_a_new_lesson_never_goes_on_with_the_one_that_lay_there_before(tmp_path):
    path = tmp_path / "checkpoint"
    small_lesson(checkpoint=path, max_iterations=20)
    nimt.resume(path)  # now there are two checkpoints of the first lesson
    stopped_at(path, 3, teacher=nimt.RandomTeacher(), on_existing="replace")
    path.write_bytes(b"damaged")
    with pytest.raises(nimt.errors.CorruptLesson):
        nimt.resume(path)


class Cut(BaseException):
    """The power goes."""


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("moves", range(4))
def test_a_damaged_checkpoint_and_a_cut_between_two_moves(tmp_path, monkeypatch, moves):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)
    nimt.resume(path, callback=lambda progress: progress.step >= 9)
    damage(path)
    replace, done = os.replace, []

    def cut(source, target):
        if len(done) == moves:
            raise Cut
        done.append(target)
        replace(source, target)

    monkeypatch.setattr("os.replace", cut)
    with contextlib.suppress(Cut), pytest.warns(nimt.errors.CheckpointWarning):
        nimt.resume(path, callback=lambda progress: progress.step >= 15)
    monkeypatch.setattr("os.replace", replace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the damaged one may still lie there
        assert_same_lesson(nimt.resume(path), small_lesson())


@pytest.mark.usefixtures("every_step")
def test_a_damaged_checkpoint_never_takes_the_place_of_a_whole_one(tmp_path):
    path = tmp_path / "checkpoint"
    stopped_at(path, 4)
    nimt.resume(path, callback=lambda progress: progress.step >= 9)
    whole = previous_of(path).read_bytes()
    damage(path)
    with pytest.warns(nimt.errors.CheckpointWarning, match="continuing from the checkpoint before"):
        nimt.resume(path, callback=lambda progress: progress.step >= 12)
    assert previous_of(path).read_bytes() == whole
    damage(path)
    with pytest.warns(nimt.errors.CheckpointWarning, match="continuing from the checkpoint before"):
        assert_same_lesson(nimt.resume(path), small_lesson())


def test_many_snapshots_are_not_searched_at_every_step(monkeypatch):
    """Every look at the list of snapshots is a bisection: a list that may not be walked through proves it."""
    from nimt.session.session import Session

    class Unwalkable(list):
        def __iter__(self):
            raise AssertionError("walked through")

        def __contains__(self, step):
            raise AssertionError("walked through")

    make = Session.__init__

    def made(run, *arguments, **options):
        make(run, *arguments, **options)
        run._asked = Unwalkable(run._asked)

    whole = small_lesson(snapshots=range(26))
    monkeypatch.setattr(Session, "__init__", made)
    lesson = small_lesson(snapshots=range(26))
    assert_same_lesson(lesson, whole)
    assert sorted(lesson.snapshots) == [*range(26)]


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0, "1", None, 10**400], ids=str)
@pytest.mark.parametrize("name", ["elapsed", "compiling"])
def test_seconds_that_were_altered_are_refused(tmp_path, name, seconds):
    path = tmp_path / "lesson.ckpt"
    learner = nimt.KernelLearner(nimt.rbf(0.5))
    nimt.teach(learner, nimt.GreedyTeacher(), np.arange(9.0), np.sin, max_iterations=5, tol=None, checkpoint=path)
    content = records.read(path, "lesson")
    records.write(path, "lesson", content | {name: seconds})
    with pytest.raises(nimt.errors.CorruptLesson, match="seconds"):
        nimt.resume(path, max_iterations=9)
